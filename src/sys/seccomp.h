// Loading seccomp filters, and answering the calls that a filter hands to a listener.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sys {

/// What a filter says to one call: the decoded return value of its program.
struct SeccompAnswer {
  enum class Kind { allow, error, kill_process, notify, other };
  Kind kind;
  int error = 0;  // for Kind::error

  static constexpr SeccompAnswer allow() { return {Kind::allow}; }
  static constexpr SeccompAnswer fail_with(int error) { return {Kind::error, error}; }
  static constexpr SeccompAnswer kill_process() { return {Kind::kill_process}; }
  static constexpr SeccompAnswer notify() { return {Kind::notify}; }
  static SeccompAnswer decode(std::uint32_t returned);
  std::uint32_t encode() const;
  bool operator==(const SeccompAnswer&) const = default;
};

/// Binds the calling thread and all its later children, for ever. no_new_privs must be set before.
/// Allocates nothing unless it fails, so it may be called between vfork and exec.
Result<void> install_filter(std::span<const sock_filter> program);

/// The same for a program that answers some calls with notify(). The returned listener belongs into another process:
/// whoever is bound by the filter must not hold it, and when nobody holds it those calls fail with ENOSYS.
Result<Fd> install_filter_with_listener(std::span<const sock_filter> program);

/// A call that waits for an answer.
struct SeccompNotification {
  std::uint64_t id;
  std::uint32_t pid;  // of the caller, as seen from the listener's pid namespace
  seccomp_data call;
};

/// The next call; nothing if its maker died meanwhile. Blocks: poll the listener for POLLIN first.
Result<std::optional<SeccompNotification>> receive_notification(int listener);

/// Whether the caller still waits. What was read from its memory before counts only if it does.
bool still_waiting(int listener, std::uint64_t id);

/// Refuses the call. There is deliberately no way to let it continue: its arguments in memory could change in between.
Result<void> refuse_call(int listener, std::uint64_t id, int error);

/// The text at an address of another process, up to a zero or `limit` bytes; empty if it can't be read. The process may
/// change it at any time: good for reports, never for decisions.
std::string read_text_of(int pid, std::uint64_t address, std::size_t limit);

}  // namespace cordon::sys
