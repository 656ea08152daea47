#include "sandbox/native/companion.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "sys/clone.h"

namespace cordon::sandbox::native {

using namespace sys;

bool Companion::start(Child& child) {
  long paired = raw::call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, raw::address(ends_));
  if (!child.ok(paired, "socketpair for a companion")) return false;
  CloneArguments arguments;
  arguments.flags = CLONE_VM;
  arguments.stack = reinterpret_cast<std::uint64_t>(stack_);
  arguments.stack_size = sizeof stack_;
  if (!child.ok(cordon_clone3_call(&arguments, sizeof arguments, live, this), "clone3 for a companion")) return false;
  // Only it has that end now: pid 1 sees when it is gone.
  raw::close(ends_[1]);
  return true;
}

long Companion::hand_over(int ruleset, int terminal) const {
  Joint joint{joint_magic, 0};
  int descriptors[2];
  unsigned count = 0;
  const auto add = [&](int descriptor, JointFlags what) {
    if (descriptor < 0) return;
    joint.flags |= what;
    descriptors[count++] = descriptor;
  };
  add(ruleset, joint_ruleset);
  add(terminal, joint_terminal);
  iovec bytes{&joint, sizeof joint};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof descriptors)] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (count > 0) {
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (unsigned i = 0; i < count; ++i) reinterpret_cast<int*>(CMSG_DATA(header))[i] = descriptors[i];
  }
  return raw::call(SYS_sendmsg, ends_[1], raw::address(&message), MSG_NOSIGNAL);
}

void Companion::live(void* self) {
  auto* companion = static_cast<Companion*>(self);
  bool good = companion->work_(*companion);
  if (good) {
    Child own(*companion->entry_.blueprint, *companion->entry_.companion_notes);
    good = own.ok(raw::umount("/.host", MNT_DETACH), "let the host's files go") && own.done("umount");
  }
  for (;;) raw::call(SYS_exit, good ? 0 : 1);
}

}  // namespace cordon::sandbox::native
