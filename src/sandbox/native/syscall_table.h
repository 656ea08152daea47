// Every system call that Linux has, what the sandbox answers to it, and why. Data only: filter.cc makes programs of it.
#pragma once

#include <cstdint>
#include <span>

namespace cordon::sandbox::native {

enum class Architecture : std::uint8_t { x86_64, aarch64 };

/// How one call is judged. The last group looks at arguments; filter_rules.cc says how.
enum class Rule : std::uint8_t {
  allow,
  deny,    // EPERM: known and refused
  absent,  // ENOSYS: known, and answered as by a kernel that lacks it, because programs then fall back

  ipc,        // allowed in an own IPC namespace
  debugging,  // allowed where debuggers are

  mode_in_1,  // a file mode in argument 1, counted from 0, must not carry setuid or setgid
  mode_in_2,
  open_mode,    // open(path, flags, mode): the same, if it creates
  openat_mode,  // openat(directory, path, flags, mode)
  clone_flags,
  own_limits,
  socket_family,
  socketpair_family,
  ioctl_request,
  prctl_option,
  arch_prctl_code,
  personality_value,
  seccomp_operation,
};

struct SyscallRow {
  const char* name;
  std::int16_t x86_64;  // -1: there is none
  std::int16_t aarch64;
  Rule rule;
  const char* why;

  int number(Architecture architecture) const;
};

std::span<const SyscallRow> syscall_table();

/// Null for a number that Linux does not have.
const SyscallRow* find_syscall(Architecture architecture, std::uint32_t number);

}  // namespace cordon::sandbox::native
