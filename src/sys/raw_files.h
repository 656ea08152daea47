// Raw calls on files, mounts and processes, for children that share memory with their parent. See raw.h.
#pragma once

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "sys/raw.h"

namespace cordon::sys::raw {

#ifndef OPEN_TREE_CLONE
constexpr unsigned open_tree_clone = 1;
#else
constexpr unsigned open_tree_clone = OPEN_TREE_CLONE;
#endif
constexpr unsigned at_recursive = 0x8000;
constexpr unsigned at_empty_path = 0x1000;
constexpr unsigned at_symlink_nofollow = 0x100;
constexpr unsigned move_mount_from_empty_path = 4;
constexpr unsigned move_mount_to_empty_path = 0x40;

struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  std::uint64_t propagation = 0;
  std::uint64_t user_namespace = 0;
};
constexpr std::uint64_t mount_read_only = 0x1;
constexpr std::uint64_t mount_no_suid = 0x2;
constexpr std::uint64_t mount_no_dev = 0x4;
constexpr std::uint64_t mount_no_exec = 0x8;
constexpr std::uint64_t mount_id_mapped = 0x100000;
constexpr std::uint64_t mount_no_symlink_follow = 0x200000;

inline long open(int directory, const char* path, int flags, int mode = 0) {
  return call(SYS_openat, directory, address(path), flags | O_CLOEXEC, mode);
}
inline long open_beneath(int directory, const char* path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve;
  return call(SYS_openat2, directory, address(path), address(&how), sizeof how);
}
inline long close(long fd) { return call(SYS_close, fd); }
inline long mkdir(int directory, const char* path, int mode) {
  return call(SYS_mkdirat, directory, address(path), mode);
}
inline long symlink(const char* target, int directory, const char* path) {
  return call(SYS_symlinkat, address(target), directory, address(path));
}
inline long write(long fd, const char* bytes, long count) { return call(SYS_write, fd, address(bytes), count); }
inline long stat_at(int directory, const char* path, struct stat& status, int flags) {
  return call(SYS_newfstatat, directory, address(path), address(&status), flags);
}
inline long open_tree(int directory, const char* path, unsigned flags) {
  return call(SYS_open_tree, directory, address(path), flags | static_cast<unsigned>(O_CLOEXEC));
}
inline long move_mount(int tree, int directory, const char* target) {
  return call(SYS_move_mount, tree, address(""), directory, address(target),
              move_mount_from_empty_path | (*target ? 0 : move_mount_to_empty_path));
}
inline long mount_setattr(int directory, const char* path, unsigned flags, const MountAttributes& attributes) {
  return call(SYS_mount_setattr, directory, address(path), flags, address(&attributes), sizeof attributes);
}
inline long mount(const char* source, const char* target, const char* type, unsigned long flags, const char* data) {
  return call(SYS_mount, address(source), address(target), address(type), static_cast<long>(flags), address(data));
}
inline long umount(const char* target, int flags) { return call(SYS_umount2, address(target), flags); }
inline long prctl(int option, long a = 0, long b = 0, long c = 0, long d = 0) {
  return call(SYS_prctl, option, a, b, c, d);
}

inline long length(const char* text) {
  long count = 0;
  while (text[count]) ++count;
  return count;
}

}  // namespace cordon::sys::raw
