// Children that share their parent's memory until they exec: starting one costs the same from a small process and from
// one that holds gigabytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sys {

/// The kernel's struct clone_args, all fields of version 2.
struct CloneArguments {
  std::uint64_t flags = 0;
  std::uint64_t pidfd = 0;
  std::uint64_t child_tid = 0;
  std::uint64_t parent_tid = 0;
  std::uint64_t exit_signal = 0;
  std::uint64_t stack = 0;
  std::uint64_t stack_size = 0;
  std::uint64_t tls = 0;
  std::uint64_t set_tid = 0;
  std::uint64_t set_tid_size = 0;
  std::uint64_t cgroup = 0;
};

/// clone3 with a stack of the child's own; `entry(argument)` runs in the child and must not return. The child shares
/// the caller's thread-local storage: it must not touch errno, locks or the heap. Returns the pid or −errno.
extern "C" long cordon_clone3_call(const CloneArguments* arguments, std::size_t size, void (*entry)(void*),
                                   void* argument);

/// Memory for such a child's stack, with a guard page below. It must outlive the child's exec.
class ChildStack {
 public:
  static Result<ChildStack> create(std::size_t bytes);
  ChildStack(ChildStack&& other) noexcept;
  ChildStack& operator=(ChildStack&& other) noexcept;
  ChildStack(const ChildStack&) = delete;
  ChildStack& operator=(const ChildStack&) = delete;
  ~ChildStack();

  std::uint64_t base() const;
  std::uint64_t size() const;

 private:
  ChildStack(void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  void* memory_;
  std::size_t bytes_;
};

}  // namespace cordon::sys
