// Files of our own, and files of strangers read with care.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sys {

/// The text of errno: "Permission denied".
std::string errno_text(int number);

/// Opens a regular file for reading. A directory, device, socket or FIFO is refused without blocking on it.
Result<Fd> open_regular(const std::string& path);
/// The same, where nothing means that there is no such file.
Result<std::optional<Fd>> open_regular_if_exists(const std::string& path);

/// Reads to the end; more than `limit` bytes is an error, not a cut.
Result<std::string> read_all(const Fd& file, const std::string& name, std::size_t limit);
Result<std::string> read_file(const std::string& path, std::size_t limit);
Result<std::optional<std::string>> read_file_if_exists(const std::string& path, std::size_t limit);

Result<void> write_all(const Fd& file, const std::string& name, std::string_view bytes);
/// Readers see the old content or the new, also after a crash: temporary file, fsync, rename, fsync of the directory.
Result<void> replace_file(const std::string& path, std::string_view bytes, unsigned mode);
/// The same without the wait for the disk: readers see the old content or the new while the machine stays up.
Result<void> replace_file_unsynced(const std::string& path, std::string_view bytes, unsigned mode);
/// Fails when the file exists.
Result<void> create_file(const std::string& path, std::string_view bytes, unsigned mode);

/// Makes a directory and its missing parents, all with mode 0700; an existing one must belong to us and not be
/// writable by others.
Result<void> ensure_private_directory(const std::string& path);

/// Held until it is destroyed. `path` is created empty (0600) when missing.
class FileLock {
 public:
  static Result<FileLock> take(const std::string& path);
  /// Nothing: another holds it.
  static Result<std::optional<FileLock>> try_take(const std::string& path);

 private:
  explicit FileLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

}  // namespace cordon::sys
