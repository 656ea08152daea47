#include "sandbox/native/proc.h"

#include <sys/mount.h>

#include "sandbox/native/child.h"
#include "sandbox/native/mounts.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

// Addresses, keys, timers, boot parameters and hardware of the host. Those that need root are here as well: started
// without a user namespace (L3) that is the only lock on them.
constexpr const char* covered[] = {
    "/proc/kcore",  "/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/cmdline", "/proc/config.gz", "/proc/kallsyms",
    "/proc/iomem", "/proc/ioports", "/proc/modules", "/proc/sysrq-trigger", "/proc/sys/kernel/random/boot_id",
};
constexpr const char* covered_directories[] = {"/proc/acpi", "/proc/scsi", "/proc/bus", "/proc/driver"};

bool cover(Child& child, const char* path, const char* with) {
  struct stat status {};
  if (raw::stat_at(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW) < 0) return true;
  return bind(child, AT_FDCWD, with, path, guarded_read_only | raw::mount_no_exec);
}

}  // namespace

bool mount_proc(Child& child) {
  unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (!child.plan.weakened.masks()) flags |= MS_RDONLY;
  if (child.plan.ladder.fresh_proc) {
    if (!child.ok(raw::mount("proc", "/proc", "proc", flags, nullptr), "mount proc", "/proc")) return false;
  } else if (!bind(child, child.host, "proc", "/proc", guarded_read_only | raw::mount_no_exec)) {
    return false;
  }
  if (child.plan.weakened.masks()) return true;
  for (const char* path : covered) {
    if (!cover(child, path, "/.empty")) return false;
  }
  for (const char* path : covered_directories) {
    if (!cover(child, path, "/.lower")) return false;
  }
  return true;
}

}  // namespace cordon::sandbox::native
