#include "sandbox/network/rule.h"

#include <algorithm>

#include "base/text.h"

namespace cordon::sandbox::network {

namespace {

constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;

bool fits_host(const Rule& rule, const Host& host) {
  if (!rule.subdomains) return rule.host == host;
  return host.name.size() > rule.host.name.size() + 1 && host.name.ends_with("." + rule.host.name);
}

bool fits_port(const Rule& rule, std::uint16_t port) {
  return rule.port ? *rule.port == port : port == http_port || port == https_port;
}

bool fits_method(const Rule& rule, const Wish& wish) {
  if (rule.methods.empty()) return true;
  return wish.transport == Transport::http && std::ranges::find(rule.methods, wish.method) != rule.methods.end();
}

Result<std::vector<std::string>> parse_methods(std::string_view text) {
  std::vector<std::string> methods;
  while (!text.empty()) {
    const std::string_view method = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), method.size() + 1));
    const bool plain = !method.empty() && std::ranges::all_of(method, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!plain || method == "CONNECT") return fail(Fault::invalid_input, "'{}' is no HTTP method", method);
    methods.emplace_back(method);
  }
  return methods;
}

}  // namespace

const char* name_of(Transport transport) {
  switch (transport) {
    case Transport::http:
      return "http";
    case Transport::tunnel:
      return "connect";
    case Transport::socks:
      return "socks";
  }
  return "connect";
}

std::optional<Transport> transport_named(std::string_view name) {
  for (const Transport transport : {Transport::http, Transport::tunnel, Transport::socks}) {
    if (name == name_of(transport)) return transport;
  }
  return std::nullopt;
}

Result<Rule> parse_rule(std::string_view text) {
  Rule rule;
  rule.text = text;
  std::string_view rest = text;
  if (const std::size_t blank = rest.find(' '); blank != std::string_view::npos) {
    rule.methods = TRY(parse_methods(rest.substr(0, blank)));
    rest = trim(rest.substr(blank));
  }
  rule.subdomains = rest.starts_with("*.");
  if (rule.subdomains) rest.remove_prefix(2);
  const bool has_port = rest.find(':', rest.starts_with('[') ? rest.find(']') : 0) != std::string_view::npos;
  const Endpoint endpoint = TRY(parse_endpoint(rest, https_port));
  rule.host = endpoint.host;
  if (has_port) rule.port = endpoint.port;
  if (rule.subdomains && rule.host.address)
    return fail(Fault::invalid_input, "'{}': an address has no subdomains", text);
  if (rule.subdomains && rule.host.name.find('.') == std::string::npos) {
    return fail(Fault::invalid_input, "'{}' would open a whole top-level domain", text);
  }
  return rule;
}

Result<Rules> Rules::parse(const std::vector<std::string>& texts) {
  Rules rules;
  for (const std::string& text : texts) rules.rules_.push_back(TRY(parse_rule(text)));
  return rules;
}

Decision Rules::decide(const Wish& wish) const {
  Decision decision{.reason = "no rule names it", .would_allow = wish.endpoint.text()};
  for (const Rule& rule : rules_) {
    if (!fits_host(rule, wish.endpoint.host)) continue;
    if (!fits_port(rule, wish.endpoint.port)) {
      decision.reason = rule.port ? fmt::format("the rule {} is for another port", rule.text)
                                  : fmt::format("the rule {} is for ports 80 and 443", rule.text);
      continue;
    }
    if (!fits_method(rule, wish)) {
      decision.reason = fmt::format("the rule {} is for plain requests with these methods only", rule.text);
      continue;
    }
    return {.allowed = true, .rule = rule.text, .web_only = !rule.port};
  }
  return decision;
}

std::vector<Address> Rules::named_addresses(std::uint16_t port) const {
  std::vector<Address> named;
  for (const Rule& rule : rules_) {
    if (rule.host.address && fits_port(rule, port)) named.push_back(*rule.host.address);
  }
  return named;
}

}  // namespace cordon::sandbox::network
