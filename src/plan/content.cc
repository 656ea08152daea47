#include "plan/content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::plan {

namespace {

constexpr std::size_t most_known = 2000;
constexpr std::size_t largest_cache = 1U << 20;
// Hashing less than this costs about as much as looking it up.
constexpr std::uint64_t worth_remembering = 64 * 1024;
// A file that was changed just now may change again within the same tick of its ctime.
constexpr auto settled = std::chrono::seconds(2);

FileIdentity identity_of(const struct stat& status) {
  constexpr std::int64_t second = 1'000'000'000;
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .mtime_ns = status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec,
          .ctime_ns = status.st_ctim.tv_sec * second + status.st_ctim.tv_nsec};
}

std::string key_of(const FileIdentity& identity) {
  return fmt::format("{}:{}:{}:{}:{}", identity.device, identity.inode, identity.size, identity.mtime_ns,
                     identity.ctime_ns);
}

Result<Digest> hash_of(const sys::Fd& file, const std::string& path, std::uint64_t size) {
  constexpr std::uint64_t largest_piece = 256 * 1024;
  Sha256 hash;
  // No larger than it is needed: to touch a quarter of a megabyte first costs more than to hash a small program.
  std::string buffer(std::min(size + 1, largest_piece), '\0');
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Fault::unavailable, "cannot read {}: {}", path, sys::errno_text(errno));
    if (count == 0) return hash.finish();
    hash.add(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
  }
}

}  // namespace

std::optional<FileIdentity> identity_of_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return identity_of(status);
}

Result<FileIdentity> identity_of_directory(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return fail(Fault::invalid_input, "the working directory {}: {}", path, sys::errno_text(errno));
  }
  if (!S_ISDIR(status.st_mode)) return fail(Fault::invalid_input, "the working directory {} is no directory", path);
  return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
}

Contents::Contents(std::string state_dir, const Clock& clock) : state_dir_(std::move(state_dir)), clock_(&clock) {}

Result<std::optional<FrozenFile>> Contents::freeze(const std::string& path, std::uint64_t limit) {
  sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENXIO)) return std::optional<FrozenFile>();
  // Executable for us but not readable: what it holds cannot be told, and that is said.
  if (file.get() < 0) return fail(Fault::unavailable, "cannot read {}: {}", path, sys::errno_text(errno));
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::optional<FrozenFile>();
  const FileIdentity identity = identity_of(status);
  if (identity.size > limit) return fail(Fault::unavailable, "{} is too large to be hashed", path);
  FrozenFile frozen{.path = path, .identity = identity};
  const bool remembered = identity.size >= worth_remembering;
  if (remembered) {
    load();
    if (const auto known = known_.find(key_of(identity)); known != known_.end()) {
      frozen.content = known->second;
      return std::optional(std::move(frozen));
    }
  }
  frozen.content = TRY(hash_of(file, path, identity.size));
  if (::fstat(file.get(), &status) != 0 || !(identity_of(status) == identity)) {
    return fail(Fault::conflict, "{} changed while it was read; try again", path);
  }
  const auto age = clock_->now().time_since_epoch() - std::chrono::nanoseconds(identity.ctime_ns);
  if (remembered && age > settled) {
    known_[key_of(identity)] = frozen.content;
    learned_ = true;
  }
  return std::optional(std::move(frozen));
}

void Contents::load() {
  if (std::exchange(loaded_, true) || state_dir_.empty()) return;
  const auto text = sys::read_file_if_exists(path(), largest_cache);
  if (!text || !*text) return;
  std::istringstream lines(**text);
  std::string key;
  std::string hex;
  while (lines >> key >> hex) {
    if (const auto digest = Digest::from_hex(hex)) known_.emplace(key, *digest);
  }
}

void Contents::remember() {
  if (!learned_ || state_dir_.empty()) return;
  learned_ = false;
  if (known_.size() > most_known) known_.clear();
  std::string text;
  for (const auto& [key, digest] : known_) text += fmt::format("{} {}\n", key, digest.hex());
  // A cache: nothing is lost when it cannot be written.
  static_cast<void>(sys::replace_file_unsynced(path(), text, 0600));
}

}  // namespace cordon::plan
