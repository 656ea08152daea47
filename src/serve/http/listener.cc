#include "serve/http/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "serve/socket/address.h"

namespace cordon::serve::http {

namespace {

constexpr int backlog = 1024;

struct Address {
  sockaddr_storage bytes{};
  socklen_t length = 0;
  bool loopback = false;
};

Result<Address> address_of(const HostPort& where, const std::string& text) {
  Address address;
  auto* four = reinterpret_cast<sockaddr_in*>(&address.bytes);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  if (::inet_pton(AF_INET, where.host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(*where.port);
    address.length = sizeof *four;
    address.loopback = (ntohl(four->sin_addr.s_addr) >> 24U) == 127;
  } else if (::inet_pton(AF_INET6, where.host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(*where.port);
    address.length = sizeof *six;
    address.loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
  } else {
    return fail(Fault::invalid_input, "--listen '{}': write an address and a port, like 127.0.0.1:8080 or [::1]:8080",
                text);
  }
  return address;
}

std::uint16_t port_of(const sys::Fd& socket) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) return 0;
  if (bound.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

std::string http_socket_for(const std::string& daemon_socket) {
  const std::filesystem::path path(daemon_socket);
  std::string name = path.filename().string();
  name = name.starts_with("serve") ? "http" + name.substr(5) : name + ".http";
  return (path.parent_path() / name).string();
}

Result<Listener> listen_unix(const std::string& path) {
  socket::Bound bound = TRY(socket::listen_at(path));
  return Listener{.listening = std::move(bound.listening),
                  .entrance = {.local = true},
                  .shown = "unix:" + path,
                  .path = path,
                  .lock = std::move(bound.lock)};
}

Result<Listener> listen_tcp(const std::string& text, bool tls) {
  const auto where = split_host(text);
  if (!where || !where->port) {
    return fail(Fault::invalid_input, "--listen '{}': write an address and a port, like 127.0.0.1:8080 or [::1]:8080",
                text);
  }
  const Address address = TRY(address_of(*where, text));
  if (!address.loopback && !tls) {
    return fail(Fault::denied,
                "--listen {}: beyond this machine only with TLS; give --tls-cert and --tls-key, or listen on 127.0.0.1",
                text);
  }
  sys::Fd listening(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  if (listening.get() < 0 || ::setsockopt(listening.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.length) != 0 ||
      ::listen(listening.get(), backlog) != 0) {
    return fail(Fault::unavailable, "listen on {}: {}", text, sys::errno_text(errno));
  }
  const std::uint16_t port = port_of(listening);
  const bool six = address.bytes.ss_family == AF_INET6;
  return Listener{.listening = std::move(listening),
                  .entrance = {.tls = tls, .address = where->host, .port = port},
                  .shown = fmt::format("{}://{}{}{}:{}", tls ? "https" : "http", six ? "[" : "", where->host,
                                       six ? "]" : "", port)};
}

Accepted accept_from(const Listener& listener) {
  for (;;) {
    sys::Fd socket(::accept4(listener.listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) {
      if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
      return {.socket = {}, .exhausted = errno != EAGAIN && errno != EWOULDBLOCK};
    }
    if (!listener.entrance.local) {
      // Answers are written whole: waiting for more would only delay them.
      const int yes = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      return {.socket = std::move(socket)};
    }
    const auto peer = socket::peer_of(socket);
    if (peer && *peer == ::geteuid() && socket::shares_user_namespace(socket)) return {.socket = std::move(socket)};
  }
}

}  // namespace cordon::serve::http
