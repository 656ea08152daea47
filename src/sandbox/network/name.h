// A host's name, canonicalised once: everything after compares, resolves and records this spelling only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/network/address.h"

namespace cordon::sandbox::network {

/// A DNS name in lower case without the dot at its end, or an address.
struct Host {
  std::string name;  // empty: it is an address
  std::optional<Address> address;

  /// "example.com", "192.0.2.1", "2001:db8::1".
  std::string text() const;
  bool operator==(const Host&) const = default;
};

struct Endpoint {
  Host host;
  std::uint16_t port = 0;

  /// "example.com:443", "[2001:db8::1]:443".
  std::string text() const;
  bool operator==(const Endpoint&) const = default;
};

/// As it stands in a URI (IPv6 in brackets) or in a SOCKS request. Names that a C library would read as an IPv4 address
/// (0x7f.1, 2130706433, 0177.0.0.1) are that address. Anything that another program could read differently (control
/// bytes, percent signs, user names, letters beyond ASCII) is refused, never repaired.
Result<Host> parse_host(std::string_view text);

/// "host:port". Without a port `default_port` counts; nothing there, and the port is required.
Result<Endpoint> parse_endpoint(std::string_view text, std::optional<std::uint16_t> default_port);

/// Decimal digits only, 1 to 65535.
std::optional<std::uint16_t> parse_port(std::string_view digits);

}  // namespace cordon::sandbox::network
