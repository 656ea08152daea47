#include "sandbox/native/level.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sys/landlock.h"

namespace cordon::sandbox::native {

Ladder highest_ladder(const Weakened& weakened) {
  Ladder ladder;
  ladder.landlock_abi = weakened.landlock() ? 0 : sys::landlock_abi();
  if (weakened.landlock_scopes()) ladder.landlock_abi = std::min(ladder.landlock_abi, 5);
  ladder.fresh_proc = !weakened.proc();
  ladder.namespaces = !weakened.namespaces();
  ladder.user_namespace = ladder.namespaces && !weakened.user_namespace();
  return ladder;
}

bool step_down(Ladder& ladder, const LaunchTrouble& trouble) {
  const bool refused = trouble.error == EPERM || trouble.error == EACCES || trouble.error == ENOSYS ||
                       trouble.error == EINVAL || trouble.error == ENOSPC || trouble.error == EUSERS;
  if (!refused || !ladder.namespaces) return false;
  if (trouble.step == "mount proc" && ladder.fresh_proc) {
    ladder.fresh_proc = false;
    return true;
  }
  // What a restricted user namespace refuses: the namespace itself, its maps, or the first mount in it.
  const bool namespace_trouble = trouble.step == "clone3" || trouble.step.find("id map") != std::string::npos ||
                                 trouble.step == "open" || trouble.step == "make mounts private" ||
                                 trouble.step == "mount tmpfs" || trouble.step == "pivot_root" ||
                                 trouble.step == "sethostname";
  if (!namespace_trouble) return false;
  if (ladder.user_namespace && ::geteuid() == 0) {
    ladder.user_namespace = false;
    return true;
  }
  // Without Landlock nothing would be left that keeps files apart.
  if (ladder.landlock_abi <= 0) return false;
  ladder.user_namespace = false;
  ladder.namespaces = false;
  return true;
}

Isolation describe_isolation(const Ladder& ladder, const Cgroups* cgroups, const Weakened& weakened) {
  Isolation isolation;
  Level level = Level::L0;
  auto lacks = [&](Level at_best, std::string phrase) {
    if (at_best > level) level = at_best;
    isolation.missing.push_back(std::move(phrase));
  };
  if (!cgroups) {
    lacks(Level::L1, "control groups: memory and processes are held by a watchdog and RLIMIT_NPROC only");
  } else {
    for (std::string& phrase : cgroups->missing()) lacks(Level::L1, std::move(phrase));
  }
  if (ladder.landlock_abi <= 0) lacks(Level::L1, "Landlock: files are held by mounts alone");
  if (ladder.namespaces && !ladder.fresh_proc)
    lacks(Level::L2, "a /proc of its own: processes of the host can be seen");
  if (ladder.namespaces && !ladder.user_namespace) lacks(Level::L3, "user namespace");
  if (!ladder.namespaces) {
    lacks(Level::L4, "namespaces: files are held by Landlock alone, sockets by seccomp alone");
    constexpr int signal_scope_abi = 6;
    if (ladder.landlock_abi < signal_scope_abi) {
      lacks(
          Level::L4,
          "Landlock scope for signals (Linux 6.12): a program can end its supervisor and other processes of its user");
    }
  }
  if (weakened.any()) isolation.missing.emplace_back("layers that a test switched off");
  isolation.level = name_of(level);
  return isolation;
}

bool allows(Level required, const Isolation& isolation) {
  auto level = level_named(isolation.level);
  return level && *level <= required;
}

}  // namespace cordon::sandbox::native
