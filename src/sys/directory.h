// One directory of our own, held open: every name below it is resolved from the descriptor and never through a symlink.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sys {

enum class Create { if_absent, must };
/// Whether there was room. A full disk is not the same as a broken one: what was written before is still sound.
enum class Space { enough, full };
enum class Lock { shared, exclusive };

class Directory {
 public:
  /// The directory must exist.
  static Result<Directory> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string path_of(std::string_view name) const;

  Result<std::optional<Fd>> open_read(const std::string& name) const;
  /// Regular file, 0600, for appending and reading.
  Result<Fd> open_append(const std::string& name, Create create) const;
  /// Regular file, 0600, for writing at offsets and reading.
  Result<Fd> open_update(const std::string& name, Create create) const;
  Result<std::optional<std::string>> read(const std::string& name, std::size_t limit) const;
  /// Readers see the old content or the new. The content is durable before it gets its name; the name itself is durable
  /// after sync().
  Result<void> replace(const std::string& name, std::string_view bytes, unsigned mode) const;
  /// Readers see the old content or the new while the machine stays up. For caches only.
  Result<void> replace_cached(const std::string& name, std::string_view bytes) const;
  Result<void> rename(const std::string& from, const std::string& to) const;
  /// Fails with Fault::conflict when `to` exists.
  Result<void> rename_new(const std::string& from, const std::string& to) const;
  /// A name that is not there is not an error.
  Result<void> remove(const std::string& name) const;
  Result<void> make_directory(const std::string& name) const;
  Result<void> remove_directory(const std::string& name) const;
  Result<bool> has(const std::string& name) const;
  /// Whether `name` still is the file that was opened as `file`, and not another one in its place.
  Result<bool> is(const std::string& name, const Fd& file) const;
  /// Names of everything but "." and "..", sorted.
  Result<std::vector<std::string>> list() const;
  Result<std::optional<std::vector<std::string>>> list(const std::string& name) const;
  Result<void> sync() const;

 private:
  Directory(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Result<void> replace(const std::string& name, std::string_view bytes, unsigned mode, bool durable) const;
  std::string path_;
  Fd fd_;
};

/// `name` is for the error's sentence.
Result<Space> append_all(const Fd& file, std::string_view bytes, const std::string& name);
Result<void> pwrite_all(const Fd& file, std::string_view bytes, std::uint64_t offset, const std::string& name);
/// Fewer bytes than asked for only at the end of the file.
Result<std::string> pread_all(const Fd& file, std::uint64_t offset, std::size_t length, const std::string& name);
Result<std::uint64_t> size_of(const Fd& file, const std::string& name);
Result<void> fdatasync(const Fd& file, const std::string& name);
Result<void> ftruncate(const Fd& file, std::uint64_t size, const std::string& name);
/// Takes the blocks now, so that they are there later.
Result<Space> fallocate(const Fd& file, std::uint64_t size, const std::string& name);

/// Waits for the lock; it is held until the file is closed or unlock is called.
Result<void> flock(const Fd& file, Lock lock, const std::string& name);
/// Does not wait: false when another holds it.
Result<bool> try_flock(const Fd& file, const std::string& name);
Result<void> unlock(const Fd& file, const std::string& name);

/// Differs after each start of the machine; empty where the kernel does not tell.
std::string boot_id();

}  // namespace cordon::sys
