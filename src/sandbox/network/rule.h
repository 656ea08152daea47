// Which hosts may be reached. Rules only open; what none of them names stays closed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/network/name.h"

namespace cordon::sandbox::network {

/// How the program asks.
enum class Transport {
  http,    // a plain HTTP request: each is asked about, with its method
  tunnel,  // HTTP CONNECT
  socks,   // SOCKS5 CONNECT
};
const char* name_of(Transport transport);
std::optional<Transport> transport_named(std::string_view name);

struct Wish {
  Transport transport = Transport::tunnel;
  Endpoint endpoint;
  std::string method;  // of a plain request
};

/// "example.com", "*.example.com", "example.com:8443", "GET,HEAD example.com:80", "10.0.0.5:5432", "[fd00::5]:5432".
struct Rule {
  Host host;
  bool subdomains = false;            // every name below, not the name itself
  std::optional<std::uint16_t> port;  // nothing: the web, HTTP on 80 and TLS on 443
  std::vector<std::string> methods;   // only plain requests with these; none: everything
  std::string text;                   // as it was written
};

Result<Rule> parse_rule(std::string_view text);

struct Decision {
  bool allowed = false;
  std::string rule;         // the one that allows it
  std::string reason;       // why not
  std::string would_allow;  // the narrowest rule that would
  bool web_only = false;    // the rule names no port: what is spoken must be TLS or HTTP
};

class Rules {
 public:
  Rules() = default;
  static Result<Rules> parse(const std::vector<std::string>& texts);

  Decision decide(const Wish& wish) const;
  /// Addresses that a rule names: they may be dialled wherever they lie.
  std::vector<Address> named_addresses(std::uint16_t port) const;

 private:
  std::vector<Rule> rules_;
};

}  // namespace cordon::sandbox::network
