#include "sandbox/native/capabilities.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>

#include <cerrno>

#include "sandbox/native/child.h"

namespace cordon::sandbox::native {

using namespace sys;

bool drop_capabilities(Child& child) {
  // Also with capabilities kept (a test), since Landlock and seccomp ask for it.
  if (!child.ok(raw::prctl(PR_SET_NO_NEW_PRIVS, 1), "no_new_privs")) return false;
  if (child.plan.weakened.capabilities()) return true;
  constexpr long locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                          SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                          SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  long set = raw::prctl(PR_SET_SECUREBITS, locked);
  // A plain user without a namespace of its own (L4) has no capability to do this with, and none to lose.
  const bool plain_user = !child.plan.ladder.user_namespace && !child.plan.started_by_root;
  if (!(plain_user && set == -EPERM) && !child.ok(set, "securebits")) return false;
  // The bounding set is dropped one by one only because tools and people look at it; no_new_privs and securebits
  // already leave no way to gain from it.
  for (int capability = 0; capability < 64; ++capability) {
    if (raw::prctl(PR_CAPBSET_DROP, capability) < 0) break;
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return child.ok(raw::call(SYS_capset, raw::address(&header), raw::address(none)), "capset");
}

}  // namespace cordon::sandbox::native
