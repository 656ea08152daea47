// Containers by an OCI runtime, without an engine: runc, crun, or gVisor's runsc. The root is made of the same files of
// the host as in the native sandbox; no image is needed.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/root_tree.h"
#include "sandbox/oci/bundle.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox::oci {

class OciSandbox : public Sandbox {
 public:
  /// `state_directory`: 0700, ours. A runtime that is not installed is an error that says which package has it.
  static Result<std::unique_ptr<OciSandbox>> open(Runtime runtime, std::string state_directory);

  RunReport run(Clearance clearance, Io& io, std::stop_token stop) override;

 private:
  class Run;
  OciSandbox(Runtime runtime, std::string program, std::string state_directory);
  std::vector<std::string> words(const std::string& verb) const;
  void remove(const std::string& id) const;
  Isolation isolation() const;

  Runtime runtime_;
  std::string program_;
  std::string state_directory_;
  native::RootTree root_tree_;
  std::unique_ptr<native::Cgroups> cgroups_;  // by a user: the runtime makes none
};

}  // namespace cordon::sandbox::oci
