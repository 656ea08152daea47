// The second lock: the same paths that the mounts give, said once more in Landlock, as far as the running kernel knows
// how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/landlock.h"

namespace cordon::sandbox::native {

/// What may be done beneath a path. None of them makes device nodes.
enum class FileAccess : std::uint8_t {
  read,
  read_execute,
  write,          // read, write, create, rename and remove
  write_execute,  // a workspace: what is built there is run there
  device,         // read, write and ioctl of device files that are there: /dev
};

std::uint64_t landlock_rights(FileAccess access);

struct PathRule {
  int path;  // a descriptor, O_PATH is enough; needed only while the ruleset is built
  FileAccess access;
};

/// `unrestricted` where the network namespace is empty and loopback may be used; `none` where there is no such
/// namespace.
enum class TcpAccess { unrestricted, none };

struct LandlockRequest {
  std::vector<PathRule> paths;
  TcpAccess tcp;
};

/// Everything is denied but the paths given; signals and abstract Unix sockets end at the sandbox's border.
struct LandlockLock {
  std::optional<sys::LandlockRuleset> ruleset;  // none without Landlock: the caller decides whether to go on
  std::vector<std::string> missing;             // what this kernel cannot restrict, each a phrase for a person
};

/// As much as `abi` offers: pass sys::landlock_abi(), or less to see what an older kernel would give.
Result<LandlockLock> build_landlock(const LandlockRequest& request, int abi);

}  // namespace cordon::sandbox::native
