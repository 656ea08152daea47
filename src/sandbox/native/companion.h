// What the kernel makes one wait for, done by a second process beside the child. A new network namespace costs as much
// as all the mounts together, so one makes it while the other mounts; and letting the host's mounts go waits for every
// processor, so nobody waits for that before the program is about to start.
#pragma once

#include <cstdint>

#include "sandbox/native/child.h"

namespace cordon::sandbox::native {

/// The second process, and what it and the child say to each other through the memory they share. It stays after the
/// child became pid 1, which starts nothing before this one is gone, and nothing at all if it failed (pid1.cpp).
class Companion {
 public:
  using Work = bool (*)(Child& child);

  explicit Companion(const Blueprint& blueprint) : own_(blueprint, notes_) {}

  /// Starts it, with something to do beside the child or with nothing.
  bool start(Child& child, Work work);
  /// Waits until that is done; false, and noted, when it failed.
  bool join(Child& child);
  /// Tells it to let the host's files go.
  void detach_host();

 private:
  static void live(void* self);

  ChildNotes notes_;
  Child own_;
  Work work_ = nullptr;
  bool worked_ = true;
  std::uint32_t done_ = 0;    // futex: 1 when its work is done or has failed
  std::uint32_t sealed_ = 0;  // futex: 1 when nothing of the host is needed any more
  alignas(16) char stack_[48 * 1024];
};

}  // namespace cordon::sandbox::native
