#include "sys/file_mark.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sys/fd.h"

namespace cordon::sys {

namespace {

constexpr std::int64_t second = 1'000'000'000;
// Two seconds are the coarsest times that a file system of today keeps.
constexpr auto settled_after = std::chrono::seconds(2);

std::int64_t to_ns(const statx_timestamp& time) { return time.tv_sec * second + time.tv_nsec; }

bool is_absent(int number) { return number == ENOENT || number == ENOTDIR; }

}  // namespace

std::optional<FileMark> mark_of(const std::string& path, Links links, Time now) {
  struct statx about {};
  int looked = -1;
  int why = 0;
  // Forced: what a server of files knows, not what was heard from it some time ago.
  constexpr int flags = AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT;
  constexpr unsigned wanted = STATX_BASIC_STATS;
  if (links == Links::follow) {
    looked = ::statx(AT_FDCWD, path.c_str(), flags, wanted, &about);
    why = errno;
  } else {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    const Fd file(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
    if (file.get() >= 0) looked = ::statx(file.get(), "", flags | AT_EMPTY_PATH, wanted, &about);
    why = errno;
  }
  if (looked != 0) return is_absent(why) ? std::optional(FileMark{}) : std::nullopt;
  FileMark mark{.there = true,
                .device = (static_cast<std::uint64_t>(about.stx_dev_major) << 32U) | about.stx_dev_minor,
                .inode = about.stx_ino,
                .size = about.stx_size,
                .changed_ns = to_ns(about.stx_mtime),
                .touched_ns = to_ns(about.stx_ctime)};
  if (now - Time(std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(mark.touched_ns))) < settled_after) {
    return std::nullopt;
  }
  return mark;
}

}  // namespace cordon::sys
