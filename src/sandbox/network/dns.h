// Questions to a name server and its answers (RFC 1035), for addresses only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/network/address.h"

namespace cordon::sandbox::network {

enum class RecordType : std::uint16_t { a = 1, aaaa = 28 };

/// `name` must be canonical. Recursion is asked for.
std::string dns_query(std::uint16_t id, std::string_view name, RecordType type);

struct DnsReply {
  std::vector<Address> addresses;
  std::uint32_t ttl = 0;   // of the shortest-lived record that counts, in seconds
  bool truncated = false;  // ask again over TCP
  int code = 0;            // 0 no error, 3 there is no such name
};

/// An error: not an answer to that question, or malformed. Records count only for the name asked for and for the names
/// that it is an alias of.
Result<DnsReply> parse_dns_reply(std::string_view bytes, std::uint16_t id, std::string_view name, RecordType type);

}  // namespace cordon::sandbox::network
