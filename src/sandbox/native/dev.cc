#include "sandbox/native/dev.h"

#include <sys/mount.h>
#include <sys/sysmacros.h>

#include <cerrno>

#include "sandbox/native/child.h"
#include "sandbox/native/mounts.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

struct Node {
  const char* host;
  const char* path;
  unsigned major;
  unsigned minor;
};
constexpr Node nodes[] = {
    {"dev/null", "/dev/null", 1, 3},       {"dev/zero", "/dev/zero", 1, 5}, {"dev/full", "/dev/full", 1, 7},
    {"dev/urandom", "/dev/urandom", 1, 9}, {"dev/tty", "/dev/tty", 5, 0},
};
struct Link {
  const char* target;
  const char* path;
};
constexpr Link links[] = {{"/proc/self/fd", "/dev/fd"},
                          {"/proc/self/fd/0", "/dev/stdin"},
                          {"/proc/self/fd/1", "/dev/stdout"},
                          {"/proc/self/fd/2", "/dev/stderr"},
                          {"pts/ptmx", "/dev/ptmx"},
                          // The same since Linux 5.6, but for the first seconds of a machine.
                          {"urandom", "/dev/random"}};

/// What stands at that name on the host might be something else: only the very device is passed on.
bool bind_node(Child& child, const Node& node) {
  long tree = raw::open_tree(child.host, node.host, raw::open_tree_clone | raw::at_symlink_nofollow);
  if (!child.ok(tree, "open_tree", node.path)) return false;
  struct stat status {};
  long result = raw::stat_at(static_cast<int>(tree), "", status, AT_EMPTY_PATH);
  if (result == 0 && (!S_ISCHR(status.st_mode) || status.st_rdev != makedev(node.major, node.minor))) result = -ENXIO;
  long made = raw::open(AT_FDCWD, node.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  const bool bound = child.ok(result, "verify device", node.path) && child.ok(made, "create", node.path) &&
                     attach(child, static_cast<int>(tree), node.path, raw::mount_no_suid | raw::mount_no_exec);
  if (made >= 0) raw::close(made);
  raw::close(tree);
  return bound;
}

}  // namespace

bool build_dev(Child& child) {
  if (child.plan.skeleton_ready) return true;
  for (const Node& node : nodes) {
    if (!bind_node(child, node)) return false;
  }
  for (const Link& link : links) {
    if (!child.ok(raw::symlink(link.target, AT_FDCWD, link.path), "symlink", link.path)) return false;
  }
  return true;
}

bool mount_devpts(Child& child) {
  long result =
      raw::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,max=64");
  return child.ok(result, "mount devpts", "/dev/pts");
}

}  // namespace cordon::sandbox::native
