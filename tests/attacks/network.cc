// H75–80. No network: nothing of the host, its neighbours or its metadata service answers, and no socket family that
// reaches around the network namespace can be had.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "probe.h"

namespace cordon::attacks {
namespace {

Answer connect4(const char* address, int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return answer(-1);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, address, &to.sin_addr);
  return answer(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to));
}

Answer connect6(const char* address, int port) {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return answer(-1);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET6, address, &to.sin6_addr);
  return answer(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to));
}

Answer datagram(const Decoys& decoys) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return answer(-1);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(decoys.number("port")));
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  return answer(sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to));
}

Answer fast_open(const Decoys& decoys) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return answer(-1);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(decoys.number("port")));
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  return answer(sendto(fd, "x", 1, MSG_FASTOPEN, reinterpret_cast<sockaddr*>(&to), sizeof to));
}

Answer family(int domain, int type, int protocol) {
  const int fd = socket(domain, type | SOCK_CLOEXEC, protocol);
  const Answer result = answer(fd);
  if (fd >= 0) close(fd);
  return result;
}

Answer connect_unix(const sockaddr_un& to, socklen_t length, int type) {
  const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return answer(-1);
  return answer(connect(fd, reinterpret_cast<const sockaddr*>(&to), length));
}

Answer connect_path(const std::string& path, int type = SOCK_STREAM) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  strncpy(to.sun_path, path.c_str(), sizeof to.sun_path - 1);
  return connect_unix(to, sizeof to, type);
}

Answer connect_abstract(const std::string& name) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  memcpy(to.sun_path + 1, name.data(), name.size());
  return connect_unix(to, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size()), SOCK_STREAM);
}

/// Without connect: a datagram names its receiver itself.
Answer send_to_path(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return answer(-1);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  strncpy(to.sun_path, path.c_str(), sizeof to.sun_path - 1);
  return answer(sendto(fd, "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to));
}

constexpr Probe probes[] = {
    {"tcp_loopback", "cannot reach the host's 127.0.0.1",
     [](const Decoys& d) { return connect4("127.0.0.1", d.number("port")); }},
    {"tcp_lan", "cannot reach the host's own address",
     [](const Decoys& d) { return connect4("10.99.0.1", d.number("port")); }},
    {"tcp_metadata", "cannot reach the metadata address",
     [](const Decoys& d) { return connect4("169.254.169.254", d.number("port")); }},
    {"tcp_loopback6", "cannot reach the host's ::1", [](const Decoys& d) { return connect6("::1", d.number("port")); }},
    {"tcp_mapped", "cannot reach 127.0.0.1 by its mapped form",
     [](const Decoys& d) { return connect6("::ffff:127.0.0.1", d.number("port")); }},
    {"tcp_zero", "cannot reach the host by 0.0.0.0",
     [](const Decoys& d) { return connect4("0.0.0.0", d.number("port")); }},
    {"tcp_fast_open", "cannot reach the host by sendto with MSG_FASTOPEN", fast_open},
    {"udp_loopback", "cannot send a datagram to the host", datagram},
    {"raw_socket", "cannot open a raw socket", [](const Decoys&) { return family(AF_INET, SOCK_RAW, IPPROTO_ICMP); }},
    {"raw_socket6", "cannot open a raw IPv6 socket",
     [](const Decoys&) { return family(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6); }},
    {"packet_socket", "cannot open a packet socket", [](const Decoys&) { return family(AF_PACKET, SOCK_RAW, 0); }},
    {"ping_socket", "cannot open a ping socket",
     [](const Decoys&) { return family(AF_INET, SOCK_DGRAM, IPPROTO_ICMP); }},
    {"vsock", "cannot open a vsock (no network namespace holds it)",
     [](const Decoys&) { return family(AF_VSOCK, SOCK_STREAM, 0); }},
    {"vsock_high_bits", "cannot hide the family behind high bits",
     [](const Decoys&) { return answer(syscall(SYS_socket, 0xffffffff00000000UL | AF_VSOCK, SOCK_STREAM, 0)); }},
    {"netlink_route", "cannot open a route netlink socket",
     [](const Decoys&) { return family(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }},
    {"netlink_audit", "cannot open an audit netlink socket",
     [](const Decoys&) { return family(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT); }},
    {"netlink_uevent", "cannot open a uevent netlink socket",
     [](const Decoys&) { return family(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT); }},
    {"netlink_netfilter", "cannot open a netfilter netlink socket (CVE-2024-1086)",
     [](const Decoys&) { return family(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER); }},
    {"crypto_socket", "cannot open an AF_ALG socket",
     [](const Decoys&) { return answer(socket(AF_ALG, SOCK_SEQPACKET, 0)); }},
    {"key_socket", "cannot open an AF_KEY socket", [](const Decoys&) { return answer(socket(AF_KEY, SOCK_RAW, 2)); }},
    {"tipc_socket", "cannot open an AF_TIPC socket",
     [](const Decoys&) { return answer(socket(AF_TIPC, SOCK_STREAM, 0)); }},
    {"rds_socket", "cannot open an AF_RDS socket",
     [](const Decoys&) { return answer(socket(AF_RDS, SOCK_SEQPACKET, 0)); }},
    {"bluetooth_socket", "cannot open an AF_BLUETOOTH socket",
     [](const Decoys&) { return answer(socket(AF_BLUETOOTH, SOCK_RAW, 1)); }},
    {"can_socket", "cannot open an AF_CAN socket", [](const Decoys&) { return answer(socket(AF_CAN, SOCK_RAW, 1)); }},
    {"xdp_socket", "cannot open an AF_XDP socket", [](const Decoys&) { return answer(socket(AF_XDP, SOCK_RAW, 0)); }},
    {"abstract_socket", "cannot connect to the host's abstract socket (CVE-2020-15257)",
     [](const Decoys& d) { return connect_abstract(d.text("abstract")); }},
    {"path_socket_run", "cannot connect to a socket in the host's /run",
     [](const Decoys& d) { return connect_path(d.text("socket")); }},
    {"path_socket_home", "cannot connect to a socket in the user's home",
     [](const Decoys& d) { return connect_path(d.text("home") + "/agent.sock"); }},
    {"path_socket_tmp", "cannot connect to a socket in the host's /tmp",
     [](const Decoys&) { return connect_path("/tmp/cordon-host.sock"); }},
    {"path_socket_workspace", "cannot connect to a host's socket that lies in the workspace",
     [](const Decoys&) { return connect_path("host.sock"); }},
    {"path_datagram_workspace", "cannot send to a host's datagram socket that lies in the workspace",
     [](const Decoys&) { return send_to_path("host-datagram.sock"); }},
};

}  // namespace

Probes network_probes() { return probes; }

}  // namespace cordon::attacks
