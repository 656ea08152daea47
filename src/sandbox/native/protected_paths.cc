#include "sandbox/native/protected_paths.h"

#include <cerrno>

#include "sandbox/native/child.h"
#include "sandbox/native/mounts.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

constexpr std::uint64_t strict = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

/// Covers what lies at `path` with a copy of `source` (or of itself).
bool cover(Child& child, int workspace, const char* path, const char* source, std::uint64_t attributes) {
  long place = raw::open_beneath(workspace, path, O_PATH, strict);
  if (!child.ok(place, "open protected path", path)) return false;
  unsigned flags = raw::open_tree_clone | raw::at_recursive;
  long tree = source ? raw::open_tree(AT_FDCWD, source, flags)
                     : raw::open_tree(static_cast<int>(place), "", flags | raw::at_empty_path);
  bool covered = child.ok(tree, "open_tree", path);
  if (covered && attributes != 0) {
    const raw::MountAttributes change{.set = attributes};
    covered = child.ok(raw::mount_setattr(static_cast<int>(tree), "", raw::at_empty_path | raw::at_recursive, change),
                       "mount_setattr", path);
  }
  if (covered)
    covered = child.ok(raw::move_mount(static_cast<int>(tree), static_cast<int>(place), ""), "move_mount", path);
  if (tree >= 0) raw::close(tree);
  raw::close(place);
  return covered;
}

/// Only in an overlay: the host's workspace never sees it.
bool make_missing(Child& child, int workspace, const ProtectedPath& item) {
  const char* path = item.path.c_str();
  if (item.directory) return child.ok(raw::mkdir(workspace, path, 0755), "mkdir", path);
  long made = raw::open(workspace, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (!child.ok(made, "create", path)) return false;
  raw::close(made);
  return true;
}

}  // namespace

bool mount_protected_paths(Child& child, const char* workspace) {
  for (const ProtectedPath& item : child.plan.protected_paths) {
    // Opened anew each time: a descriptor from before would look beneath the mounts made since.
    long root = raw::open(AT_FDCWD, workspace, O_PATH | O_DIRECTORY);
    if (!child.ok(root, "open", workspace)) return false;
    const int base = static_cast<int>(root);
    bool held = !item.missing || make_missing(child, base, item);
    for (const std::string& ancestor : item.ancestors) held = held && cover(child, base, ancestor.c_str(), nullptr, 0);
    const char* source = !item.hidden ? nullptr : item.directory ? "/.lower" : "/.empty";
    held = held && cover(child, base, item.path.c_str(), source, guarded_read_only);
    raw::close(root);
    if (!held) return false;
  }
  return true;
}

}  // namespace cordon::sandbox::native
