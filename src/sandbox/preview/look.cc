#include "sandbox/preview/look.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/preview/collect.h"
#include "sys/file.h"
#include "sys/tree.h"

namespace cordon::sandbox::preview {

namespace {

constexpr std::size_t chunk = 256UL * 1024;
constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * second_ns + time.tv_nsec; }

}  // namespace

Kind kind_of(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return Kind::directory;
  return S_ISLNK(status.st_mode) ? Kind::link : Kind::file;
}

Node node_of(const struct stat& status) {
  const bool is_directory = S_ISDIR(status.st_mode);
  return {.kind = kind_of(status),
          .mode = S_ISLNK(status.st_mode) ? 0 : static_cast<std::uint32_t>(status.st_mode & 07777U),
          .size = is_directory ? 0 : static_cast<std::uint64_t>(status.st_size),
          .content = std::nullopt};
}

FileIdentity identity_of(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .mtime_ns = nanoseconds(status.st_mtim),
          .ctime_ns = nanoseconds(status.st_ctim),
          .content = std::nullopt};
}

Result<Hashed> hash_file(const sys::Fd& file, const std::string& name, std::size_t keep_up_to) {
  Sha256 hash;
  Hashed result{.text = std::string()};
  std::string buffer(chunk, '\0');
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Fault::unavailable, "read {}: {}", name, sys::errno_text(errno));
    if (got == 0) break;
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    hash.add(bytes);
    result.size += bytes.size();
    if (result.size > keep_up_to) result.text.reset();
    if (result.text) *result.text += bytes;
  }
  result.content = hash.finish();
  return result;
}

std::int64_t file_clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

Result<std::size_t> count_entries(const sys::Fd& directory, std::size_t limit) {
  std::size_t count = 0;
  std::vector<std::string> open = {""};
  while (!open.empty() && count < limit) {
    const std::string path = std::move(open.back());
    open.pop_back();
    const auto place = sys::open_beneath(directory, path, O_PATH | O_DIRECTORY);
    if (!place) continue;  // a directory that keeps its owner out is one entry
    const auto names = sys::names_in(*place, path, limit);
    if (!names) continue;
    for (const std::string& name : *names) {
      struct stat status {};
      if (++count >= limit) break;
      const std::string below = path.empty() ? name : path + "/" + name;
      const bool known = ::fstatat(place->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
      if (known && S_ISDIR(status.st_mode) && is_proper_path(below)) open.push_back(below);
    }
  }
  return count;
}

}  // namespace cordon::sandbox::preview
