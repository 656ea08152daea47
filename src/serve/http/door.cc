#include "serve/http/door.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace cordon::serve::http {

namespace {

Response who_are_you(std::string_view code, std::string_view message) {
  Response response = error_response(401, code, message,
                                     "Send `Authorization: Bearer TOKEN`; a person makes one: cordon token create.");
  response.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"cordon\"");
  return response;
}

bool is_loopback_name(std::string_view host) { return host == "localhost" || host == "127.0.0.1" || host == "::1"; }

}  // namespace

std::optional<HostPort> split_host(std::string_view text) {
  HostPort parts;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    parts.host = to_lower(text.substr(1, end - 1));
    rest = text.substr(end + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    parts.host = to_lower(text.substr(0, colon));
    rest = text.substr(colon);
  }
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':' || c == '_';
  };
  if (parts.host.empty() || !std::ranges::all_of(parts.host, fits)) return std::nullopt;
  if (rest.empty()) return parts;
  if (rest.front() != ':' || rest.size() < 2) return std::nullopt;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), port);
  if (error != std::errc() || end != rest.data() + rest.size()) return std::nullopt;
  parts.port = port;
  return parts;
}

std::optional<std::string_view> bearer(std::string_view authorization) {
  constexpr std::size_t scheme = 7;
  if (authorization.size() <= scheme || to_lower(authorization.substr(0, scheme)) != "bearer ") return std::nullopt;
  const std::string_view token = trim(authorization.substr(scheme));
  if (token.empty() || token.find_first_of(" \t,") != std::string_view::npos) return std::nullopt;
  return token;
}

bool Door::is_ours(std::string_view host, const Entrance& entrance) const {
  if (is_loopback_name(host) || host == entrance.address) return true;
  return std::ranges::any_of(options_.hosts, [&](const std::string& name) { return to_lower(name) == host; });
}

std::optional<Response> Door::wrong_place(const Head& head, const Entrance& entrance) const {
  const std::string* host = head.field("host");
  const auto named = split_host(host == nullptr ? "" : *host);
  // A browser does not open Unix sockets, and what clients write there as Host is anything.
  const bool ours = named && is_ours(named->host, entrance) && (!named->port || *named->port == entrance.port);
  if (!entrance.local && !ours) {
    return error_response(421, "wrong_host", "this server is not called by that Host",
                          "Use the address it listens on; further names are given by: cordon serve --host NAME.");
  }
  const std::string* origin = head.field("origin");
  if (origin == nullptr) return std::nullopt;
  if (std::ranges::find(options_.origins, *origin) != options_.origins.end()) return std::nullopt;
  // Our own pages: the very scheme, host and port that we were reached by.
  const std::string own = fmt::format("{}://{}", entrance.tls ? "https" : "http", host == nullptr ? "" : *host);
  if (!entrance.local && head.count("origin") == 1 && *origin == own) return std::nullopt;
  return error_response(403, "wrong_origin", "a page of that origin may not use this server",
                        "Pages are allowed by: cordon serve --origin https://HOST:PORT.");
}

std::variant<Visitor, Response> Door::visitor(const Head& head, const Entrance& entrance) const {
  Visitor visitor{.workspace = options_.workspace, .key = "peer", .known = true};
  Principal& principal = visitor.caller.principal;
  principal.user = options_.user;
  principal.uid = options_.uid;
  principal.surface = "http";
  principal.is_agent = true;
  if (head.count("authorization") > 1) return who_are_you("unauthorized", "there must be one Authorization");
  const std::string* authorization = head.field("authorization");
  if (authorization == nullptr) {
    if (entrance.local) return visitor;
    return who_are_you("unauthorized", "a token is needed here");
  }
  const auto secret = bearer(*authorization);
  if (!secret) return who_are_you("unauthorized", "Authorization must be: Bearer TOKEN");
  const auto token = tokens_.owner_of(*secret);
  if (!token) {
    if (token.error().fault != Fault::denied) return error_response(token.error());
    return who_are_you("invalid_token", token.error().sentence);
  }
  visitor.workspace = token->workspace;
  visitor.key = token->id;
  visitor.caller.role = token->role;
  visitor.caller.token = token->id;
  principal.agent = token->agent;
  principal.session = token->session;
  // Making such a token took presence, so showing it is presence.
  if (token->role == Role::approver) {
    visitor.caller.presence = approve::Presence::token;
    principal.is_agent = false;
  }
  return visitor;
}

}  // namespace cordon::serve::http
