#include "sandbox/native/proc.h"

#include <sys/mount.h>

#include <cerrno>

#include "sandbox/native/child.h"
#include "sandbox/native/mounts.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

// Readable by everybody and telling about the host; the last two tell addresses where it lets everybody use perf.
constexpr const char* covered[] = {
    "/proc/keys",     "/proc/cmdline", "/proc/config.gz", "/proc/sys/kernel/random/boot_id",
    "/proc/kallsyms", "/proc/modules",
};
// Readable by root only, so out of reach inside a user namespace; without one (L3) this is a second lock.
constexpr const char* covered_for_root[] = {"/proc/kcore",   "/proc/timer_list",    "/proc/iomem",
                                            "/proc/ioports", "/proc/sysrq-trigger", "/proc/kmsg"};
constexpr const char* covered_directories[] = {"/proc/acpi", "/proc/scsi", "/proc/bus", "/proc/driver"};

/// What this kernel does not have needs no cover.
bool cover(Child& child, const char* path, const char* with) {
  long tree = raw::open_tree(AT_FDCWD, with, raw::open_tree_clone);
  if (!child.ok(tree, "open_tree", with)) return false;
  const raw::MountAttributes closed{.set = guarded_read_only | raw::mount_no_exec};
  long changed = raw::mount_setattr(static_cast<int>(tree), "", raw::at_empty_path, closed);
  if (!child.ok(changed, "mount_setattr", path)) return false;
  long moved = raw::move_mount(static_cast<int>(tree), AT_FDCWD, path);
  raw::close(tree);
  return moved == -ENOENT || child.ok(moved, "move_mount", path);
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
  if (child.plan.ladder.user_namespace) return true;
  for (const char* path : covered_for_root) {
    if (!cover(child, path, "/.empty")) return false;
  }
  for (const char* path : covered_directories) {
    if (!cover(child, path, "/.lower")) return false;
  }
  return true;
}

}  // namespace cordon::sandbox::native
