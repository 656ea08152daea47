// What a request over HTTP costs: asked one after the other on one connection, beside node's http server that echoes.
//   bench_http PORT PORT-OF-THE-ECHO     the token in CORDON_TOKEN; bench/http.sh starts both
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "bench/table.h"
#include "sys/fd.h"

namespace {

using namespace cordon;
using Clock = std::chrono::steady_clock;

class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("connect");
    const int yes = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }

  /// The body of the answer.
  std::string ask(const std::string& request) {
    if (::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) fail("send");
    std::string received;
    char space[65536];
    for (;;) {
      const ssize_t count = ::recv(socket_.get(), space, sizeof space, 0);
      if (count <= 0) fail("the server hung up");
      received.append(space, static_cast<std::size_t>(count));
      const std::size_t end = received.find("\r\n\r\n");
      const std::size_t length = received.find("Content-Length: ");
      if (end == std::string::npos || length > end) continue;
      const std::size_t size = std::strtoul(received.c_str() + length + 16, nullptr, 10);
      if (received.size() < end + 4 + size) continue;
      if (!received.starts_with("HTTP/1.1 200")) fail(received.c_str());
      return received.substr(end + 4);
    }
  }

 private:
  [[noreturn]] static void fail(const char* why) {
    std::fprintf(stderr, "bench_http: %s\n", why);
    std::exit(1);
  }
  sys::Fd socket_;
};

std::string request_for(const char* tool, const std::string& body) {
  const char* token = std::getenv("CORDON_TOKEN");
  return std::string("POST /v1/tools/") + tool + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         "Authorization: Bearer " + (token == nullptr ? "" : token) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

double timed(Client& client, const std::string& request) {
  const auto begun = Clock::now();
  client.ask(request);
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: bench_http PORT PORT-OF-THE-ECHO\n");
    return 1;
  }
  Client cordon_client(std::atoi(arguments[1]));
  Client echo_client(std::atoi(arguments[2]));
  bench::Table table("http");
  struct Measure {
    const char* what;
    const char* tool;
    const char* body;
    int times;
    const char* target;
  };
  for (const Measure& measure :
       {Measure{"sandbox_check, keep-alive", "sandbox_check", R"({"command":"git status"})", 3000, "<= 0.3"},
        Measure{"sandbox_exec true, keep-alive", "sandbox_exec", R"({"command":"true"})", 500, "<= 4"}}) {
    const std::string request = request_for(measure.tool, measure.body);
    bench::Samples ours;
    bench::Samples theirs;
    for (int i = 0; i < measure.times / 10; ++i) {
      timed(cordon_client, request);
      timed(echo_client, request);
    }
    for (int i = 0; i < measure.times; ++i) {
      ours.add(timed(cordon_client, request));
      theirs.add(timed(echo_client, request));
    }
    for (const auto& [name, share] : {std::pair{"p50", 0.5}, std::pair{"p99", 0.99}}) {
      table.add({.what = std::string(measure.what) + " " + name,
                 .value = ours.percentile(share),
                 .unit = "ms",
                 .reference = std::string("node http echo ") + name,
                 .reference_value = theirs.percentile(share),
                 .target = share < 0.9 ? measure.target : ""});
    }
  }
  return 0;
}
