#include "sandbox/native/network.h"

#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sandbox/native/child.h"
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

bool hand_out_namespace(Child& child) {
  if (child.plan.open_ports.empty()) return true;
  long socket = raw::call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (!child.ok(socket, "socket to ask for the network namespace")) return false;
  // Not by /proc, which somebody else may be just mounting.
  long network = raw::call(SYS_ioctl, socket, SIOCGSKNS, 0);
  raw::close(socket);
  if (!child.ok(network, "ask for the network namespace")) return false;
  long sent = send_descriptor(child.plan.control, PassedFd::network, static_cast<int>(network));
  raw::close(network);
  return child.ok(sent, "hand over the network");
}

}  // namespace

bool enter_network(Child& child) {
  const int prepared = child.plan.network_namespace;
  const long entered =
      prepared >= 0 ? raw::call(SYS_setns, prepared, CLONE_NEWNET) : raw::call(SYS_unshare, CLONE_NEWNET);
  return child.ok(entered, "network namespace");
}

bool furnish_network(Child& child) {
  return raise_loopback(child) && open_proxy_socket(child) && hand_out_namespace(child);
}

}  // namespace cordon::sandbox::native
