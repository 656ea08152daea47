#include "sandbox/native/companion.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mount.h>

#include "sandbox/native/child.h"
#include "sys/clone.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

void raise(std::uint32_t& flag) {
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  raw::call(SYS_futex, raw::address(&flag), FUTEX_WAKE, 1);
}

void wait_for(const std::uint32_t& flag) {
  while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0) raw::call(SYS_futex, raw::address(&flag), FUTEX_WAIT, 0, 0);
}

}  // namespace

bool Companion::start(Child& child) {
  if (child.plan.network_namespace < 0) {
    const char* place = child.plan.skeleton_ready ? "/.host/proc" : "/proc";
    long proc = raw::open(AT_FDCWD, place, O_PATH | O_DIRECTORY);
    if (!child.ok(proc, "open", place)) return false;
    proc_ = static_cast<int>(proc);
  }
  CloneArguments arguments;
  arguments.flags = CLONE_VM | CLONE_FILES;
  arguments.stack = reinterpret_cast<std::uint64_t>(stack_);
  arguments.stack_size = sizeof stack_;
  return child.ok(cordon_clone3_call(&arguments, sizeof arguments, work, this), "clone3 for a companion");
}

long Companion::network() const {
  wait_for(made_);
  return network_;
}

void Companion::detach_host() { raise(sealed_); }

long Companion::make_network() const {
  if (long result = raw::call(SYS_unshare, CLONE_NEWNET); result < 0) return result;
  // By its own hand: another process may open it only where this one can be traced, and ours cannot when root started
  // it.
  return raw::open(proc_, "self/ns/net", O_RDONLY);
}

void Companion::work(void* self) {
  auto* own = static_cast<Companion*>(self);
  if (own->proc_ >= 0) {
    own->network_ = own->make_network();
    raw::close(own->proc_);
    raise(own->made_);
  }
  wait_for(own->sealed_);
  const long detached = raw::umount("/.host", MNT_DETACH);
  for (;;) raw::call(SYS_exit, detached == 0 ? 0 : 1);
}

}  // namespace cordon::sandbox::native
