// The proxy process: the only way out of a sandbox with network rules. It holds a socket that listens inside the
// sandbox, dials outside, and has nothing else: no files, no other processes, and its own filter. One thread, one loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sandbox/network/connection.h"
#include "sandbox/network/message.h"
#include "sandbox/network/resolver.h"
#include "sandbox/network/socket.h"
#include "sys/fd.h"

namespace cordon::sandbox::network {

struct ProxyParts {
  sys::Fd control;   // packets to and from the keeper; its end is the proxy's
  sys::Fd listener;  // never blocks
  Routes routes;
  ResolverSettings resolver;
  Terms terms;
};

class Proxy : private Services {
 public:
  explicit Proxy(ProxyParts parts);
  /// Until the keeper closes its end, or the kernel fails us.
  void run();

 private:
  void watch(const Connection& connection, Side side, int fd, std::uint32_t events) override;
  std::uint64_t ask(const Connection& connection, const Wish& wish) override;
  void resolve(const Connection& connection, const std::string& name) override;
  void report(const FromProxy& message) override;
  Routes::Way way_to(const Address& address) override { return parts_.routes.way_to(address); }
  bool spend(std::size_t bytes) override;
  std::chrono::milliseconds longest() override { return std::chrono::milliseconds(parts_.terms.milliseconds); }
  std::span<char> scratch() override { return scratch_; }

  void accept_clients();
  void take_answers();
  void flush_reports();
  void tick();
  void sweep();
  void conclude();
  void subscribe(int fd, std::uint32_t events, std::uint64_t token);
  int timeout() const;

  ProxyParts parts_;
  sys::Fd epoll_;
  Resolver resolver_;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::map<std::uint64_t, std::uint64_t> questions_;  // → connection
  std::vector<std::string> reports_;                  // not taken by the keeper yet
  std::vector<char> scratch_;
  std::uint64_t next_connection_ = 1;
  std::uint64_t next_question_ = 1;
  std::uint64_t spent_ = 0;
  Connection::Clock::time_point next_tick_ = Connection::Clock::now();
  bool listening_ = false;
  bool over_ = false;
};

}  // namespace cordon::sandbox::network
