// The second process of a start. The child isolates itself and becomes pid 1 at once; beside it, its companion makes
// what the sandbox sees, hands pid 1 what it made, lets the host's files go, and is gone before anything is started.
// So neither waits for the other's slowest call: a new network namespace costs as much as all the mounts together, and
// a sandbox that is begun ahead (zygote.h) has nothing left to do but the mounts that nobody could know before.
#pragma once

#include "sandbox/native/child.h"
#include "sandbox/native/pid1/orders.h"

namespace cordon::sandbox::native {

/// Shares memory with the launcher and the child, but has descriptors and credentials of its own.
class Companion {
 public:
  /// Nothing but the sandbox's own files is to be left when it is done, but for the host's at /.host.
  using Work = bool (*)(Companion& companion);

  Companion(const ChildEntry& entry, Work work) : entry_(entry), work_(work) {}

  /// Starts it, with copies of the child's descriptors.
  bool start(Child& child);
  /// The child's end of the socket over which pid 1 is given what the companion made.
  int joint() const { return ends_[0]; }

  // For its work.
  const ChildEntry& entry() const { return entry_; }
  /// −1: there is none.
  long hand_over(int ruleset, int terminal) const;

 private:
  static void live(void* self);

  const ChildEntry& entry_;
  Work work_;
  int ends_[2] = {-1, -1};
  alignas(16) char stack_[48 * 1024];
};

}  // namespace cordon::sandbox::native
