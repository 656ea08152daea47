#include "sandbox/native/network.h"

#include <linux/futex.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>

#include "sandbox/native/child.h"
#include "sandbox/native/passed_fd.h"
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

void NetworkMaker::make(void* self) {
  auto* maker = static_cast<NetworkMaker*>(self);
  maker->result_ = raw::call(SYS_unshare, CLONE_NEWNET);
  // By its own hand: another process may open it only where this one can be traced, and ours cannot when root started
  // it.
  if (maker->result_ == 0) maker->result_ = raw::open(maker->proc_, "self/ns/net", O_RDONLY);
  raise(maker->made_);
  wait_for(maker->released_);
  for (;;) raw::call(SYS_exit, 0);
}

bool NetworkMaker::start() {
  if (child_.plan.network_namespace >= 0) return true;
  const char* place = child_.plan.skeleton_ready ? "/.host/proc" : "/proc";
  long proc = raw::open(AT_FDCWD, place, O_PATH | O_DIRECTORY);
  if (!child_.ok(proc, "open", place)) return false;
  proc_ = static_cast<int>(proc);
  CloneArguments arguments;
  arguments.flags = CLONE_VM | CLONE_FILES;
  arguments.stack = reinterpret_cast<std::uint64_t>(stack_);
  arguments.stack_size = sizeof stack_;
  pid_ = cordon_clone3_call(&arguments, sizeof arguments, make, this);
  return child_.ok(pid_, "clone3 for the network");
}

bool NetworkMaker::join() {
  long entered;
  if (pid_ < 0) {
    entered = raw::call(SYS_setns, child_.plan.network_namespace, CLONE_NEWNET);
    if (!hand_out_namespace(child_.plan.network_namespace)) return false;
  } else {
    wait_for(made_);
    entered = result_ < 0 ? result_ : raw::call(SYS_setns, result_, CLONE_NEWNET);
    raise(released_);
    // Nobody but us may be left when pid 1 takes over.
    while (raw::call(SYS_wait4, pid_, 0, __WALL, 0) == -EINTR) {
    }
    if (result_ >= 0 && !hand_out_namespace(static_cast<int>(result_))) return false;
    if (result_ >= 0) raw::close(result_);
    raw::close(proc_);
  }
  return child_.ok(entered, "network namespace") && raise_loopback() && open_proxy_socket();
}

bool NetworkMaker::raise_loopback() {
  if (!child_.plan.loopback) return true;
  long socket = raw::call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (!child_.ok(socket, "socket for loopback")) return false;
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  long result = raw::call(SYS_ioctl, socket, SIOCSIFFLAGS, raw::address(&request));
  raw::close(socket);
  return child_.ok(result, "bring loopback up");
}

/// To whoever leads connections to published ports into it.
bool NetworkMaker::hand_out_namespace(int descriptor) {
  if (child_.plan.open_ports.empty()) return true;
  return child_.ok(send_descriptor(child_.plan.control, PassedFd::network, descriptor), "hand over the network");
}

bool NetworkMaker::open_proxy_socket() {
  if (child_.plan.proxy_port == 0) return true;
  constexpr int waiting_clients = 1024;
  long socket = raw::call(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (!child_.ok(socket, "socket for the network proxy")) return false;
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = __builtin_bswap16(child_.plan.proxy_port);
  place.sin_addr.s_addr = __builtin_bswap32(INADDR_LOOPBACK);
  long result = raw::call(SYS_bind, socket, raw::address(&place), sizeof place);
  if (result == 0) result = raw::call(SYS_listen, socket, waiting_clients);
  if (result == 0) result = send_descriptor(child_.plan.control, PassedFd::proxy, static_cast<int>(socket));
  raw::close(socket);
  return child_.ok(result, "hand over the network proxy's socket");
}

}  // namespace cordon::sandbox::native
