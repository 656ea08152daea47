// The first message of a TLS client, read for one thing: which server it names. A tunnel to one name that asks for
// another is a way around the rules (domain fronting).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/network/name.h"

namespace cordon::sandbox::network {

struct ClientHello {
  std::optional<std::string> server_name;  // as sent
  bool encrypted = false;                  // carries a second, encrypted hello with another name (ECH)
};

/// Nothing: more is needed. An error: this is no ClientHello that a strict reader takes.
Result<std::optional<ClientHello>> read_client_hello(std::string_view bytes);

/// Whether it may go to `host`. An address that was named may be asked for any server on it.
Result<void> check_server_name(const ClientHello& hello, const Host& host);

/// A fatal alert "access denied", which the client's library reports.
std::string_view tls_access_denied();

}  // namespace cordon::sandbox::network
