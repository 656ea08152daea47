#include "sys/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "sys/file.h"

namespace cordon::sys {

namespace {

constexpr std::size_t most_names = 1'000'000;
constexpr int deepest_tree = 512;  // one descriptor is held for each level
constexpr unsigned exchange_flag = 2;
constexpr unsigned no_replace_flag = 1;

int open_strictly(int directory, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  // EAGAIN: something on the way was renamed meanwhile. Whoever keeps doing that does not hold us up for ever.
  int fd = -1;
  for (int tries = 0; tries < 64; ++tries) {
    fd = static_cast<int>(::syscall(SYS_openat2, directory, *path == '\0' ? "." : path, &how, sizeof how));
    if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) break;
  }
  return fd;
}

Fault fault_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return Fault::denied;
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EXDEV:
    case EEXIST:
      return Fault::conflict;
    default:
      return Fault::unavailable;
  }
}

Result<void> remove_below(const Fd& directory, const std::string& name, int depth) {
  if (::unlinkat(directory.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return fail(fault_of(errno), "remove {}: {}", name, errno_text(errno));
  if (depth > deepest_tree) return fail(Fault::unavailable, "remove {}: nested too deeply", name);
  const Fd inner(open_strictly(directory.get(), name.c_str(), O_PATH | O_DIRECTORY));
  if (inner.get() < 0) return fail(fault_of(errno), "remove {}: {}", name, errno_text(errno));
  CHECK_OK(change_mode(inner, 0700, name));
  for (const std::string& below : TRY(names_in(inner, name, most_names))) {
    CHECK_OK(remove_below(inner, below, depth + 1));
  }
  if (::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return fail(fault_of(errno), "remove directory {}: {}", name, errno_text(errno));
  }
  return {};
}

}  // namespace

PathParts split_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

Result<Fd> open_beneath(const Fd& root, const std::string& path, int flags) {
  const int patience = (flags & O_PATH) != 0 ? 0 : O_NONBLOCK;
  Fd file(open_strictly(root.get(), path.c_str(), flags | patience));
  if (file.get() < 0) return fail(fault_of(errno), "open {}: {}", path.empty() ? "." : path, errno_text(errno));
  return file;
}

Result<struct stat> stat_of(const Fd& file, const std::string& name) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return fail(Fault::unavailable, "stat {}: {}", name, errno_text(errno));
  return status;
}

Result<std::optional<struct stat>> stat_beneath(const Fd& root, const std::string& path) {
  const auto parts = split_path(path);
  const Fd parent(open_strictly(root.get(), parts.parent.c_str(), O_PATH | O_DIRECTORY));
  struct stat status {};
  if (parent.get() >= 0 && ::fstatat(parent.get(), parts.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return std::optional(status);
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return std::optional<struct stat>();
  return fail(fault_of(errno), "stat {}: {}", path, errno_text(errno));
}

Result<std::vector<std::string>> names_in(const Fd& directory, const std::string& name, std::size_t limit) {
  // Opened anew: the descriptor may be an O_PATH one, and its position is shared with its copies.
  const int fd = open_strictly(directory.get(), ".", O_RDONLY | O_DIRECTORY);
  if (fd < 0) return fail(fault_of(errno), "read directory {}: {}", name, errno_text(errno));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), ::closedir);
  if (!stream) {
    ::close(fd);
    return fail(Fault::unavailable, "read directory {}: {}", name, errno_text(errno));
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0)
      return fail(Fault::unavailable, "read directory {}: {}", name, errno_text(errno));
    if (entry == nullptr) break;
    const std::string_view one = entry->d_name;
    if (one == "." || one == "..") continue;
    if (names.size() >= limit) return fail(Fault::unavailable, "directory {} has more than {} entries", name, limit);
    names.emplace_back(one);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> link_target(const Fd& directory, const std::string& name) {
  std::string target(4097, '\0');
  const ssize_t length = ::readlinkat(directory.get(), name.c_str(), target.data(), target.size());
  if (length < 0) return fail(fault_of(errno), "read link {}: {}", name, errno_text(errno));
  if (static_cast<std::size_t>(length) >= target.size()) return fail(Fault::unavailable, "link {} is too long", name);
  target.resize(static_cast<std::size_t>(length));
  return target;
}

Result<void> change_mode(const Fd& file, unsigned mode, const std::string& name) {
  // fchmod refuses O_PATH descriptors; the kernel's own link to one leads to the very file.
  if (::chmod(fmt::format("/proc/self/fd/{}", file.get()).c_str(), mode) == 0) return {};
  return fail(fault_of(errno), "chmod {}: {}", name, errno_text(errno));
}

std::optional<std::string> attribute_of(const Fd& file, const char* attribute) {
  std::string value(256, '\0');
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  const ssize_t length = ::getxattr(path.c_str(), attribute, value.data(), value.size());
  if (length < 0) return std::nullopt;
  value.resize(static_cast<std::size_t>(length));
  return value;
}

Result<void> rename_at(const Fd& from, const std::string& name, const Fd& to, const std::string& other, Onto onto) {
  const unsigned flags = onto == Onto::exchange ? exchange_flag : no_replace_flag;
  if (::syscall(SYS_renameat2, from.get(), name.c_str(), to.get(), other.c_str(), flags) == 0) return {};
  return fail(fault_of(errno), "rename {} to {}: {}", name, other, errno_text(errno));
}

Result<void> write_sparse(const Fd& file, const std::string& name, std::string_view bytes) {
  if (bytes.find_first_not_of('\0') != std::string_view::npos) return write_all(file, name, bytes);
  if (::lseek(file.get(), static_cast<off_t>(bytes.size()), SEEK_CUR) >= 0) return {};
  return fail(fault_of(errno), "seek in {}: {}", name, errno_text(errno));
}

Result<void> remove_tree(const Fd& directory, const std::string& name) { return remove_below(directory, name, 0); }

}  // namespace cordon::sys
