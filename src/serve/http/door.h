// Who may come in: checked on the head of a request, before its body is read.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "serve/http/exchange.h"
#include "serve/http/message.h"
#include "serve/token.h"

namespace cordon::serve::http {

/// The way a connection came.
struct Entrance {
  bool local = false;  // a Unix socket whose peer is our own user, outside every sandbox
  bool tls = false;
  std::string address;  // of the listening socket: "127.0.0.1", "::1"
  std::uint16_t port = 0;
};

struct DoorOptions {
  std::string user;  // who we are, and so who every caller is
  std::uint32_t uid = 0;
  std::string workspace;             // of who shows no token
  std::vector<std::string> hosts;    // further names that this server is called by
  std::vector<std::string> origins;  // pages that may call it, "https://host:port"
};

class Door {
 public:
  Door(DoorOptions options, TokenCheck& tokens) : options_(std::move(options)), tokens_(tokens) {}

  /// Host and Origin: a page from elsewhere must not reach us through somebody's browser.
  std::optional<Response> wrong_place(const Head& head, const Entrance& entrance) const;
  /// Who it is, or why not.
  std::variant<Visitor, Response> visitor(const Head& head, const Entrance& entrance) const;

 private:
  bool is_ours(std::string_view host, const Entrance& entrance) const;
  DoorOptions options_;
  TokenCheck& tokens_;
};

/// "host", "host:80", "[::1]:80" → the name and the port, lower case, without brackets; nothing when it is neither.
struct HostPort {
  std::string host;
  std::optional<std::uint16_t> port;
};
std::optional<HostPort> split_host(std::string_view text);

/// The token in "Bearer …"; nothing when it is not written so.
std::optional<std::string_view> bearer(std::string_view authorization);

}  // namespace cordon::serve::http
