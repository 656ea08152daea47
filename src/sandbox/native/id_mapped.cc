#include "sandbox/native/id_mapped.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/native/user_namespace.h"
#include "sys/raw_files.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

Result<Fd> open_no_links(const std::string& path) {
  long fd = raw::open_beneath(AT_FDCWD, path.c_str(), O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (fd < 0) return fail(Fault::invalid_input, "open {}: {}", path, std::strerror(static_cast<int>(-fd)));
  return Fd(static_cast<int>(fd));
}

Result<Fd> mapped(int source, int user_namespace, unsigned recursive) {
  const unsigned flags = raw::open_tree_clone | raw::at_empty_path | recursive;
  long tree = raw::open_tree(source, "", flags);
  if (tree < 0) return fail(Fault::unavailable, "open_tree: {}", std::strerror(static_cast<int>(-tree)));
  Fd result(static_cast<int>(tree));
  // Private: a copy of a shared mount stays its peer, and what is mounted on it in the sandbox would appear on the
  // host.
  const raw::MountAttributes attributes{.set = raw::mount_id_mapped,
                                        .propagation = MS_PRIVATE,
                                        .user_namespace = static_cast<std::uint64_t>(user_namespace)};
  long set = raw::mount_setattr(result.get(), "", raw::at_empty_path | recursive, attributes);
  if (set < 0) return fail(Fault::unavailable, "mount_setattr: {}", std::strerror(static_cast<int>(-set)));
  return result;
}

}  // namespace

Result<Fd> id_mapped_tree(const std::string& path, const Blueprint& blueprint) {
  Fd source = TRY(open_no_links(path));
  struct stat status {};
  if (::fstat(source.get(), &status) != 0) return fail(Fault::unavailable, "stat {}: {}", path, std::strerror(errno));
  Fd user_namespace = TRY(mapping_namespace(status.st_uid, status.st_gid, blueprint));
  auto tree = mapped(source.get(), user_namespace.get(), raw::at_recursive);
  // Something mounted below may be of a file system that cannot do it: then without what is below.
  if (!tree) tree = mapped(source.get(), user_namespace.get(), 0);
  if (!tree) {
    return fail(
        Fault::unavailable,
        "{} belongs to uid {} and its file system cannot be mounted id-mapped ({}); start Cordon as that user instead",
        path, status.st_uid, tree.error().sentence);
  }
  return tree;
}

}  // namespace cordon::sandbox::native
