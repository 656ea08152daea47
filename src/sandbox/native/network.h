// A network namespace of the sandbox's own. Making one costs as much as all the mounts together, so it is made by a
// second process beside them.
#pragma once

#include <cstdint>

namespace cordon::sandbox::native {

class Child;

/// The second process, and what it and the child say to each other through the memory they share.
class NetworkMaker {
 public:
  explicit NetworkMaker(Child& child) : child_(child) {}

  /// Starts making it, unless a prepared one was given.
  bool start();
  /// Enters it, once it is there, brings loopback up if that was asked for, and hands out the socket on which the
  /// network proxy listens, so that nothing of ours needs to be inside. The second process is gone then.
  bool join();

 private:
  static void make(void* self);
  bool raise_loopback();
  bool open_proxy_socket();
  bool hand_out_namespace(int descriptor);

  Child& child_;
  int proc_ = -1;
  long pid_ = -1;
  std::uint32_t made_ = 0;      // futex: 1 when the namespace is there or has failed
  std::uint32_t released_ = 0;  // futex: 1 when the child has entered
  long result_ = 0;             // a descriptor of the namespace: both share their table of files
  alignas(16) char stack_[8192];
};

}  // namespace cordon::sandbox::native
