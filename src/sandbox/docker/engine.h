// The Engine API that Docker has and Podman speaks too: the few calls that a sandbox needs. Answers are not trusted to
// be well-formed; what is missing in them is an error.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/docker/http.h"

namespace cordon::sandbox::docker {

/// The name of the image that `cordon image build` makes.
constexpr const char* own_image = "cordon-sandbox:latest";

struct ContainerState {
  std::string id;
  std::map<std::string, std::string> labels;
  bool running = false;
  int pid = 0;  // as the host counts
  bool out_of_memory = false;
  // As the engine took them; 0: not at all, as it does where its control groups cannot.
  std::uint64_t memory_bytes = 0;
  std::uint64_t processes = 0;
};

struct ListedContainer {
  std::string id;
  std::map<std::string, std::string> labels;
  bool running = false;
};

class Engine {
 public:
  /// The first of the sockets at which an engine answers.
  static Result<Engine> find(const std::vector<std::string>& sockets);

  const std::string& socket() const { return http_.socket(); }
  const std::string& version() const { return version_; }
  bool is_podman() const { return podman_; }

  /// The id that the name leads to now; an image that is not there is an error that says how to get it.
  Result<std::string> image_id(const std::string& name) const;
  /// `produce` writes a tar.
  Result<std::string> import_image(const std::string& name, const std::vector<std::string>& changes,
                                   const std::function<Result<void>(const Sink&)>& produce) const;

  Result<std::string> create(const std::string& name, const Json& body) const;
  enum class WithInput { no, yes };
  Result<Hijacked> attach(const std::string& id, WithInput input) const;
  Result<void> start(const std::string& id) const;
  Result<void> kill(const std::string& id) const;
  /// One that is gone is no error.
  Result<void> remove(const std::string& id) const;
  Result<void> wait_until_removed(const std::string& id) const;
  /// Nothing: there is no such container.
  Result<std::optional<ContainerState>> inspect(const std::string& id) const;
  Result<std::vector<ListedContainer>> list(const std::string& label) const;

 private:
  explicit Engine(HttpClient http) : http_(std::move(http)) {}
  Result<Answer> ask(const char* method, const std::string& target, const std::string& body = {}) const;
  std::string path(const std::string& target) const { return "/v" + version_ + target; }

  HttpClient http_;
  std::string version_;
  bool podman_ = false;
};

/// Where engines listen: what the environment names, then the usual places.
std::vector<std::string> usual_sockets(const std::vector<std::string>& named);

}  // namespace cordon::sandbox::docker
