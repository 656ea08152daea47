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

bool limit_resources(Child& child) {
  if (child.plan.weakened.rlimits()) return true;
  for (const ResourceLimit& limit : child.plan.limits) {
    const std::uint64_t wanted[2] = {limit.soft, limit.hard};
    long result = raw::call(SYS_prlimit64, 0, limit.resource, raw::address(wanted), 0);
    if (result == -EPERM) {
      // A hard limit that is already lower stays.
      std::uint64_t old[2] = {};
      raw::call(SYS_prlimit64, 0, limit.resource, 0, raw::address(old));
      const std::uint64_t lower[2] = {limit.soft < old[1] ? limit.soft : old[1],
                                      limit.hard < old[1] ? limit.hard : old[1]};
      result = raw::call(SYS_prlimit64, 0, limit.resource, raw::address(lower), 0);
    }
    if (!child.ok(result, "setrlimit")) return false;
  }
  return true;
}

/// 0 to 2 as given, 3 for pid 1's control, 4 for its image until it is executed; nothing else.
bool keep_only_own_descriptors(Child& child, int terminal) {
  const Blueprint& plan = child.plan;
  constexpr int above = 64;
  int input = plan.input;
  if (!plan.tty && input < 0) {
    // Opened here: one of the launcher's would be a door to the host's mount of it.
    long null = raw::open(AT_FDCWD, "/dev/null", O_RDONLY);
    if (!child.ok(null, "open", "/dev/null")) return false;
    input = static_cast<int>(null);
  }
  const int wanted[5] = {plan.tty ? terminal : input, plan.tty ? terminal : plan.output,
                         plan.tty ? terminal : plan.error, plan.control, plan.pid1_image};
  long moved[5];
  for (int i = 0; i < 5; ++i) {
    moved[i] = raw::call(SYS_fcntl, wanted[i], F_DUPFD_CLOEXEC, above);
    if (!child.ok(moved[i], "dup")) return false;
  }
  for (int i = 0; i < 5; ++i) {
    long result = raw::call(SYS_dup3, moved[i], i, i == 4 ? O_CLOEXEC : 0);
    if (!child.ok(result, "dup3")) return false;
  }
  if (plan.weakened.fd_closing()) return true;
  return child.ok(raw::call(SYS_close_range, 5, ~0U, 0), "close_range");
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

/// What is the same whatever the sandbox becomes.
bool begin(Child& child, Companion& companion) {
  // The launcher's ends: while we hold them ourselves, we would never see it go.
  for (int end : {child.plan.launcher_control, child.plan.launcher_go}) {
    if (end >= 0) raw::close(end);
  }
  if (child.plan.ladder.namespaces && !companion.start(child)) return false;
  // Before the first wait, and again because a change of user clears it.
  if (!die_with_launcher(child) || !become_user(child) || !die_with_launcher(child) || !child.done("id maps"))
    return false;
  if (!child.plan.ladder.namespaces) return true;
  return name_host(child) &&                              //
         build_root(child) && child.done("root tree") &&  //
         build_dev(child) && child.done("/dev") &&        //
         mount_proc(child) && child.done("/proc") &&      //
         mount_devpts(child) && child.done("/dev/pts");
}

bool finish(Child& child, Companion& companion) {
  int terminal = -1;
  if (child.plan.ladder.namespaces) {
    if (!place_scratch(child) || !child.done("/tmp, HOME")) return false;
    if (!place_trees(child) || !child.done("workspace, binds")) return false;
    if (!seal_root(child)) return false;
    companion.detach_host();
    if (!open_terminal(child, terminal)) return false;
    if (!enter_network(child, companion) || !child.done("wait for the network")) return false;
  }
  return leave_keyring(child) &&                                    //
         keep_only_own_descriptors(child, terminal) &&              //
         limit_resources(child) && child.done("fds, rlimits") &&    //
         drop_capabilities(child) && child.done("capabilities") &&  //
         enter_landlock(child) && child.done("landlock") &&         //
         enter_seccomp(child) && child.done("seccomp");
}

/// The order of isolation. Each step needs what the ones before it left, and takes away something that they needed.
bool isolate(Child& child) {
  Companion companion;
  return begin(child, companion) && finish(child, companion);
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

[[noreturn]] void become_pid1(Child& child, ChildNotes& notes) {
  notes.isolated = true;
  const char* arguments[] = {"cordon-pid1", nullptr};
  const char* environment[] = {nullptr};
  long result = raw::call(SYS_execveat, control_fd + 1, raw::address(""), raw::address(arguments),
                          raw::address(environment), AT_EMPTY_PATH);
  child.ok(result, "execute pid 1");
  for (;;) raw::call(SYS_exit_group, 125);
}

}  // namespace

void isolate_and_become_pid1(void* entry) {
  auto* given = static_cast<ChildEntry*>(entry);
  Child child(*given->blueprint, *given->notes);
  child.done("clone");
  if (isolate(child)) become_pid1(child, *given->notes);
  for (;;) raw::call(SYS_exit_group, 125);
}

void begin_and_wait(void* entry) {
  auto* given = static_cast<ChildEntry*>(entry);
  Child early(*given->blueprint, *given->notes);
  Companion companion;
  char told = 0;
  if (hold_only(early, given->moved) && begin(early, companion) &&
      raw::call(SYS_read, waiting_go, raw::address(&told), 1) == 1) {
    Child child(*given->blueprint, *given->notes);
    child.host = early.host;
    if (finish(child, companion)) become_pid1(child, *given->notes);
  }
  for (;;) raw::call(SYS_exit_group, 125);
}

bool build_shared_root(const Blueprint& blueprint, ChildNotes& notes) {
  Child child(blueprint, notes);
  if (!build_root(child) || !build_dev(child)) return false;
  raw::close(child.host);
  const raw::MountAttributes read_only{.set = raw::mount_read_only};
  return child.ok(raw::mount_setattr(AT_FDCWD, "/", 0, read_only), "make the root read-only", "/");
}

}  // namespace cordon::sandbox::native
