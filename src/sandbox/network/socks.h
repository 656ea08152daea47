// SOCKS5 (RFC 1928), as far as it is offered: CONNECT without authentication. BIND would listen outside and UDP would
// carry anything anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/network/name.h"

namespace cordon::sandbox::network {

enum class SocksReply : std::uint8_t {
  succeeded = 0,
  failed = 1,
  not_allowed = 2,
  network_unreachable = 3,
  host_unreachable = 4,
  refused = 5,
  timed_out = 6,
  unknown_command = 7,
  unknown_address = 8,
};

template <class T>
struct Parsed {
  T value;
  std::size_t length;  // how many bytes it took
};

/// The list of ways to authenticate; true: "none" is among them. Nothing: more is needed.
Result<std::optional<Parsed<bool>>> read_socks_greeting(std::string_view bytes);
std::string socks_greeting_reply(bool accepted);

struct SocksRequest {
  std::optional<Endpoint> endpoint;  // nothing: refused
  SocksReply reply = SocksReply::succeeded;
  std::string trouble;
};
/// An error: what follows cannot be understood. A request that is understood and not offered has its reply.
Result<std::optional<Parsed<SocksRequest>>> read_socks_request(std::string_view bytes);
std::string socks_reply(SocksReply reply);

}  // namespace cordon::sandbox::network
