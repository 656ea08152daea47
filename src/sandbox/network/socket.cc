#include "sandbox/network/socket.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace cordon::sandbox::network {

namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress socket_address(const Address& address, std::uint16_t port) {
  SocketAddress made;
  if (address.is_v4()) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    four.sin_addr.s_addr = htonl(address.as_v4());
    std::memcpy(&made.storage, &four, sizeof four);
    made.size = sizeof four;
    return made;
  }
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  std::memcpy(&six.sin6_addr, address.bytes().data(), address.bytes().size());
  std::memcpy(&made.storage, &six, sizeof six);
  made.size = sizeof six;
  return made;
}

}  // namespace

std::optional<sys::Fd> open_socket(const Address& address, int type) {
  const int fd = ::socket(address.is_v4() ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::nullopt;
  if (type == SOCK_STREAM) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return sys::Fd(fd);
}

bool connect_socket(const sys::Fd& socket, const Address& address, std::uint16_t port) {
  const SocketAddress to = socket_address(address, port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.size) == 0 || errno == EINPROGRESS;
}

std::optional<Routes> Routes::open() {
  sys::Fd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (netlink.get() < 0) return std::nullopt;
  return Routes(std::move(netlink));
}

Routes::Way Routes::way_to(const Address& address) const {
  struct {
    nlmsghdr header;
    rtmsg route;
    rtattr attribute;
    std::uint8_t address[16];
  } question{};
  const std::size_t length = address.is_v4() ? 4 : 16;
  question.header.nlmsg_type = RTM_GETROUTE;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.header.nlmsg_len = static_cast<std::uint32_t>(offsetof(decltype(question), address) + length);
  question.route.rtm_family = address.is_v4() ? AF_INET : AF_INET6;
  question.route.rtm_dst_len = static_cast<std::uint8_t>(length * 8);
  question.attribute.rta_type = RTA_DST;
  question.attribute.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(length));
  std::memcpy(question.address, address.bytes().data() + (16 - length), length);
  if (::send(netlink_.get(), &question, question.header.nlmsg_len, 0) < 0) return Way::here;
  // The kernel answers before send returns.
  alignas(nlmsghdr) char answer[4096];
  const ssize_t got = ::recv(netlink_.get(), answer, sizeof answer, MSG_DONTWAIT);
  if (got < static_cast<ssize_t>(sizeof(nlmsghdr) + sizeof(rtmsg))) return Way::here;
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (header->nlmsg_type == NLMSG_ERROR) return Way::none;
  if (header->nlmsg_type != RTM_NEWROUTE) return Way::here;
  const auto* route = reinterpret_cast<const rtmsg*>(answer + NLMSG_HDRLEN);
  return route->rtm_type == RTN_UNICAST ? Way::elsewhere : Way::here;
}

}  // namespace cordon::sandbox::network
