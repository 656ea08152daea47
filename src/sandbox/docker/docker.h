// Containers by an engine: Docker, or Podman, over its Unix socket. No client program is needed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/docker/engine.h"
#include "sandbox/docker/kept.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox::docker {

struct Options {
  std::string state_directory;       // 0700, ours
  std::vector<std::string> sockets;  // tried in order
};

class DockerSandbox : public Sandbox {
 public:
  /// Removes what processes that are gone left behind.
  static Result<std::unique_ptr<DockerSandbox>> open(Options options);

  const Engine& engine() const { return engine_; }
  /// Those that are kept between runs, of this state directory.
  Result<std::vector<Kept>> kept() const;
  Result<void> end(const Kept& kept) const;
  RunReport run(Clearance clearance, Io& io, std::stop_token stop) override;

 private:
  class Run;
  DockerSandbox(Options options, Engine engine) : options_(std::move(options)), engine_(std::move(engine)) {}
  void sweep() const;
  Isolation isolation() const;

  Options options_;
  Engine engine_;
};

}  // namespace cordon::sandbox::docker
