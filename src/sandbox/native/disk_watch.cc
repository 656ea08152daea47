#include "sandbox/native/disk_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace cordon::sandbox::native {

namespace {

struct Used {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
};
Used used_on(const std::string& directory) {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0) return {};
  return {(status.f_blocks - status.f_bfree) * status.f_frsize, status.f_files - status.f_ffree};
}

}  // namespace

DiskWatch::DiskWatch(std::vector<std::string> directories, const Limits& limits)
    : bytes_limit_(limits.disk_bytes), files_limit_(limits.inodes) {
  if (bytes_limit_ == 0 && files_limit_ == 0) return;
  ::clock_gettime(CLOCK_REALTIME_COARSE, &started_);
  for (std::string& directory : directories) {
    const Used used = used_on(directory);
    places_.push_back({std::move(directory), used.bytes, used.files});
  }
}

DiskWatch::Count DiskWatch::changed_beneath(int directory, int depth) const {
  Count count;
  DIR* list = ::fdopendir(directory);
  if (!list) {
    ::close(directory);
    return count;
  }
  while (dirent* item = ::readdir(list)) {
    if (std::strcmp(item->d_name, ".") == 0 || std::strcmp(item->d_name, "..") == 0) continue;
    struct stat status {};
    if (::fstatat(::dirfd(list), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const bool changed = status.st_ctim.tv_sec > started_.tv_sec ||
                         (status.st_ctim.tv_sec == started_.tv_sec && status.st_ctim.tv_nsec >= started_.tv_nsec);
    if (changed) {
      count.files += 1;
      count.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
    // Deeper than any real tree: what is hidden there is still seen by the file system's own count.
    if (!S_ISDIR(status.st_mode) || depth > 200) continue;
    int below = ::openat(::dirfd(list), item->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0) continue;
    const Count more = changed_beneath(below, depth + 1);
    count.files += more.files;
    count.bytes += more.bytes;
  }
  ::closedir(list);
  return count;
}

std::optional<std::string> DiskWatch::exceeded() {
  for (Place& place : places_) {
    const Used now = used_on(place.directory);
    const bool more_bytes = bytes_limit_ && now.bytes > place.bytes_before + bytes_limit_;
    const bool more_files = files_limit_ && now.files > place.files_before + files_limit_;
    if (!more_bytes && !more_files) continue;
    int directory = ::open(place.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) continue;
    const Count changed = changed_beneath(directory, 0);
    if (bytes_limit_ && changed.bytes > bytes_limit_) {
      return fmt::format("wrote more than {} bytes below {} (limit: disk)", bytes_limit_, place.directory);
    }
    if (files_limit_ && changed.files > files_limit_) {
      return fmt::format("made more than {} files below {} (limit: inodes)", files_limit_, place.directory);
    }
    // Somebody else's: count from here.
    place.bytes_before = now.bytes - std::min(now.bytes, changed.bytes);
    place.files_before = now.files - std::min(now.files, changed.files);
  }
  return std::nullopt;
}

}  // namespace cordon::sandbox::native
