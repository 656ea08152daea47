#include "sandbox/native/workspace.h"

#include <sys/mount.h>

#include <cerrno>

#include "sandbox/native/child.h"
#include "sandbox/native/mounts.h"
#include "sandbox/native/passed_fd.h"
#include "sandbox/native/protected_paths.h"
#include "sandbox/native/scratch.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

struct PathBuffer {
  char text[4096];
  bool assign(const char* first, const char* second) {
    std::size_t used = 0;
    for (const char* part : {first, second}) {
      for (; *part; ++part) {
        if (used + 1 >= sizeof text) return false;
        text[used++] = *part;
      }
    }
    text[used] = 0;
    return true;
  }
};

/// "/home/x/y" → "/home"
bool top_of(const char* path, PathBuffer& top) {
  std::size_t used = 0;
  do {
    if (used + 1 >= sizeof top.text) return false;
    top.text[used] = path[used];
    ++used;
  } while (path[used] && path[used] != '/');
  top.text[used] = 0;
  return path[used] == '/';
}

bool starts_with(const char* path, const char* prefix) {
  while (*prefix) {
    if (*path++ != *prefix++) return false;
  }
  return true;
}

long open_source(Child& child, const PlacedTree& tree) {
  if (tree.prepared_tree >= 0) return tree.prepared_tree;
  long source = open_resolved(child, tree.source.c_str());
  if (!child.ok(source, "open (a symbolic link on the way, or gone)", tree.source.c_str())) return source;
  unsigned flags = raw::open_tree_clone | raw::at_recursive | raw::at_empty_path;
  long copy = raw::open_tree(static_cast<int>(source), "", flags);
  raw::close(source);
  child.ok(copy, "open_tree", tree.source.c_str());
  return copy;
}

bool mount_overlay(Child& child, int lower, const char* target) {
  if (!attach(child, lower, "/.host/proc/lower", guarded_read_only)) return false;
  const char* options = "userxattr,lowerdir=/.host/proc/lower,upperdir=/.host/proc/upper,workdir=/.host/proc/work";
  const bool on_disk = !child.plan.overlay_upper.empty();
  if (on_disk) {
    options = "userxattr,lowerdir=/.host/proc/lower,upperdir=/.host/proc/layers/upper,workdir=/.host/proc/layers/work";
    if (child.plan.overlay_upper_tree >= 0) {
      if (!attach(child, child.plan.overlay_upper_tree, "/.host/proc/layers", guarded)) return false;
    } else {
      long upper = open_resolved(child, child.plan.overlay_upper.c_str());
      if (!child.ok(upper, "open", child.plan.overlay_upper.c_str())) return false;
      if (!bind(child, static_cast<int>(upper), "", "/.host/proc/layers", guarded)) return false;
      raw::close(upper);
    }
  }
  return child.ok(raw::mount("overlay", target, "overlay", MS_NOSUID | MS_NODEV, options), "mount overlay", target);
}

bool place_tree(Child& child, const PlacedTree& tree, bool is_workspace) {
  const char* target = tree.targets.front().c_str();
  if (!make_target(child, "", target, tree.directory)) return false;
  long source = open_source(child, tree);
  if (source < 0) return false;
  bool placed;
  if (is_workspace && child.plan.overlay) {
    placed = mount_overlay(child, static_cast<int>(source), target);
  } else {
    placed = attach(child, static_cast<int>(source), target, tree.writable ? guarded : guarded_read_only);
  }
  raw::close(source);
  if (placed && is_workspace && !child.plan.weakened.protected_paths()) placed = mount_protected_paths(child, target);
  for (std::size_t i = 1; placed && i < tree.targets.size(); ++i) {
    const char* other = tree.targets[i].c_str();
    placed = make_target(child, "", other, tree.directory) && bind(child, AT_FDCWD, target, other, 0);
  }
  return placed;
}

/// Every path below a first directory of the root; /tmp is the run's own and needs none made.
template <class Visit>
bool for_each_mount_point(Child& child, Visit visit) {
  auto visit_one = [&](const std::string& target, bool directory) {
    PathBuffer top;
    if (!top_of(target.c_str(), top) || starts_with(target.c_str(), "/tmp/")) return true;
    return visit(target.c_str(), directory);
  };
  if (!child.plan.home_alias.empty() && !visit_one(child.plan.home_alias, true)) return false;
  for (const PlacedTree& tree : child.plan.trees) {
    for (const std::string& target : tree.targets) {
      if (!visit_one(target, tree.directory)) return false;
    }
  }
  return true;
}

}  // namespace

bool make_target(Child& child, const char* prefix, const char* path, bool directory) {
  PathBuffer buffer;
  if (!buffer.assign(prefix, path)) return child.ok(-ENAMETOOLONG, "mkdir", path);
  for (char* cursor = buffer.text + raw::length(prefix) + 1; *cursor; ++cursor) {
    if (*cursor != '/') continue;
    *cursor = 0;
    long made = raw::mkdir(AT_FDCWD, buffer.text, 0755);
    *cursor = '/';
    if (made < 0 && made != -EEXIST && made != -EROFS) return child.ok(made, "mkdir", path);
  }
  struct stat status {};
  if (raw::stat_at(AT_FDCWD, buffer.text, status, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (directory) return child.ok(raw::mkdir(AT_FDCWD, buffer.text, 0755), "mkdir", path);
  long fd = raw::open(AT_FDCWD, buffer.text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (!child.ok(fd, "create", path)) return false;
  raw::close(fd);
  return true;
}

bool make_mount_points(Child& child) {
  if (!child.plan.skeleton_ready) return true;
  const char* inside = "/.host/proc/mounts";
  bool made = for_each_mount_point(
      child, [&](const char* target, bool directory) { return make_target(child, inside, target, directory); });
  return made && for_each_mount_point(child, [&](const char* target, bool) {
           PathBuffer top;
           PathBuffer own;
           struct stat before {};
           struct stat after {};
           if (!top_of(target, top)) return true;
           if (!own.assign(inside, top.text)) return child.ok(-ENAMETOOLONG, "mkdir", top.text);
           if (starts_with(target, "/home/") && !make_target(child, inside, home_directory, true)) return false;
           // Two targets may share their first directory: it is bound once.
           if (raw::stat_at(AT_FDCWD, own.text, after, 0) == 0 && raw::stat_at(AT_FDCWD, top.text, before, 0) == 0 &&
               after.st_ino == before.st_ino && after.st_dev == before.st_dev) {
             return true;
           }
           return bind(child, AT_FDCWD, own.text, top.text, guarded_read_only);
         });
}

namespace {

/// Before the host's files and the memory's own mount point go: the descriptor is then the only way to it.
bool hand_over_memory(Child& child) {
  if (!child.plan.overlay_handed_over) return true;
  long memory = raw::open(AT_FDCWD, scratch_root, O_RDONLY | O_DIRECTORY);
  if (!child.ok(memory, "open", scratch_root)) return false;
  long sent = send_descriptor(child.plan.control, PassedFd::memory, static_cast<int>(memory));
  raw::close(memory);
  return child.ok(sent, "hand over the overlay's memory");
}

}  // namespace

bool place_trees(Child& child) {
  bool is_workspace = child.plan.has_workspace;
  for (const PlacedTree& tree : child.plan.trees) {
    if (!place_tree(child, tree, is_workspace)) return false;
    is_workspace = false;
  }
  return hand_over_memory(child);
}

}  // namespace cordon::sandbox::native
