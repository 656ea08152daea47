#include "sandbox/native/mounts.h"

#include <sys/mount.h>

#include "sandbox/native/child.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

std::uint64_t in_force(const Child& child, std::uint64_t attributes) {
  if (child.plan.weakened.read_only()) attributes &= ~raw::mount_read_only;
  if (child.plan.weakened.mount_flags()) attributes &= ~guarded;
  return attributes;
}

}  // namespace

bool attach(Child& child, int tree, const char* target, std::uint64_t attributes) {
  const raw::MountAttributes change{.set = in_force(child, attributes)};
  if (change.set != 0) {
    long result = raw::mount_setattr(tree, "", raw::at_empty_path | raw::at_recursive, change);
    if (!child.ok(result, "mount_setattr", target)) return false;
  }
  return child.ok(raw::move_mount(tree, AT_FDCWD, target), "move_mount", target);
}

bool bind(Child& child, int directory, const char* path, const char* target, std::uint64_t attributes) {
  const unsigned empty = *path ? 0u : raw::at_empty_path;
  long tree =
      raw::open_tree(directory, path, raw::open_tree_clone | raw::at_recursive | raw::at_symlink_nofollow | empty);
  if (!child.ok(tree, "open_tree", *path ? path : target)) return false;
  bool attached = attach(child, static_cast<int>(tree), target, attributes);
  raw::close(tree);
  return attached;
}

long open_resolved(Child& child, const char* host_path) {
  constexpr std::uint64_t strict = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return raw::open_beneath(child.host, host_path, O_PATH, strict);
}

bool mount_memory(Child& child, const char* target, const char* options) {
  unsigned long flags = child.plan.weakened.mount_flags() ? 0 : MS_NOSUID | MS_NODEV;
  return child.ok(raw::mount("tmpfs", target, "tmpfs", flags, options), "mount tmpfs", target);
}

}  // namespace cordon::sandbox::native
