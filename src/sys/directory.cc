#include "sys/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "sys/file.h"

namespace cordon::sys {

namespace {

template <class Call>
auto retried(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result == -1 && errno == EINTR);
  return result;
}

tl::unexpected<Error> failed(const char* call, const std::string& name) {
  const int number = errno;
  const Fault fault = number == EACCES || number == EPERM || number == EROFS ? Fault::denied : Fault::unavailable;
  return fail(fault, "cannot {} {}: {}", call, name, errno_text(number));
}

bool is_full(int number) { return number == ENOSPC || number == EDQUOT; }

Result<Fd> regular(Fd file, const std::string& name) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failed("fstat", name);
  if (!S_ISREG(status.st_mode)) return fail(Fault::denied, "{} is not a regular file", name);
  return file;
}

int create_flags(Create create) { return create == Create::must ? O_CREAT | O_EXCL : O_CREAT; }

}  // namespace

Result<Directory> Directory::open(const std::string& path) {
  Fd fd(retried([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (fd.get() < 0) return failed("open", path);
  return Directory(path, std::move(fd));
}

std::string Directory::path_of(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

Result<std::optional<Fd>> Directory::open_read(const std::string& name) const {
  Fd fd(retried(
      [&] { return ::openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); }));
  if (fd.get() < 0) {
    if (errno == ENOENT) return std::nullopt;
    return failed("open", path_of(name));
  }
  return TRY(regular(std::move(fd), path_of(name)));
}

Result<Fd> Directory::open_append(const std::string& name, Create create) const {
  const int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | create_flags(create);
  Fd fd(retried([&] { return ::openat(fd_.get(), name.c_str(), flags, 0600); }));
  if (fd.get() < 0) return failed("open", path_of(name));
  return regular(std::move(fd), path_of(name));
}

Result<Fd> Directory::open_update(const std::string& name, Create create) const {
  const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | create_flags(create);
  Fd fd(retried([&] { return ::openat(fd_.get(), name.c_str(), flags, 0600); }));
  if (fd.get() < 0) return failed("open", path_of(name));
  return regular(std::move(fd), path_of(name));
}

Result<std::optional<std::string>> Directory::read(const std::string& name, std::size_t limit) const {
  const auto file = TRY(open_read(name));
  if (!file) return std::nullopt;
  std::string bytes = TRY(pread_all(*file, 0, limit + 1, path_of(name)));
  if (bytes.size() > limit) return fail(Fault::corrupt, "{} is longer than {} bytes", path_of(name), limit);
  return bytes;
}

Result<void> Directory::replace(const std::string& name, std::string_view bytes, unsigned mode, bool durable) const {
  const std::string temporary = fmt::format("{}.new.{}", name, ::getpid());
  ::unlinkat(fd_.get(), temporary.c_str(), 0);
  {
    const Fd file = TRY(open_append(temporary, Create::must));
    if (::fchmod(file.get(), mode) != 0) return failed("fchmod", path_of(temporary));
    if (TRY(append_all(file, bytes, path_of(temporary))) == Space::full) {
      ::unlinkat(fd_.get(), temporary.c_str(), 0);
      return fail(Fault::unavailable, "cannot write {}: no space left on device", path_of(name));
    }
    if (durable) CHECK_OK(sys::fdatasync(file, path_of(temporary)));
  }
  return rename(temporary, name);
}

Result<void> Directory::replace(const std::string& name, std::string_view bytes, unsigned mode) const {
  return replace(name, bytes, mode, true);
}

Result<void> Directory::replace_cached(const std::string& name, std::string_view bytes) const {
  return replace(name, bytes, 0600, false);
}

Result<void> Directory::rename(const std::string& from, const std::string& to) const {
  if (::renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()) != 0) return failed("rename to", path_of(to));
  return {};
}

Result<void> Directory::rename_new(const std::string& from, const std::string& to) const {
  // link() does not replace either, and file systems that do not know RENAME_NOREPLACE know it.
  if (::linkat(fd_.get(), from.c_str(), fd_.get(), to.c_str(), 0) != 0) {
    if (errno == EEXIST) return fail(Fault::conflict, "{} exists", path_of(to));
    if (errno != EPERM && errno != EOPNOTSUPP) return failed("link", path_of(to));
    if (::renameat2(fd_.get(), from.c_str(), fd_.get(), to.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno == EEXIST) return fail(Fault::conflict, "{} exists", path_of(to));
    return failed("rename to", path_of(to));
  }
  return remove(from);
}

Result<void> Directory::remove(const std::string& name) const {
  if (::unlinkat(fd_.get(), name.c_str(), 0) != 0 && errno != ENOENT) return failed("unlink", path_of(name));
  return {};
}

Result<void> Directory::make_directory(const std::string& name) const {
  if (::mkdirat(fd_.get(), name.c_str(), 0700) != 0 && errno != EEXIST) return failed("mkdir", path_of(name));
  return {};
}

Result<void> Directory::remove_directory(const std::string& name) const {
  if (::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return failed("rmdir", path_of(name));
  }
  return {};
}

Result<bool> Directory::has(const std::string& name) const {
  struct stat status {};
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT) return false;
  return failed("stat", path_of(name));
}

Result<bool> Directory::is(const std::string& name, const Fd& file) const {
  struct stat opened {};
  struct stat named {};
  if (::fstat(file.get(), &opened) != 0) return failed("fstat", path_of(name));
  if (::fstatat(fd_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return false;
    return failed("stat", path_of(name));
  }
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

Result<std::vector<std::string>> Directory::list() const {
  auto names = TRY(list("."));
  if (!names) return fail(Fault::unavailable, "{} is gone", path_);
  return *std::move(names);
}

Result<std::optional<std::vector<std::string>>> Directory::list(const std::string& name) const {
  Fd fd(retried([&] { return ::openat(fd_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
  if (fd.get() < 0) {
    if (errno == ENOENT) return std::nullopt;
    return failed("open", path_of(name));
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd.get()), ::closedir);
  if (!stream) return failed("read", path_of(name));
  (void)fd.release();
  std::vector<std::string> names;
  errno = 0;
  // Each call has a stream of its own, so no other thread reads from it.
  while (const dirent* entry = ::readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string_view found = entry->d_name;
    if (found != "." && found != "..") names.emplace_back(found);
    errno = 0;
  }
  if (errno != 0) return failed("read", path_of(name));
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> Directory::sync() const {
  if (retried([&] { return ::fsync(fd_.get()); }) != 0) return failed("fsync", path_);
  return {};
}

Result<Space> append_all(const Fd& file, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = retried([&] { return ::write(file.get(), bytes.data(), bytes.size()); });
    if (written < 0) {
      if (is_full(errno)) return Space::full;
      return failed("write to", name);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Space::enough;
}

Result<void> pwrite_all(const Fd& file, std::string_view bytes, std::uint64_t offset, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written =
        retried([&] { return ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written < 0) return failed("write to", name);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<std::string> pread_all(const Fd& file, std::uint64_t offset, std::size_t length, const std::string& name) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failed("fstat", name);
  const auto end = static_cast<std::uint64_t>(status.st_size);
  std::string bytes(end > offset ? std::min<std::uint64_t>(length, end - offset) : 0, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = retried([&] {
      return ::pread(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    });
    if (count < 0) return failed("read", name);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

Result<std::uint64_t> size_of(const Fd& file, const std::string& name) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failed("fstat", name);
  return static_cast<std::uint64_t>(status.st_size);
}

Result<void> fdatasync(const Fd& file, const std::string& name) {
  // Not retried on any error: Linux reports a lost page once and then calls it clean.
  if (retried([&] { return ::fdatasync(file.get()); }) != 0) return failed("sync", name);
  return {};
}

Result<void> ftruncate(const Fd& file, std::uint64_t size, const std::string& name) {
  if (retried([&] { return ::ftruncate(file.get(), static_cast<off_t>(size)); }) != 0) return failed("truncate", name);
  return {};
}

Result<Space> fallocate(const Fd& file, std::uint64_t size, const std::string& name) {
  if (retried([&] { return ::fallocate(file.get(), 0, 0, static_cast<off_t>(size)); }) == 0) return Space::enough;
  if (is_full(errno)) return Space::full;
  // A file system that cannot reserve (tmpfs of old kernels, some network ones) gives no reserve, and that is no error.
  if (errno == EOPNOTSUPP) return Space::enough;
  return failed("reserve space in", name);
}

Result<void> flock(const Fd& file, Lock lock, const std::string& name) {
  const int operation = lock == Lock::shared ? LOCK_SH : LOCK_EX;
  if (retried([&] { return ::flock(file.get(), operation); }) != 0) return failed("lock", name);
  return {};
}

Result<bool> try_flock(const Fd& file, const std::string& name) {
  if (retried([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return failed("lock", name);
}

Result<void> unlock(const Fd& file, const std::string& name) {
  if (::flock(file.get(), LOCK_UN) != 0) return failed("unlock", name);
  return {};
}

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id", 128);
  if (!text) return "";
  return text->substr(0, text->find('\n'));
}

}  // namespace cordon::sys
