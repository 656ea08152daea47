#include "notify/connect.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "sys/file.h"

namespace cordon::notify {

namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

Result<sys::Fd> connect_to(const addrinfo& to, std::chrono::seconds step) {
  sys::Fd socket(::socket(to.ai_family, to.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to.ai_protocol));
  if (socket.get() < 0) return fail(Fault::unavailable, "socket: {}", sys::errno_text(errno));
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) != 0 && errno != EINPROGRESS) {
    return fail(Fault::unavailable, "{}", sys::errno_text(errno));
  }
  pollfd ready{socket.get(), POLLOUT, 0};
  if (::poll(&ready, 1, static_cast<int>(step.count() * 1000)) <= 0) {
    return fail(Fault::unavailable, "no connection within {} s", step.count());
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return fail(Fault::unavailable, "{}", sys::errno_text(error));
  const timeval time{step.count(), 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
  return socket;
}

}  // namespace

Result<sys::Fd> connect_to(const std::string& host, std::uint16_t port, std::chrono::seconds step) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list);
  if (code != 0) return fail(Fault::unavailable, "{}: {}", host, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, FreeAddresses> found(list);
  std::string last = "no address";
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    auto socket = connect_to(*one, step);
    if (socket) return socket;
    last = socket.error().sentence;
  }
  return fail(Fault::unavailable, "cannot connect to {} port {}: {}", host, port, last);
}

}  // namespace cordon::notify
