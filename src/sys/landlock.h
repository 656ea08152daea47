// Landlock: what files, ports and scopes this process and its children may still reach. All that ABI 7 (Linux 6.15)
// offers; the numbers are our own because Debian's headers know ABI 2 only.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sys {

namespace landlock {

// Rights on files. In the kernel's order, with the ABI that brought them.
enum Files : std::uint64_t {
  execute = 1u << 0,
  write_file = 1u << 1,
  read_file = 1u << 2,
  read_directory = 1u << 3,
  remove_directory = 1u << 4,
  remove_file = 1u << 5,
  make_character_device = 1u << 6,
  make_directory = 1u << 7,
  make_regular = 1u << 8,
  make_socket = 1u << 9,
  make_fifo = 1u << 10,
  make_block_device = 1u << 11,
  make_symlink = 1u << 12,
  refer = 1u << 13,         // ABI 2: link or rename into another directory
  truncate = 1u << 14,      // ABI 3
  ioctl_device = 1u << 15,  // ABI 5
};

enum Network : std::uint64_t { bind_tcp = 1u << 0, connect_tcp = 1u << 1 };  // ABI 4

/// What a domain may not reach outside of itself. ABI 6.
enum Scopes : std::uint64_t { abstract_unix_socket = 1u << 0, signal = 1u << 1 };

/// Rights, as masks of the numbers above.
struct Rights {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
  bool operator==(const Rights&) const = default;
};

/// The rights that make sense on something that is not a directory; the kernel refuses others in a rule for it.
constexpr std::uint64_t file_rights = execute | write_file | read_file | truncate | ioctl_device;

/// Everything that an ABI can restrict. 0: Landlock is not there.
Rights offered_by(int abi);

}  // namespace landlock

/// The ABI of the running kernel; 0 without Landlock.
int landlock_abi();

/// A set of exceptions from what is otherwise denied. May be made once and used by many children: restrict_self only
/// needs the descriptor.
class LandlockRuleset {
 public:
  /// Everything in `handled` is denied but for what is allowed below. The kernel must offer all of it.
  static Result<LandlockRuleset> create(const landlock::Rights& handled);

  /// Rights beneath a directory, or on one file. Those that are not handled, or not for a file, are left out.
  Result<void> allow_path(int path, std::uint64_t rights);
  Result<void> allow_port(std::uint16_t port, std::uint64_t rights);

  /// Binds the calling thread and its later children, for ever. no_new_privs must be set before, mounts done.
  /// Allocates nothing unless it fails, so it may be called between vfork and exec.
  Result<void> restrict_self() const;

  const landlock::Rights& handled() const { return handled_; }
  int fd() const { return ruleset_.get(); }

 private:
  LandlockRuleset(Fd ruleset, landlock::Rights handled) : ruleset_(std::move(ruleset)), handled_(handled) {}
  Fd ruleset_;
  landlock::Rights handled_;
};

}  // namespace cordon::sys
