// D. Leaving or adding namespaces. A new user namespace is what most kernel exploits of the last years began with.
#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "probe.h"

namespace cordon::attacks {
namespace {

Answer unshared(int flags) { return answer(unshare(flags)); }

/// As a raw call, since glibc's clone() takes a stack and hides the argument order.
Answer cloned(unsigned long flags) {
  const long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  return answer(child);
}

Answer cloned3(unsigned long flags) {
  clone_args arguments{};
  arguments.flags = flags;
  arguments.exit_signal = SIGCHLD;
  const long child = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child == 0) _exit(0);
  return answer(child);
}

Answer joined(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  return answer(fd < 0 ? -1 : setns(fd, 0));
}

Answer joined_by_pidfd(pid_t target) {
  const long fd = syscall(SYS_pidfd_open, target, 0U);
  if (fd < 0) return answer(fd);
  return answer(setns(static_cast<int>(fd), CLONE_NEWNS | CLONE_NEWNET));
}

/// Asked with a descriptor that is no namespace: EINVAL tells that the call is let through.
Answer setns_at_all(const Decoys&) {
  const int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
  return open_unless_denied(setns(fd, CLONE_NEWUTS));
}

Answer nested_mount(const Decoys&) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return answer(-1);
  mkdir("mount-here", 0700);
  return answer(mount("tmpfs", "mount-here", "tmpfs", 0, nullptr));
}

/// The nesting that let `unshare -Urm mount -o remount,rw,bind /` look for a writable root.
Answer nested_remount(const Decoys&) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return answer(-1);
  return answer(mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr));
}

Answer nested_packet_socket(const Decoys&) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return answer(-1);
  return answer(socket(AF_PACKET, SOCK_RAW, 0));
}

Answer nested_depth(const Decoys&) {
  int depth = 0;
  while (depth < 33 && unshare(CLONE_NEWUSER) == 0) ++depth;
  const int error = errno;
  return {depth > 0, error, "depth " + std::to_string(depth)};
}

constexpr Probe probes[] = {
    {"unshare_user", "cannot unshare a user namespace", [](const Decoys&) { return unshared(CLONE_NEWUSER); }},
    {"unshare_mount", "cannot unshare a mount namespace", [](const Decoys&) { return unshared(CLONE_NEWNS); }},
    {"unshare_net", "cannot unshare a network namespace", [](const Decoys&) { return unshared(CLONE_NEWNET); }},
    {"unshare_pid", "cannot unshare a pid namespace", [](const Decoys&) { return unshared(CLONE_NEWPID); }},
    {"unshare_ipc", "cannot unshare an ipc namespace", [](const Decoys&) { return unshared(CLONE_NEWIPC); }},
    {"unshare_uts", "cannot unshare a uts namespace", [](const Decoys&) { return unshared(CLONE_NEWUTS); }},
    {"unshare_cgroup", "cannot unshare a cgroup namespace", [](const Decoys&) { return unshared(CLONE_NEWCGROUP); }},
    {"unshare_time", "cannot unshare a time namespace", [](const Decoys&) { return unshared(CLONE_NEWTIME); }},
    {"clone_user", "cannot clone into a user namespace", [](const Decoys&) { return cloned(CLONE_NEWUSER); }},
    {"clone_user_mount", "cannot clone into user and mount namespaces",
     [](const Decoys&) { return cloned(CLONE_NEWUSER | CLONE_NEWNS); }},
    {"clone_net", "cannot clone into a network namespace", [](const Decoys&) { return cloned(CLONE_NEWNET); }},
    {"clone_high_bits", "cannot hide NEWUSER behind high bits of clone's flags",
     [](const Decoys&) { return cloned(0xfffffffc00000000UL | CLONE_NEWUSER); }},
    {"clone3_user", "cannot clone3 into a user namespace", [](const Decoys&) { return cloned3(CLONE_NEWUSER); }},
    {"clone3_unfiltered", "cannot use clone3, whose flags no filter sees", [](const Decoys&) { return cloned3(0); }},
    {"setns_init_mount", "cannot join pid 1's mount namespace", [](const Decoys&) { return joined("/proc/1/ns/mnt"); }},
    {"setns_init_net", "cannot join pid 1's network namespace", [](const Decoys&) { return joined("/proc/1/ns/net"); }},
    {"setns_init_user", "cannot open pid 1's user namespace",
     [](const Decoys&) { return try_open("/proc/1/ns/user", O_RDONLY); }},
    {"setns_pidfd", "cannot join by a pidfd", [](const Decoys&) { return joined_by_pidfd(getppid()); }},
    {"setns_at_all", "cannot call setns", setns_at_all},
    {"nested_mount", "cannot mount in a nested user namespace", nested_mount},
    {"nested_remount", "cannot remount / in a nested user namespace", nested_remount},
    {"nested_packet_socket", "cannot open a packet socket in a nested user namespace", nested_packet_socket},
    {"nested_depth", "cannot nest user namespaces", nested_depth},
};

}  // namespace

Probes namespace_probes() { return probes; }

}  // namespace cordon::attacks
