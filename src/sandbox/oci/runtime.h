// Starting an OCI runtime: in a mount namespace of its own, where what the container is given has been put in place by
// descriptor. By a user, it is a user namespace of its own too, in which the runtime may do its work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/native/launcher.h"
#include "sandbox/oci/bundle.h"
#include "sys/fd.h"

namespace cordon::sandbox::oci {

/// Where a runtime's program is; nothing where it is not installed.
std::optional<std::string> find_program(Runtime runtime);

/// Something to be put in place before the runtime starts.
struct Placement {
  std::string source;      // opened without following any link
  std::string point;       // of the stage
  int prepared_tree = -1;  // an id-mapped mount (started by root)
};

struct RuntimeStart {
  std::vector<std::string> argv;
  std::string directory;  // the bundle
  std::vector<Placement> placements;
  native::InputKind input = native::InputKind::null;
};

/// The runtime's process. It stays for as long as its container lives.
class RuntimeProcess {
 public:
  /// Forks; what it needs is put in place and the runtime executed after `go`.
  static Result<RuntimeProcess> start(const RuntimeStart& start, native::Launched& launched);

  int pid() const { return pid_; }
  const sys::Fd& pidfd() const { return pidfd_; }
  Result<void> go();
  /// False when it takes longer.
  bool wait(std::chrono::milliseconds patience);
  void kill() const;

 private:
  RuntimeProcess(int pid, sys::Fd pidfd, sys::Fd go, sys::Fd failure)
      : pid_(pid), pidfd_(std::move(pidfd)), go_(std::move(go)), failure_(std::move(failure)) {}
  int pid_;
  sys::Fd pidfd_;
  sys::Fd go_;
  sys::Fd failure_;
};

}  // namespace cordon::sandbox::oci
