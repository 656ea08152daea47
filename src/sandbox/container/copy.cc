#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "sandbox/container/layout.h"
#include "sys/fd.h"

namespace cordon::sandbox::container {

namespace {

constexpr int deepest = 200;

class Copier {
 public:
  Copier(const std::vector<std::string>& hidden, const Limits& limits) : limits_(limits) {
    for (std::string path : hidden) {
      while (path.ends_with('/')) path.pop_back();
      hidden_.insert(std::move(path));
    }
  }

  Result<void> copy(sys::Fd from, const sys::Fd& into, const std::string& prefix, int depth) {
    if (depth > deepest) return fail(Fault::invalid_input, "{} lies too deep to be copied", prefix);
    DIR* opened = ::fdopendir(from.release());
    if (opened == nullptr) return fail(Fault::unavailable, "read directory {}: {}", prefix, std::strerror(errno));
    const std::unique_ptr<DIR, int (*)(DIR*)> list(opened, ::closedir);
    while (const dirent* item = ::readdir(list.get())) {
      const std::string name = item->d_name;
      const std::string path = prefix.empty() ? name : prefix + "/" + name;
      if (name == "." || name == ".." || hidden_.contains(path)) continue;
      CHECK_OK(copy_one(::dirfd(list.get()), into, name, path, depth));
    }
    return {};
  }

 private:
  Result<void> copy_one(int from, const sys::Fd& into, const std::string& name, const std::string& path, int depth) {
    struct stat status {};
    if (::fstatat(from, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};  // gone meanwhile
    CHECK_OK(count(status));
    const auto trouble = [&] { return fail(Fault::unavailable, "copy {}: {}", path, std::strerror(errno)); };
    if (S_ISLNK(status.st_mode)) {
      char target[4096];
      const ssize_t length = ::readlinkat(from, name.c_str(), target, sizeof target - 1);
      if (length < 0) return {};
      target[length] = 0;
      if (::symlinkat(target, into.get(), name.c_str()) != 0) return trouble();
      return {};
    }
    if (S_ISDIR(status.st_mode)) {
      sys::Fd below(::openat(from, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      // As in the view of an overlay: what the caller may not read is not there to be read.
      if (below.get() < 0) return {};
      if (::mkdirat(into.get(), name.c_str(), 0700) != 0) return trouble();
      const sys::Fd made(::openat(into.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (made.get() < 0 || ::fchmod(made.get(), (status.st_mode & 0777) | 0700) != 0) return trouble();
      return copy(std::move(below), made, path, depth + 1);
    }
    if (!S_ISREG(status.st_mode)) return {};  // sockets and devices have no copies
    const sys::Fd source(::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (source.get() < 0) return {};
    const sys::Fd made(::openat(into.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    // setuid and setgid bits stay behind.
    if (made.get() < 0 || ::fchmod(made.get(), status.st_mode & 0777) != 0) return trouble();
    for (;;) {
      const ssize_t copied = ::copy_file_range(source.get(), nullptr, made.get(), nullptr, 1U << 30, 0);
      if (copied == 0) return {};
      if (copied < 0) return copy_by_reading(source, made, path);
    }
  }

  static Result<void> copy_by_reading(const sys::Fd& source, const sys::Fd& made, const std::string& path) {
    std::vector<char> buffer(1U << 18);
    for (;;) {
      const ssize_t got = ::read(source.get(), buffer.data(), buffer.size());
      if (got == 0) return {};
      if (got < 0 || ::write(made.get(), buffer.data(), static_cast<std::size_t>(got)) != got) {
        return fail(Fault::unavailable, "copy {}: {}", path, std::strerror(errno));
      }
    }
  }

  Result<void> count(const struct stat& status) {
    files_ += 1;
    bytes_ += S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
    const bool too_much =
        (limits_.disk_bytes != 0 && bytes_ > limits_.disk_bytes) || (limits_.inodes != 0 && files_ > limits_.inodes);
    if (!too_much) return {};
    return fail(Fault::unavailable,
                "the directory is larger than the disk limit ({} bytes, {} files), and a container works on a copy of "
                "it: use --backend native, which needs none",
                limits_.disk_bytes, limits_.inodes);
  }

  const Limits& limits_;
  std::set<std::string> hidden_;
  std::uint64_t bytes_ = 0;
  std::uint64_t files_ = 0;
};

}  // namespace

Result<void> copy_tree(const std::string& source, const std::string& target, const std::vector<std::string>& hidden,
                       const Limits& limits) {
  sys::Fd from(::open(source.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const sys::Fd into(::open(target.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (from.get() < 0 || into.get() < 0) {
    return fail(Fault::unavailable, "copy {} to {}: {}", source, target, std::strerror(errno));
  }
  return Copier(hidden, limits).copy(std::move(from), into, "", 0);
}

}  // namespace cordon::sandbox::container
