// The proxy as a program: descriptor 3 leads to its keeper, descriptor 4 listens inside the sandbox.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "sandbox/network/program/confine.h"
#include "sandbox/network/proxy.h"

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

}  // namespace
}  // namespace cordon::sandbox::network

int main() {
  const auto served = cordon::sandbox::network::serve();
  if (served) return 0;
  const std::string sentence = "cordon: network proxy: " + served.error().sentence + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  return 1;
}
