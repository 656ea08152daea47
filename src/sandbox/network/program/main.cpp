// The proxy as a program: descriptor 3 leads to its keeper, descriptor 4 listens inside the sandbox. With "publish" it
// is the relay of published ports.
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "sandbox/network/program/confine.h"
#include "sandbox/network/proxy.h"
#include "sandbox/network/relay.h"

namespace cordon::sandbox::network {
namespace {

constexpr int control_fd = 3;
constexpr int listener_fd = 4;

/// Empty where it cannot be read: then there is nothing to know from it.
std::string text_of(const char* path) {
  constexpr std::size_t most = 1 << 20;
  std::string text;
  const sys::Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return text;
  std::array<char, 65536> part{};
  for (ssize_t got; text.size() < most && (got = ::read(file.get(), part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Result<void> serve() {
  sys::Fd control(control_fd);
  sys::Fd listener(listener_fd);
  std::array<char, largest_message> packet{};
  const ssize_t got = ::recv(control.get(), packet.data(), packet.size(), 0);
  if (got <= 0) return fail(Fault::unavailable, "the keeper of the network proxy is gone");
  const Terms terms = TRY(decode_terms({packet.data(), static_cast<std::size_t>(got)}));
  auto routes = Routes::open();
  if (!routes) return fail(Fault::unavailable, "the kernel's routes cannot be asked");
  ::fcntl(listener.get(), F_SETFL, ::fcntl(listener.get(), F_GETFL) | O_NONBLOCK);
  auto resolver = ResolverSettings::parse(text_of("/etc/hosts"), text_of("/etc/resolv.conf"));
  Proxy proxy({std::move(control), std::move(listener), std::move(*routes), std::move(resolver), terms});
  constexpr std::uint64_t spare = 1024;
  CHECK_OK(confine(2 * terms.connections + spare));
  proxy.run();
  return {};
}

/// Into the namespace that owns the sandbox's network, for the right to enter that, which is given up again at once.
Result<void> enter(const sys::Fd& network) {
  const sys::Fd owner(::ioctl(network.get(), NS_GET_USERNS));
  // Level L3: the network is owned by the namespace that we are in.
  [[maybe_unused]] const int entered = owner.get() < 0 ? -1 : ::setns(owner.get(), CLONE_NEWUSER);
  if (::setns(network.get(), CLONE_NEWNET) != 0) {
    return fail(Fault::unavailable, "enter the sandbox's network: {}", std::strerror(errno));
  }
  return {};
}

/// Descriptor 4 is the sandbox's network namespace, and those after it listen on the host, each for one port.
Result<void> publish(int count, char** ports) {
  sys::Fd control(control_fd);
  std::vector<Published> published;
  for (int i = 0; i < count; ++i) {
    const auto port = parse_port(ports[i]);
    if (!port) return fail(Fault::invalid_input, "'{}' is no port", ports[i]);
    published.push_back({sys::Fd(listener_fd + 1 + i), *port});
  }
  CHECK_OK(enter(sys::Fd(listener_fd)));
  Relay relay(std::move(control), std::move(published));
  constexpr std::uint64_t descriptors = 4096;
  CHECK_OK(confine(descriptors));
  relay.run();
  return {};
}

}  // namespace
}  // namespace cordon::sandbox::network

int main(int argc, char** argv) {
  using namespace cordon::sandbox::network;
  const bool publishes = argc > 1 && std::string_view(argv[1]) == "publish";
  const auto served = publishes ? publish(argc - 2, argv + 2) : serve();
  if (served) return 0;
  const std::string sentence = "cordon: network proxy: " + served.error().sentence + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  return 1;
}
