#include "sandbox/network/publisher.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "sandbox/network/spawn.h"

namespace cordon::sandbox::network {

namespace {

Result<sys::Fd> listen_on(std::uint16_t port) {
  constexpr int waiting_clients = 128;
  sys::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (listener.get() < 0 || ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
      ::listen(listener.get(), waiting_clients) != 0) {
    return fail(Fault::unavailable, "port {} of the host's loopback cannot be used: {}", port, std::strerror(errno));
  }
  return listener;
}

}  // namespace

Result<std::unique_ptr<Publisher>> Publisher::open(const std::vector<std::uint16_t>& ports) {
  std::unique_ptr<Publisher> publisher(new Publisher());
  for (const std::uint16_t port : ports) publisher->ports_.push_back({port, TRY(listen_on(port))});
  return publisher;
}

Result<void> Publisher::start(const sys::Fd& network_namespace) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(Fault::unavailable, "socketpair: {}", std::strerror(errno));
  }
  control_.emplace_back(ends[0]);
  const sys::Fd theirs(ends[1]);
  std::vector<std::string> arguments = {"cordon-proxy", "publish"};
  std::vector<int> descriptors = {theirs.get(), network_namespace.get()};
  for (const Port& port : ports_) {
    arguments.push_back(std::to_string(port.number));
    descriptors.push_back(port.listener.get());
  }
  pid_ = TRY(spawn_program(arguments, descriptors));
  return {};
}

Publisher::~Publisher() {
  control_.clear();
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace cordon::sandbox::network
