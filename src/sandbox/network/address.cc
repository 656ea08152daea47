#include "sandbox/network/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace cordon::sandbox::network {

namespace {

constexpr Address::Bytes mapped_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct Range4 {
  std::uint32_t first;
  int bits;
  Place place;
};

constexpr std::uint32_t quad(unsigned a, unsigned b, unsigned c, unsigned d) { return a << 24 | b << 16 | c << 8 | d; }

// Single addresses first: the first that fits counts. IANA's registry of special addresses, and the clouds' own.
constexpr Range4 ranges4[] = {
    {quad(169, 254, 169, 254), 32, Place::metadata},  // most clouds
    {quad(169, 254, 170, 2), 32, Place::metadata},    // container credentials
    {quad(168, 63, 129, 16), 32, Place::metadata},    // Azure
    {quad(100, 100, 100, 200), 32, Place::metadata},  // Alibaba
    {quad(192, 0, 0, 192), 32, Place::metadata},      // Oracle
    {quad(255, 255, 255, 255), 32, Place::broadcast},   {quad(0, 0, 0, 0), 8, Place::unspecified},
    {quad(10, 0, 0, 0), 8, Place::private_network},     {quad(100, 64, 0, 0), 10, Place::shared},
    {quad(127, 0, 0, 0), 8, Place::loopback},           {quad(169, 254, 0, 0), 16, Place::link_local},
    {quad(172, 16, 0, 0), 12, Place::private_network},  {quad(192, 0, 0, 0), 24, Place::reserved},
    {quad(192, 0, 2, 0), 24, Place::documentation},     {quad(192, 88, 99, 0), 24, Place::reserved},
    {quad(192, 168, 0, 0), 16, Place::private_network}, {quad(198, 18, 0, 0), 15, Place::reserved},
    {quad(198, 51, 100, 0), 24, Place::documentation},  {quad(203, 0, 113, 0), 24, Place::documentation},
    {quad(224, 0, 0, 0), 4, Place::multicast},          {quad(240, 0, 0, 0), 4, Place::reserved},
};

struct Range6 {
  std::array<std::uint16_t, 8> first;
  int bits;
  Place place;
};

constexpr Range6 ranges6[] = {
    {{0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254}, 128, Place::metadata},  // Amazon
    {{0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254}, 128, Place::metadata},  // Google
    {{}, 128, Place::unspecified},
    {{0, 0, 0, 0, 0, 0, 0, 1}, 128, Place::loopback},
    {{0x2001, 0, 0, 0, 0, 0, 0, 0}, 23, Place::reserved},  // Teredo, ORCHID, benchmarks
    {{0x2001, 0x0db8, 0, 0, 0, 0, 0, 0}, 32, Place::documentation},
    {{0x3fff, 0, 0, 0, 0, 0, 0, 0}, 20, Place::documentation},
    {{0xfc00, 0, 0, 0, 0, 0, 0, 0}, 7, Place::private_network},
    {{0xfe80, 0, 0, 0, 0, 0, 0, 0}, 10, Place::link_local},
    {{0xfec0, 0, 0, 0, 0, 0, 0, 0}, 10, Place::private_network},
    {{0xff00, 0, 0, 0, 0, 0, 0, 0}, 8, Place::multicast},
};

/// Prefixes after which an IPv4 address follows.
struct Carrier {
  std::array<std::uint16_t, 8> first;
  int bits;
  int at;  // byte where the IPv4 address begins
};

constexpr Carrier carriers[] = {
    {{0x0064, 0xff9b, 0, 0, 0, 0, 0, 0}, 96, 12},  // NAT64
    {{0x2002, 0, 0, 0, 0, 0, 0, 0}, 16, 2},        // 6to4
};

bool within(const Address::Bytes& bytes, const std::array<std::uint16_t, 8>& first, int bits) {
  for (int i = 0; i < bits; ++i) {
    const bool wanted = (first[static_cast<std::size_t>(i / 16)] >> (15 - i % 16) & 1) != 0;
    const bool given = (bytes[static_cast<std::size_t>(i / 8)] >> (7 - i % 8) & 1) != 0;
    if (wanted != given) return false;
  }
  return true;
}

std::uint32_t quad_at(const Address::Bytes& bytes, std::size_t at) {
  return quad(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
}

Place place_of_v4(std::uint32_t address) {
  for (const Range4& range : ranges4) {
    const std::uint32_t mask = ~std::uint32_t{0} << (32 - range.bits);
    if ((address & mask) == range.first) return range.place;
  }
  return Place::outside;
}

Place place_of_v6(const Address::Bytes& bytes) {
  for (const Range6& range : ranges6) {
    if (within(bytes, range.first, range.bits)) return range.place;
  }
  for (const Carrier& carrier : carriers) {
    if (within(bytes, carrier.first, carrier.bits)) {
      return place_of_v4(quad_at(bytes, static_cast<std::size_t>(carrier.at)));
    }
  }
  // ISATAP: an interface number of 0000:5efe or 0200:5efe and an IPv4 address.
  const bool isatap = (bytes[8] & 0xfd) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
  if (isatap && place_of_v4(quad_at(bytes, 12)) != Place::outside) return place_of_v4(quad_at(bytes, 12));
  // Everything that is given out so far begins with 001.
  return bytes[0] >> 5 == 1 ? Place::outside : Place::reserved;
}

}  // namespace

Address Address::v4(std::uint32_t host_order) {
  Bytes bytes = mapped_prefix;
  for (std::size_t i = 0; i < 4; ++i) bytes[12 + i] = static_cast<std::uint8_t>(host_order >> (24 - 8 * i));
  return Address(bytes);
}

std::optional<Address> Address::parse(std::string_view text) {
  const std::string terminated(text);
  if (terminated.size() != std::strlen(terminated.c_str())) return std::nullopt;
  in_addr four{};
  if (::inet_pton(AF_INET, terminated.c_str(), &four) == 1) return v4(ntohl(four.s_addr));
  Bytes bytes{};
  if (::inet_pton(AF_INET6, terminated.c_str(), bytes.data()) == 1) return Address(bytes);
  return std::nullopt;
}

bool Address::is_v4() const { return std::equal(mapped_prefix.begin(), mapped_prefix.begin() + 12, bytes_.begin()); }

std::uint32_t Address::as_v4() const { return quad_at(bytes_, 12); }

std::string Address::text() const {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(is_v4() ? AF_INET : AF_INET6, is_v4() ? &bytes_[12] : bytes_.data(), text, sizeof text);
  return text;
}

const char* phrase_for(Place place) {
  switch (place) {
    case Place::outside:
      return "outside";
    case Place::unspecified:
      return "no host at all";
    case Place::loopback:
      return "this machine's loopback";
    case Place::private_network:
      return "a private network";
    case Place::shared:
      return "a provider's shared network";
    case Place::link_local:
      return "the local link";
    case Place::metadata:
      return "a cloud's metadata service";
    case Place::multicast:
      return "a multicast group";
    case Place::broadcast:
      return "everybody on the link";
    case Place::documentation:
      return "a range for documentation";
    case Place::reserved:
      return "a reserved range";
  }
  return "a reserved range";
}

Place place_of(const Address& address) {
  return address.is_v4() ? place_of_v4(address.as_v4()) : place_of_v6(address.bytes());
}

}  // namespace cordon::sandbox::network
