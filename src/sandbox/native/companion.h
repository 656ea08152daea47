// What the kernel makes one wait for, done by a second process beside the child: a new network namespace costs as much
// as all the mounts together, and letting the host's mounts go waits for every processor.
#pragma once

#include <cstdint>

namespace cordon::sandbox::native {

class Child;

/// The second process, and what it and the child say to each other through the memory they share. It stays after the
/// child became pid 1, which starts nothing before this one is gone, and nothing at all if it failed (pid1.cpp).
class Companion {
 public:
  /// Starts it. It begins with a network namespace, unless a prepared one was given.
  bool start(Child& child);
  /// A descriptor of the namespace that it made, once it is there, or the error. Both share their table of files.
  long network() const;
  /// Tells it to let the host's files go.
  void detach_host();

 private:
  static void work(void* self);
  long make_network() const;

  int proc_ = -1;  // −1: no network to make
  long network_ = 0;
  std::uint32_t made_ = 0;    // futex: 1 when the namespace is there or has failed
  std::uint32_t sealed_ = 0;  // futex: 1 when the child needs nothing of the host any more
  alignas(16) char stack_[8192];
};

}  // namespace cordon::sandbox::native
