// C. The mount table: each attempt runs in the probe's own process and takes back what it made.
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "probe.h"

namespace cordon::attacks {
namespace {

constexpr const char* point = "mount-here";

Answer mount_here(const char* source, const char* type, unsigned long flags, const char* options) {
  mkdir(point, 0700);
  const Answer result = answer(mount(source, point, type, flags, options));
  if (result.open) umount2(point, MNT_DETACH);
  return result;
}

/// The escape of a bubblewrap that root started. The file is left behind on purpose: the host side looks for it.
Answer remount_and_write(const char* mount_point, const char* evidence) {
  if (mount(nullptr, mount_point, nullptr, MS_REMOUNT | MS_BIND, nullptr) != 0) return answer(-1);
  const Answer result = try_open(evidence, O_CREAT | O_WRONLY);
  return result.open ? open_if(true, "wrote the host") : open_if(true, "remounted");
}

Answer overlay_over_usr(const Decoys&) {
  mkdir("upper", 0700);
  mkdir("work", 0700);
  return mount_here("overlay", "overlay", 0, "lowerdir=/usr,upperdir=upper,workdir=work,userxattr");
}

Answer configure(const Decoys&) {
  const long context = syscall(SYS_fsopen, "tmpfs", 0U);
  // Without a context fd the answer for a bad fd (EBADF, EINVAL) shows that the call itself is let through.
  return open_unless_denied(syscall(SYS_fsconfig, context, 5U, "cordon", "1", 0));
}

Answer clone_tree(const Decoys&) {
  return answer(syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
}

Answer set_attributes(const Decoys&) {
  mount_attr attributes{};
  attributes.attr_clr = MOUNT_ATTR_RDONLY;
  return answer(syscall(SYS_mount_setattr, AT_FDCWD, "/", 0U, &attributes, sizeof attributes));
}

Answer pivot(const Decoys&) {
  mkdir(point, 0700);
  mount("tmpfs", point, "tmpfs", 0, nullptr);
  const Answer result = open_unless_denied(syscall(SYS_pivot_root, point, point));
  umount2(point, MNT_DETACH);
  return result;
}

constexpr int listmount_number = 458;
constexpr int open_tree_attr_number = 467;

Answer list_mounts(const Decoys&) {
  struct {
    unsigned size, spare;
    unsigned long long mount, parameter;
  } request{24, 0, 0xffffffffffffffffULL, 0};
  unsigned long long ids[64];
  return answer(syscall(listmount_number, &request, ids, 64, 0));
}

constexpr Probe probes[] = {
    {"mount_tmpfs", "cannot mount a tmpfs", [](const Decoys&) { return mount_here("tmpfs", "tmpfs", 0, nullptr); }},
    {"mount_bind", "cannot bind a directory",
     [](const Decoys&) { return mount_here("/usr", nullptr, MS_BIND, nullptr); }},
    {"mount_proc", "cannot mount a second /proc", [](const Decoys&) { return mount_here("proc", "proc", 0, nullptr); }},
    {"mount_sysfs", "cannot mount /sys", [](const Decoys&) { return mount_here("sysfs", "sysfs", 0, nullptr); }},
    {"mount_devpts", "cannot mount a devpts",
     [](const Decoys&) { return mount_here("devpts", "devpts", 0, "newinstance"); }},
    {"mount_mqueue", "cannot mount an mqueue",
     [](const Decoys&) { return mount_here("mqueue", "mqueue", 0, nullptr); }},
    {"mount_overlay", "cannot mount an overlay over /usr", overlay_over_usr},
    {"remount_root", "cannot remount / read-write",
     [](const Decoys&) { return remount_and_write("/", "/cordon-escape"); }},
    {"remount_usr", "cannot remount /usr read-write",
     [](const Decoys&) { return remount_and_write("/usr", "/usr/cordon-escape"); }},
    {"change_propagation", "cannot make / shared",
     [](const Decoys&) { return answer(mount(nullptr, "/", nullptr, MS_SHARED, nullptr)); }},
    {"unmount_proc", "cannot unmount /proc", [](const Decoys&) { return answer(umount2("/proc", MNT_DETACH)); }},
    {"unmount_root", "cannot detach / to reveal what lies under it",
     [](const Decoys&) { return answer(umount2("/", MNT_DETACH)); }},
    {"unmount_protected", "cannot unmount a protected path",
     [](const Decoys&) { return open_unless_denied(umount2(".git", MNT_DETACH)); }},
    {"pivot_root", "cannot pivot_root again", pivot},
    {"fsopen", "cannot open a file system context",
     [](const Decoys&) { return answer(syscall(SYS_fsopen, "tmpfs", 0U)); }},
    {"fsconfig", "cannot configure a file system context (CVE-2022-0185)", configure},
    {"fspick", "cannot pick a mount to reconfigure",
     [](const Decoys&) { return answer(syscall(SYS_fspick, AT_FDCWD, "/", 0U)); }},
    {"fsmount", "cannot make a mount from a context",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_fsmount, -1, 0U, 0U)); }},
    {"open_tree", "cannot clone the mount tree", clone_tree},
    {"open_tree_attr", "cannot clone the mount tree by the newer call",
     [](const Decoys&) {
       mount_attr attributes{};
       attributes.attr_clr = MOUNT_ATTR_RDONLY;
       return answer(syscall(open_tree_attr_number, AT_FDCWD, "/", OPEN_TREE_CLONE | AT_RECURSIVE, &attributes,
                             sizeof attributes));
     }},
    {"move_mount", "cannot move a mount",
     [](const Decoys&) {
       return open_unless_denied(syscall(SYS_move_mount, AT_FDCWD, "/proc", AT_FDCWD, "/proc", 0U));
     }},
    {"mount_setattr", "cannot clear read-only from a mount", set_attributes},
    {"list_mounts", "cannot list mounts by number", list_mounts},
};

}  // namespace

Probes mount_probes() { return probes; }

}  // namespace cordon::attacks
