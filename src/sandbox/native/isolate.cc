#include "sandbox/native/isolate.h"

#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>

#include "sandbox/native/capabilities.h"
#include "sandbox/native/child.h"
#include "sandbox/native/companion.h"
#include "sandbox/native/dev.h"
#include "sandbox/native/landlock_domain.h"
#include "sandbox/native/mounts.h"
#include "sandbox/native/network.h"
#include "sandbox/native/passed_fd.h"
#include "sandbox/native/pid1/orders.h"
#include "sandbox/native/proc.h"
#include "sandbox/native/scratch.h"
#include "sandbox/native/user_namespace.h"
#include "sandbox/native/workspace.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

bool die_with_launcher(Child& child) {
  const Blueprint& plan = child.plan;
  // Without a pid namespace pid 1 must outlive its launcher just long enough to kill everybody else.
  if (!plan.weakened.parent_death_signal() && plan.ladder.namespaces) {
    if (!child.ok(raw::prctl(PR_SET_PDEATHSIG, SIGKILL), "PR_SET_PDEATHSIG")) return false;
  }
  // The launcher may have died before: then nobody holds the other end of the control socket.
  pollfd end{plan.control, 0, 0};
  timespec at_once{};
  raw::call(SYS_ppoll, raw::address(&end), 1, raw::address(&at_once), 0, 8);
  return child.ok((end.revents & (POLLHUP | POLLERR)) ? -EPIPE : 0, "launcher is gone");
}

bool name_host(Child& child) {
  if (!child.ok(raw::call(SYS_sethostname, raw::address("sandbox"), 7), "sethostname")) return false;
  return child.ok(raw::call(SYS_setdomainname, raw::address("(none)"), 6), "setdomainname");
}

/// The launcher's session keyring may hold secrets. Kernels without keyrings have nothing to leave behind.
bool leave_keyring(Child& child) {
  long result = raw::call(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0);
  return result == -ENOSYS || child.ok(result, "join a new session keyring");
}

/// The launcher gets the one end; the other is the program's.
bool open_terminal(Child& child, int& slave) {
  slave = -1;
  if (!child.plan.tty) return true;
  long master = raw::open(AT_FDCWD, "/dev/pts/ptmx", O_RDWR | O_NOCTTY);
  if (!child.ok(master, "open", "/dev/pts/ptmx")) return false;
  int unlock = 0;
  if (!child.ok(raw::call(SYS_ioctl, master, TIOCSPTLCK, raw::address(&unlock)), "unlock pty")) return false;
  long opened = raw::call(SYS_ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (!child.ok(opened, "open the pty's other end")) return false;
  slave = static_cast<int>(opened);
  long sent = send_descriptor(child.plan.control, PassedFd::terminal, static_cast<int>(master));
  raw::close(master);
  return child.ok(sent, "hand over the pty");
}

/// Of the process with this pid; 0: of the caller.
bool limit_resources(Child& child, long pid) {
  if (child.plan.weakened.rlimits()) return true;
  for (const ResourceLimit& limit : child.plan.limits) {
    const std::uint64_t wanted[2] = {limit.soft, limit.hard};
    long result = raw::call(SYS_prlimit64, pid, limit.resource, raw::address(wanted), 0);
    if (result == -EPERM) {
      // A hard limit that is already lower stays.
      std::uint64_t old[2] = {};
      raw::call(SYS_prlimit64, pid, limit.resource, 0, raw::address(old));
      const std::uint64_t lower[2] = {limit.soft < old[1] ? limit.soft : old[1],
                                      limit.hard < old[1] ? limit.hard : old[1]};
      result = raw::call(SYS_prlimit64, pid, limit.resource, raw::address(lower), 0);
    }
    if (!child.ok(result, "setrlimit")) return false;
  }
  return true;
}

/// 0 to 2 as given, 3 for pid 1's control, 4 for its image until it is executed, 5 for what the companion makes;
/// nothing else. What is not given yet is kept by the image, which anybody may read.
bool keep_only_own_descriptors(Child& child, int joint) {
  const Blueprint& plan = child.plan;
  constexpr int above = 8;
  constexpr int most = 6;
  const auto or_image = [&](int given) { return given >= 0 && !plan.tty ? given : plan.pid1_image; };
  const int wanted[most] = {or_image(plan.input), or_image(plan.output), or_image(plan.error),
                            plan.control,         plan.pid1_image,       joint};
  const int count = joint >= 0 ? most : most - 1;
  long moved[most];
  for (int i = 0; i < count; ++i) {
    moved[i] = raw::call(SYS_fcntl, wanted[i], F_DUPFD_CLOEXEC, above);
    if (!child.ok(moved[i], "dup")) return false;
  }
  for (int i = 0; i < count; ++i) {
    long result = raw::call(SYS_dup3, moved[i], i, i == control_fd + 1 ? O_CLOEXEC : 0);
    if (!child.ok(result, "dup3")) return false;
  }
  if (plan.weakened.fd_closing()) return true;
  return child.ok(raw::call(SYS_close_range, count, ~0U, 0), "close_range");
}

bool enter_seccomp(Child& child) {
  const Blueprint& plan = child.plan;
  if (plan.weakened.seccomp()) return true;
  struct {
    unsigned short length;
    const sock_filter* filter;
  } program{static_cast<unsigned short>(plan.filter.size()), plan.filter.data()};
  const long flags = plan.filter_has_listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
  long result = raw::call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, raw::address(&program));
  if (!child.ok(result, "seccomp")) return false;
  if (!plan.filter_has_listener) return true;
  long sent = send_descriptor(control_fd, PassedFd::listener, static_cast<int>(result));
  raw::close(result);
  return child.ok(sent, "hand over the seccomp listener");
}

bool become(Child& child) {
  // The launcher's ends: while we hold them ourselves, we would never see it go.
  for (int end : {child.plan.launcher_control, child.plan.launcher_go}) {
    if (end >= 0) raw::close(end);
  }
  // Before the first wait, and again because a change of user clears it.
  return die_with_launcher(child) && become_user(child) && die_with_launcher(child) && child.done("id maps");
}

/// What is the same whatever the sandbox becomes, but for the size of its memory.
bool build(Child& child) {
  return build_root(child) && child.done("root tree") &&   //
         build_dev(child) && child.done("/dev") &&         //
         mount_proc(child) && child.done("/proc") &&       //
         mount_devpts(child) && child.done("/dev/pts") &&  //
         mount_scratch(child) && child.done("memory");
}

bool furnish(Child& child) {
  return place_scratch(child) && child.done("/tmp, HOME") &&      //
         place_trees(child) && child.done("workspace, binds") &&  //
         seal_root(child);
}

/// One that is begun ahead waits here; false when the launcher is gone instead.
bool told_to_go_on() {
  pollfd wanted[2] = {{waiting_go, POLLIN, 0}, {waiting_control, 0, 0}};
  while (raw::call(SYS_ppoll, raw::address(wanted), 2, 0, 0, 8) == -EINTR) continue;
  return (wanted[0].revents & POLLIN) != 0;
}

/// What the sandbox sees, its limits and its second lock: all that pid 1 waits for. By the companion.
bool surround(Companion& companion) {
  const ChildEntry& entry = companion.entry();
  const bool begun_ahead = entry.moved != nullptr;
  Child early(*entry.blueprint, *entry.companion_notes);
  if (!build(early)) return false;
  if (begun_ahead && !told_to_go_on()) return false;
  Child child(*entry.blueprint, *entry.companion_notes);
  child.host = early.host;
  if (begun_ahead && !furnish_network(child)) return false;
  if (child.plan.scratch_options != early.plan.scratch_options && !mount_scratch(child)) return false;
  constexpr long pid1 = 1;
  int terminal = -1;
  int ruleset = -1;
  return furnish(child) && open_terminal(child, terminal) &&                 //
         (!begun_ahead || limit_resources(child, pid1)) &&                   //
         make_landlock_ruleset(child, ruleset) && child.done("landlock") &&  //
         child.ok(companion.hand_over(ruleset, terminal), "hand over to pid 1");
}

/// Names and network of its own; the mounts are made beside it. One that is begun ahead has its network before, so that
/// the companion is in it, too.
bool move_out(Child& child, Companion& companion) {
  const bool begun_ahead = companion.entry().moved != nullptr;
  if (begun_ahead && !enter_network(child)) return false;
  if (!companion.start(child) || !name_host(child)) return false;
  return (begun_ahead || (enter_network(child) && furnish_network(child))) && child.done("network");
}

/// Without namespaces there is no companion: nothing is mounted.
bool bind_itself(Child& child) {
  return child.plan.ladder.namespaces || (enter_landlock(child) && child.done("landlock"));
}

/// After the last descriptor above the limit of their number. One that is begun ahead does not know its limits yet.
bool limit_itself(Child& child, const Companion& companion) {
  return companion.entry().moved != nullptr || limit_resources(child, 0);
}

/// The order of isolation. Each step needs what the ones before it left, and takes away something that they needed.
bool isolate(Child& child, Companion& companion) {
  return become(child) && (!child.plan.ladder.namespaces || move_out(child, companion)) &&  //
         leave_keyring(child) && keep_only_own_descriptors(child, companion.joint()) &&
         limit_itself(child, companion) && child.done("fds, rlimits") &&  //
         drop_capabilities(child) && child.done("capabilities") &&        //
         bind_itself(child) &&                                            //
         enter_seccomp(child) && child.done("seccomp");
}

/// It may wait for long: what it holds of the launcher's descriptors would not close meanwhile.
bool hold_only(Child& child, const int* given) {
  constexpr int above = 64;
  long moved[waiting_descriptors];
  for (int i = 0; i < waiting_descriptors; ++i) {
    moved[i] = raw::call(SYS_fcntl, given[i], F_DUPFD_CLOEXEC, above);
    if (!child.ok(moved[i], "dup")) return false;
  }
  for (int i = 0; i < waiting_descriptors; ++i) {
    if (!child.ok(raw::call(SYS_dup3, moved[i], i, O_CLOEXEC), "dup3")) return false;
  }
  return child.ok(raw::call(SYS_close_range, waiting_descriptors, ~0U, 0), "close_range");
}

[[noreturn]] void break_off() {
  for (;;) raw::call(SYS_exit_group, 125);
}

[[noreturn]] void become_pid1(Child& child) {
  const char* helped = child.plan.ladder.namespaces ? with_companion : nullptr;
  const char* arguments[] = {"cordon-pid1", helped, nullptr};
  const char* environment[] = {nullptr};
  long result = raw::call(SYS_execveat, control_fd + 1, raw::address(""), raw::address(arguments),
                          raw::address(environment), AT_EMPTY_PATH);
  child.ok(result, "execute pid 1");
  break_off();
}

}  // namespace

void isolate_and_become_pid1(void* entry) {
  auto* given = static_cast<ChildEntry*>(entry);
  Child child(*given->blueprint, *given->notes);
  child.done("clone");
  Companion companion(*given, surround);
  if (given->moved != nullptr && !hold_only(child, given->moved)) break_off();
  if (isolate(child, companion)) become_pid1(child);
  break_off();
}

bool build_shared_root(const Blueprint& blueprint, ChildNotes& notes) {
  Child child(blueprint, notes);
  if (!build_root(child) || !build_dev(child)) return false;
  raw::close(child.host);
  const raw::MountAttributes read_only{.set = raw::mount_read_only};
  return child.ok(raw::mount_setattr(AT_FDCWD, "/", 0, read_only), "make the root read-only", "/");
}

}  // namespace cordon::sandbox::native
