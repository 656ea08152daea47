#include "sandbox/native/network.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sandbox/native/child.h"
#include "sandbox/native/companion.h"
#include "sandbox/native/passed_fd.h"

namespace cordon::sandbox::native {

using namespace sys;

namespace {

bool raise_loopback(Child& child) {
  if (!child.plan.loopback) return true;
  long socket = raw::call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (!child.ok(socket, "socket for loopback")) return false;
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  long result = raw::call(SYS_ioctl, socket, SIOCSIFFLAGS, raw::address(&request));
  raw::close(socket);
  return child.ok(result, "bring loopback up");
}

/// To whoever leads connections to published ports into it.
bool hand_out_namespace(Child& child, int descriptor) {
  if (child.plan.open_ports.empty()) return true;
  return child.ok(send_descriptor(child.plan.control, PassedFd::network, descriptor), "hand over the network");
}

bool open_proxy_socket(Child& child) {
  if (child.plan.proxy_port == 0) return true;
  constexpr int waiting_clients = 1024;
  long socket = raw::call(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (!child.ok(socket, "socket for the network proxy")) return false;
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = __builtin_bswap16(child.plan.proxy_port);
  place.sin_addr.s_addr = __builtin_bswap32(INADDR_LOOPBACK);
  long result = raw::call(SYS_bind, socket, raw::address(&place), sizeof place);
  if (result == 0) result = raw::call(SYS_listen, socket, waiting_clients);
  if (result == 0) result = send_descriptor(child.plan.control, PassedFd::proxy, static_cast<int>(socket));
  raw::close(socket);
  return child.ok(result, "hand over the network proxy's socket");
}

}  // namespace

bool enter_network(Child& child, const Companion& companion) {
  const int prepared = child.plan.network_namespace;
  const long network = prepared >= 0 ? prepared : companion.network();
  const long entered = network < 0 ? network : raw::call(SYS_setns, network, CLONE_NEWNET);
  if (!child.ok(entered, "network namespace") || !hand_out_namespace(child, static_cast<int>(network))) return false;
  return raise_loopback(child) && open_proxy_socket(child);
}

}  // namespace cordon::sandbox::native
