#include "sandbox/native/companion.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mount.h>

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

bool Companion::start(Child& child, Work work) {
  work_ = work;
  child.lend_notes(notes_);
  CloneArguments arguments;
  arguments.flags = CLONE_VM | CLONE_FILES;
  arguments.stack = reinterpret_cast<std::uint64_t>(stack_);
  arguments.stack_size = sizeof stack_;
  return child.ok(cordon_clone3_call(&arguments, sizeof arguments, live, this), "clone3 for a companion");
}

bool Companion::join(Child& child) {
  wait_for(done_);
  child.take_notes(notes_);
  if (!worked_) return false;
  // Its pivot_root moved our root as well, but not a working directory elsewhere on the host.
  return child.ok(raw::call(SYS_chdir, raw::address("/")), "chdir", "/");
}

void Companion::detach_host() { raise(sealed_); }

void Companion::live(void* self) {
  auto* companion = static_cast<Companion*>(self);
  if (companion->work_) {
    companion->worked_ = companion->work_(companion->own_);
    raise(companion->done_);
  }
  wait_for(companion->sealed_);
  const long detached = raw::umount("/.host", MNT_DETACH);
  for (;;) raw::call(SYS_exit, detached == 0 ? 0 : 1);
}

}  // namespace cordon::sandbox::native
