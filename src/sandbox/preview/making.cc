#include "sandbox/preview/making.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/text.h"
#include "sys/file.h"

namespace cordon::sandbox::preview {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_at_once = 16;
constexpr std::size_t longest_reason = 1000;

bool is_plain(std::string_view approval) {
  return !approval.empty() && approval.size() <= 64 && std::ranges::all_of(approval, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Of the open file and not of the process: it goes where the descriptor goes.
bool take_lock(const sys::Fd& file) {
  struct flock lock = whole_file(F_WRLCK);
  return ::fcntl(file.get(), F_OFD_SETLK, &lock) == 0;
}

bool is_locked(const sys::Fd& file) {
  struct flock lock = whole_file(F_RDLCK);
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// Whether the name still leads to this file.
bool is_at(const sys::Fd& file, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(file.get(), &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

bool is_being_made(const std::string& path) {
  const auto file = sys::open_regular_if_exists(path);
  return file && *file && is_locked(**file);
}

std::size_t count_being_made(const std::string& directory) {
  std::error_code error;
  std::size_t count = 0;
  for (const auto& item : fs::directory_iterator(directory, error)) count += is_being_made(item.path()) ? 1 : 0;
  return count;
}

}  // namespace

Result<std::optional<Making>> Making::begin(const std::string& directory, std::string_view approval) {
  if (!is_plain(approval)) return fail(Fault::internal, "a preview for an entry without a proper id");
  CHECK_OK(sys::ensure_private_directory(directory));
  const std::string path = fmt::format("{}/{}", directory, approval);
  // Its last owner may remove the name between our opening and our locking it.
  for (int attempt = 0; attempt < 8; ++attempt) {
    sys::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return fail(Fault::unavailable, "create {}: {}", path, sys::errno_text(errno));
    if (!take_lock(file)) return std::optional<Making>();
    if (!is_at(file, path)) continue;
    if (::ftruncate(file.get(), 0) != 0) {
      return fail(Fault::unavailable, "truncate {}: {}", path, sys::errno_text(errno));
    }
    Making making(path, std::move(file));
    // Whoever asks for much at once gets it one after the other, and not all of it by itself.
    if (count_being_made(directory) > most_at_once) {
      making.failed("too many previews are being made at once");
      return std::optional<Making>();
    }
    return std::optional(std::move(making));
  }
  return std::optional<Making>();
}

Result<Making> Making::adopt(const std::string& directory, std::string_view approval, sys::Fd file) {
  if (!is_plain(approval)) return fail(Fault::internal, "a preview for an entry without a proper id");
  std::string path = fmt::format("{}/{}", directory, approval);
  if (!is_at(file, path) || !take_lock(file)) {
    return fail(Fault::denied, "the descriptor is not that of the preview of {}", approval);
  }
  return Making(std::move(path), std::move(file));
}

void Making::done() {
  if (is_at(file_, path_)) ::unlink(path_.c_str());
}

void Making::failed(std::string_view why) {
  const std::string_view kept = why.empty() ? "for no known reason" : why.substr(0, longest_reason);
  static_cast<void>(::lseek(file_.get(), 0, SEEK_SET));
  static_cast<void>(sys::write_all(file_, path_, kept));
}

Progress progress_of(const std::string& directory, std::string_view approval) {
  if (!is_plain(approval)) return {};
  const std::string path = fmt::format("{}/{}", directory, approval);
  const auto file = sys::open_regular_if_exists(path);
  if (!file || !*file) return {};
  // Looked at before it is read: what is written is written under the lock.
  const bool locked = is_locked(**file);
  const auto why = sys::read_all(**file, path, 2 * longest_reason);
  if (why && !why->empty()) return {Progress::State::impossible, *why};
  return {locked ? Progress::State::being_made : Progress::State::cut_off, ""};
}

void forget_making(const std::string& directory, std::string_view approval) {
  if (!is_plain(approval)) return;
  const std::string path = fmt::format("{}/{}", directory, approval);
  if (!is_being_made(path)) ::unlink(path.c_str());
}

void forget_makings(const std::string& directory, Time before) {
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory, error)) {
    struct stat status {};
    const std::string path = item.path();
    if (::lstat(path.c_str(), &status) != 0) continue;
    const Time changed{std::chrono::duration_cast<Duration>(std::chrono::seconds(status.st_mtim.tv_sec))};
    if (changed < before && !is_being_made(path)) ::unlink(path.c_str());
  }
}

}  // namespace cordon::sandbox::preview
