#include "sandbox/native/reach.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace cordon::sandbox::native {

namespace {

/// fchmod does not take a descriptor that was opened as a path only.
bool set_mode(int directory, mode_t mode) {
  return ::chmod(fmt::format("/proc/self/fd/{}", directory).c_str(), mode) == 0;
}

}  // namespace

Reach::~Reach() {
  // The innermost first: its own directory must still let us through.
  for (auto item = changed_.rbegin(); item != changed_.rend(); ++item) set_mode(item->first.get(), item->second);
}

bool Reach::open_up(int directory) {
  struct stat status {};
  if (::fstat(directory, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) return false;
  const mode_t mode = status.st_mode & 07777;
  if ((mode & 0700) == 0700 || !set_mode(directory, mode | 0700)) return false;
  changed_.emplace_back(::fcntl(directory, F_DUPFD_CLOEXEC, 0), mode);
  return true;
}

sys::Fd Reach::directory(const std::string& path) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  sys::Fd here(::open("/", flags));
  for (const auto& part : std::filesystem::path(path).relative_path()) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return errno = EINVAL, sys::Fd(-1);
    sys::Fd next(::openat(here.get(), part.c_str(), flags));
    if (next.get() < 0 && errno == EACCES && open_up(here.get()))
      next = sys::Fd(::openat(here.get(), part.c_str(), flags));
    if (next.get() < 0) return next;
    here = std::move(next);
  }
  return here;
}

bool Reach::stat(int parent, const std::string& name, struct stat& status) {
  if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return true;
  return errno == EACCES && open_up(parent) && ::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

bool Reach::unlink(int parent, const std::string& name, int flags) {
  if (::unlinkat(parent, name.c_str(), flags) == 0) return true;
  return errno == EACCES && open_up(parent) && ::unlinkat(parent, name.c_str(), flags) == 0;
}

bool Reach::rename(int parent, const std::string& name, int to, const std::string& new_name) {
  const auto renamed = [&] { return ::renameat(parent, name.c_str(), to, new_name.c_str()) == 0; };
  if (renamed()) return true;
  if (errno != EACCES) return false;
  if (open_up(parent) && renamed()) return true;
  // A directory that changes its parent is written to itself.
  const sys::Fd moved(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return moved.get() >= 0 && open_up(moved.get()) && renamed();
}

}  // namespace cordon::sandbox::native
