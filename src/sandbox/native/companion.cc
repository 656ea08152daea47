#include "sandbox/native/companion.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "sys/clone.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

/// A kernel starts it where its parent runs, and lets it wait there, beside an idle processor, until the parent pauses:
/// most of a millisecond. Not having moved it costs nothing but that, so trouble is no error.
void move_to_another_processor(long pid) {
  std::uint64_t allowed[16] = {};  // 1,024 of them
  unsigned here = 0;
  if (raw::call(SYS_getcpu, raw::address(&here), 0, 0) < 0 || here >= 64 * 16) return;
  if (raw::call(SYS_sched_getaffinity, 0, sizeof allowed, raw::address(allowed)) < 0) return;
  allowed[here / 64] &= ~(std::uint64_t{1} << here % 64);
  raw::call(SYS_sched_setaffinity, pid, sizeof allowed, raw::address(allowed));
}

}  // namespace

bool Companion::start(Child& child) {
  long paired = raw::call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, raw::address(ends_));
  if (!child.ok(paired, "socketpair for a companion")) return false;
  CloneArguments arguments;
  arguments.flags = CLONE_VM;
  arguments.stack = reinterpret_cast<std::uint64_t>(stack_);
  arguments.stack_size = sizeof stack_;
  const long pid = cordon_clone3_call(&arguments, sizeof arguments, live, this);
  if (!child.ok(pid, "clone3 for a companion")) return false;
  if (entry_.moved == nullptr) move_to_another_processor(pid);
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
