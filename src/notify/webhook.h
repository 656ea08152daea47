// One signed POST. No redirects, no proxies, no second try.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::notify {

struct Address {
  bool tls = true;
  std::string host;  // without brackets
  std::uint16_t port = 443;
  std::string path = "/";

  /// As it stands in the Host header.
  std::string authority() const;
};

/// http or https, no user in it.
Result<Address> read_address(std::string_view url);

struct Post {
  std::string event;
  std::string body;
  std::string secret;            // empty: not signed
  std::int64_t timestamp = 0;    // seconds
  std::chrono::seconds step{5};  // each of connecting, sending and answering
};

/// What the receiver recomputes: HMAC-SHA256 over "TIMESTAMP.BODY".
std::string signature_of(const Post& post);

/// Fails unless the answer is a 2xx. Over TLS the certificate must fit the name and lead to a CA of this machine.
Result<void> post(const Address& address, const Post& post);

}  // namespace cordon::notify
