// What the network proxy costs: bytes per second and the time of a connection, through it and directly over loopback.
// The server is here, on the host's loopback (named by a rule); the client is this program once more, in the sandbox.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/table.h"
#include "sandbox/native/native.h"
#include "sandbox/network/tools.h"
#include "tests/support/unrecorded_clearance.h"

namespace {

using namespace cordon;

constexpr std::uint64_t bytes = 2ULL << 30;
constexpr int connections = 1000;

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) std::abort();
  return fd;
}

/// To the server, directly or by a tunnel.
int reach(std::uint16_t port, bool by_proxy) {
  if (!by_proxy) return connect_to(port);
  const int fd = connect_to(sandbox::network::proxy_port);
  const std::string ask = "CONNECT 127.0.0.1:" + std::to_string(port) + " HTTP/1.0\r\n\r\n";
  if (::write(fd, ask.data(), ask.size()) < 0) std::abort();
  std::string head;
  char c = 0;
  while (!head.ends_with("\r\n\r\n") && ::read(fd, &c, 1) == 1) head.push_back(c);
  if (head.find(" 200 ") == std::string::npos) std::abort();
  return fd;
}

/// Asks for `count` bytes and takes them all.
void fetch(int fd, std::uint64_t count) {
  static std::vector<char> space(1 << 18);
  if (::write(fd, &count, sizeof count) != sizeof count) std::abort();
  while (::read(fd, space.data(), space.size()) > 0) {
  }
  ::close(fd);
}

/// Prints seconds for the bytes, and microseconds of each connection.
int client(std::uint16_t port, bool by_proxy) {
  fetch(reach(port, by_proxy), 1);
  const double begin = bench::now_us();
  fetch(reach(port, by_proxy), bytes);
  std::printf("%f\n", (bench::now_us() - begin) / 1e6);
  for (int i = 0; i < connections; ++i) {
    const double start = bench::now_us();
    fetch(reach(port, by_proxy), 1);
    std::printf("%f\n", bench::now_us() - start);
  }
  return 0;
}

void serve(int listener) {
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    std::thread([fd] {
      static const std::vector<char> space(1 << 18, 'x');
      std::uint64_t count = 0;
      if (::read(fd, &count, sizeof count) == sizeof count) {
        while (count > 0) {
          const ssize_t sent = ::send(fd, space.data(), std::min<std::uint64_t>(space.size(), count), MSG_NOSIGNAL);
          if (sent <= 0) break;
          count -= static_cast<std::uint64_t>(sent);
        }
      }
      ::close(fd);
    }).detach();
  }
}

struct Figures {
  double gigabytes_per_second = 0;
  bench::Samples connection_us;
};

Figures parse(const std::string& text) {
  Figures figures;
  const char* at = text.c_str();
  char* end = nullptr;
  figures.gigabytes_per_second = static_cast<double>(bytes) / 1e9 / std::strtod(at, &end);
  for (at = end; *at == '\n' && at[1] != '\0'; at = end) figures.connection_us.add(std::strtod(at + 1, &end));
  return figures;
}

Figures run(sandbox::native::NativeSandbox& native, std::uint16_t port, bool by_proxy) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  Profile profile;
  profile.program.argv = {"/tmp/bench/" + std::filesystem::path(self).filename().string(), "client",
                          std::to_string(port), by_proxy ? "proxy" : "direct"};
  profile.binds = {{std::filesystem::path(self).parent_path(), "/tmp/bench", Bind::Access::ro}};
  profile.limits = {.wall_ms = 300'000};
  profile.network = Network::rules;
  profile.network_rules = {"127.0.0.1:" + std::to_string(port)};
  profile.require = Level::L4;
  sandbox::CapturedIo io;
  const RunReport report = native.run(testing::UnrecordedClearance::make(profile), io, {});
  if (!std::holds_alternative<Exited>(report.outcome) || io.out.empty()) {
    std::fprintf(stderr, "bench network: the client failed: %s\n", io.err.c_str());
    std::exit(1);
  }
  return parse(io.out);
}

Figures run_directly(std::uint16_t port) {
  const std::string command =
      std::filesystem::read_symlink("/proc/self/exe").string() + " client " + std::to_string(port) + " direct";
  FILE* output = ::popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  while (output != nullptr && std::fgets(part, sizeof part, output) != nullptr) text += part;
  ::pclose(output);
  return parse(text);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "client") {
    return client(static_cast<std::uint16_t>(std::atoi(argv[2])), std::string_view(argv[3]) == "proxy");
  }
  auto native = sandbox::native::NativeSandbox::open({});
  if (!native) {
    std::fprintf(stderr, "bench network: %s\n", native.error().sentence.c_str());
    return 1;
  }
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&place), size) != 0 || ::listen(listener, 128) != 0) return 1;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size);
  std::thread([listener] { serve(listener); }).detach();
  const std::uint16_t port = ntohs(place.sin_port);
  Figures direct = run_directly(port);
  Figures proxied = run(**native, port, true);
  {
    bench::Table table("network");
    table.add({"download through the proxy", proxied.gigabytes_per_second, "GB/s", "directly over loopback",
               direct.gigabytes_per_second, ">= 0.5 x"});
    table.add({"connection, one byte, p50", proxied.connection_us.percentile(0.5), "us", "directly over loopback",
               direct.connection_us.percentile(0.5), "added <= 1000 us"});
    table.add({"added to a connection, p50",
               proxied.connection_us.percentile(0.5) - direct.connection_us.percentile(0.5), "us", "", 0, "<= 1000"});
    table.add({"connection, one byte, p95", proxied.connection_us.percentile(0.95), "us", "directly over loopback",
               direct.connection_us.percentile(0.95), ""});
  }
  std::_Exit(0);  // the server's threads do not end
}
