// Internet addresses, and which of them lie outside: a name that was allowed may still lead to this machine, to its
// neighbours or to a cloud's secrets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::sandbox::network {

/// IPv4 is kept as IPv6 keeps it (::ffff:a.b.c.d), so that both spellings of one address are one value.
class Address {
 public:
  using Bytes = std::array<std::uint8_t, 16>;

  static Address v4(std::uint32_t host_order);
  static Address v6(const Bytes& bytes) { return Address(bytes); }
  /// Plain dotted decimal, or IPv6 without brackets and zone.
  static std::optional<Address> parse(std::string_view text);

  bool is_v4() const;
  std::uint32_t as_v4() const;
  const Bytes& bytes() const { return bytes_; }
  std::string text() const;
  auto operator<=>(const Address&) const = default;

 private:
  explicit Address(const Bytes& bytes) : bytes_(bytes) {}
  Bytes bytes_;
};

/// Where an address lies, as far as the number tells. `outside` is the only place that needs no naming.
enum class Place {
  outside,
  unspecified,
  loopback,
  private_network,
  shared,  // carrier-grade NAT
  link_local,
  metadata,  // of a cloud machine: credentials for the asking
  multicast,
  broadcast,
  documentation,
  reserved,
};
/// "a private network", "this machine's loopback" …
const char* phrase_for(Place place);

/// IPv6 addresses that carry an IPv4 address (NAT64, 6to4, translated, compatible, ISATAP) lie where that one lies, if
/// it is not outside.
Place place_of(const Address& address);

}  // namespace cordon::sandbox::network
