// Names to addresses, for the proxy: the machine's own hosts file and name servers, read before the proxy locks itself
// in, and asked by packets of our own, because a C library's resolver needs files and sockets that the proxy has not.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/network/address.h"
#include "sandbox/network/dns.h"
#include "sys/fd.h"

namespace cordon::sandbox::network {

struct ResolverSettings {
  std::map<std::string, std::vector<Address>> hosts;  // /etc/hosts
  std::vector<Address> servers;                       // /etc/resolv.conf

  static ResolverSettings parse(std::string_view hosts, std::string_view resolv_conf);
};

struct Resolution {
  std::vector<Address> addresses;
  std::string trouble;  // where there are none
};

class Lookup;

class Resolver {
 public:
  using Clock = std::chrono::steady_clock;
  using Done = std::function<void(std::uint64_t asker, const Resolution&)>;
  /// Wants to be told when the descriptor is readable (or, where `writing`, writable), by `ready`.
  using Watch = std::function<void(int fd, std::uint64_t lookup, bool writing)>;

  Resolver(ResolverSettings settings, Watch watch, Done done);
  ~Resolver();

  /// Answers by `done`, maybe at once. Askers of one name share one lookup.
  void resolve(std::uint64_t asker, const std::string& name);
  void ready(std::uint64_t lookup);
  /// Gives up, or tries another server, where time is up.
  void tick(Clock::time_point now);
  bool busy() const { return !lookups_.empty(); }

 private:
  friend class Lookup;
  void finish(std::uint64_t lookup, const Resolution& resolution, std::uint32_t ttl);

  struct Cached {
    std::vector<Address> addresses;
    Clock::time_point until;
  };
  ResolverSettings settings_;
  Watch watch_;
  Done done_;
  std::map<std::uint64_t, std::unique_ptr<Lookup>> lookups_;
  std::map<std::string, Cached> cache_;
  std::uint64_t next_ = 1;
};

}  // namespace cordon::sandbox::network
