#include "sys/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

Fault fault_of(int number) {
  if (number == EACCES || number == EPERM || number == EROFS) return Fault::denied;
  if (number == ENOENT || number == ENOTDIR || number == EISDIR || number == ELOOP || number == ENAMETOOLONG) {
    return Fault::invalid_input;
  }
  return Fault::unavailable;
}

tl::unexpected<Error> failed(const char* call, const std::string& path) {
  const int number = errno;
  return fail(fault_of(number), "cannot {} {}: {}", call, path, errno_text(number));
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> sync_directory(const std::string& path) {
  const Fd directory(retried([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (directory.get() < 0) return failed("open", path);
  if (retried([&] { return ::fsync(directory.get()); }) != 0) return failed("sync", path);
  return {};
}

}  // namespace

std::string errno_text(int number) {
  char buffer[128];
  return ::strerror_r(number, buffer, sizeof buffer);
}

Result<std::optional<Fd>> open_regular_if_exists(const std::string& path) {
  // O_NONBLOCK: opening a FIFO that someone put here must not wait for a writer.
  Fd file(retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<Fd>();
    return failed("read", path);
  }
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return failed("look at", path);
  if (!S_ISREG(about.st_mode)) return fail(Fault::invalid_input, "{} is {}, not a file", path, kind_of(about.st_mode));
  return std::optional<Fd>(std::move(file));
}

Result<Fd> open_regular(const std::string& path) {
  auto file = TRY(open_regular_if_exists(path));
  if (!file) return fail(Fault::invalid_input, "{}: no such file", path);
  return *std::move(file);
}

Result<std::string> read_all(const Fd& file, const std::string& name, std::size_t limit) {
  // One read for what it holds, if it knows that, and one that finds the end.
  struct stat status {};
  const auto known =
      ::fstat(file.get(), &status) == 0 ? static_cast<std::size_t>(std::max<off_t>(0, status.st_size)) : 0;
  std::string bytes(std::min(known, limit) + 1, '\0');
  std::size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) bytes.resize(std::min(limit + 1, std::max<std::size_t>(4096, bytes.size() * 2)));
    const ssize_t count = retried([&] { return ::read(file.get(), bytes.data() + filled, bytes.size() - filled); });
    if (count < 0) return failed("read", name);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > limit) return fail(Fault::invalid_input, "{} is larger than {} bytes", name, limit);
  }
  bytes.resize(filled);
  return bytes;
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const Fd file = TRY(open_regular(path));
  return read_all(file, path, limit);
}

Result<std::optional<std::string>> read_file_if_exists(const std::string& path, std::size_t limit) {
  const auto file = TRY(open_regular_if_exists(path));
  if (!file) return std::optional<std::string>();
  return std::optional<std::string>(TRY(read_all(*file, path, limit)));
}

Result<void> write_all(const Fd& file, const std::string& name, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = retried([&] { return ::write(file.get(), bytes.data(), bytes.size()); });
    if (count < 0) return failed("write", name);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

namespace {

enum class Durable { no, yes };

Result<void> replace(const std::string& path, std::string_view bytes, unsigned mode, Durable durable) {
  std::string temporary = path + ".XXXXXX";
  const Fd file(retried([&] { return ::mkostemp(temporary.data(), O_CLOEXEC); }));
  if (file.get() < 0) return failed("create a file beside", path);
  const auto written = [&]() -> Result<void> {
    if (::fchmod(file.get(), mode) != 0) return failed("set the mode of", temporary);
    CHECK_OK(write_all(file, temporary, bytes));
    if (durable == Durable::yes && retried([&] { return ::fsync(file.get()); }) != 0) return failed("sync", temporary);
    if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("replace", path);
    return durable == Durable::yes ? sync_directory(directory_of(path)) : Result<void>();
  }();
  if (!written) ::unlink(temporary.c_str());
  return written;
}

}  // namespace

Result<void> replace_file(const std::string& path, std::string_view bytes, unsigned mode) {
  return replace(path, bytes, mode, Durable::yes);
}

Result<void> replace_file_unsynced(const std::string& path, std::string_view bytes, unsigned mode) {
  return replace(path, bytes, mode, Durable::no);
}

Result<void> create_file(const std::string& path, std::string_view bytes, unsigned mode) {
  const Fd file(
      retried([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode); }));
  if (file.get() < 0) {
    if (errno == EEXIST) return fail(Fault::conflict, "{} exists already", path);
    return failed("create", path);
  }
  return write_all(file, path, bytes);
}

Result<void> ensure_private_directory(const std::string& path) {
  struct stat about {};
  const bool missing = ::stat(path.c_str(), &about) != 0;
  for (std::size_t slash = path.find('/', 1); missing; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return failed("make the directory", part);
    if (slash == std::string::npos) break;
  }
  if (missing && ::stat(path.c_str(), &about) != 0) return failed("look at", path);
  if (!S_ISDIR(about.st_mode)) return fail(Fault::invalid_input, "{} is not a directory", path);
  if (about.st_uid != ::geteuid()) {
    return fail(Fault::denied, "{} belongs to user {}, not to you; give another --state-dir", path, about.st_uid);
  }
  if ((about.st_mode & 0022) != 0) {
    return fail(Fault::denied, "others may write to {}; run: chmod 700 {}", path, path);
  }
  return {};
}

Result<FileLock> FileLock::take(const std::string& path) {
  Fd file(retried([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600); }));
  if (file.get() < 0) return failed("open", path);
  if (retried([&] { return ::flock(file.get(), LOCK_EX); }) != 0) return failed("lock", path);
  return FileLock(std::move(file));
}

Result<std::optional<FileLock>> FileLock::try_take(const std::string& path) {
  Fd file(retried([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600); }));
  if (file.get() < 0) return failed("open", path);
  if (retried([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) == 0) {
    return std::optional<FileLock>(FileLock(std::move(file)));
  }
  if (errno == EWOULDBLOCK) return std::optional<FileLock>();
  return failed("lock", path);
}

}  // namespace cordon::sys
