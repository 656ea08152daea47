#include "config/value.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "model/tools.h"

namespace cordon::config {
namespace {

constexpr std::array<std::string_view, 5> presets = {"npm", "pip", "apt", "cargo", "git"};
constexpr std::array<std::string_view, 3> accesses = {"none", "ro", "rw"};
constexpr std::size_t longest_entry = 4096;

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 80;
  if (text.size() <= most) return fmt::format("'{}'", visible(text, Lines::escape));
  return fmt::format("'{}…' ({} bytes)", visible(text.substr(0, most), Lines::escape), text.size());
}

/// A decimal number without sign or exponent.
std::optional<double> read_decimal(std::string_view text) {
  double made = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), made, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(made)) return std::nullopt;
  if (text.starts_with('-') || text.starts_with('i') || text.starts_with('n')) return std::nullopt;
  return made;
}

std::optional<double> read_size(std::string_view text) {
  struct Unit {
    std::string_view name;
    int power;
  };
  static constexpr Unit units[] = {{"", 0},    {"b", 0},   {"bytes", 0}, {"k", 1},   {"kb", 1},
                                   {"kib", 1}, {"m", 2},   {"mb", 2},    {"mib", 2}, {"g", 3},
                                   {"gb", 3},  {"gib", 3}, {"t", 4},     {"tb", 4},  {"tib", 4}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> count = read_decimal(text.substr(0, digits));
  const std::string name = to_lower(trim(text.substr(digits)));
  for (const Unit& unit : units) {
    if (count && unit.name == name) return *count * std::pow(1024.0, unit.power);
  }
  return std::nullopt;
}

/// Thousands may be written with commas or underscores: 1,000.
std::optional<double> read_count(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ',' && c != '_') digits.push_back(c);
  }
  const std::optional<double> made = read_decimal(digits);
  return made && std::floor(*made) == *made ? made : std::nullopt;
}

std::optional<double> read_duration(std::string_view text) {
  const std::optional<Duration> made = parse_duration(to_lower(text));
  if (!made) return std::nullopt;
  return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(*made).count());
}

std::optional<double> read_boolean(std::string_view text) {
  const std::string lower = to_lower(text);
  if (lower == "true" || lower == "yes" || lower == "on") return 1;
  if (lower == "false" || lower == "no" || lower == "off") return 0;
  return std::nullopt;
}

std::string range_of(const Field& field) {
  const auto bound = [&](double number) {
    const double scale = field.form == Form::processors ? 1000 : 1;
    return shown(field, static_cast<std::int64_t>(number * scale));
  };
  return fmt::format("between {} and {}", bound(field.least), bound(field.most));
}

std::string expected(const Field& field) {
  switch (field.form) {
    case Form::choice:
      return listed(field.choices);
    case Form::boolean:
      return "true or false";
    case Form::duration:
      return fmt::format("a duration such as 60s, 15 minutes or 30 days, {}", range_of(field));
    case Form::size:
      return fmt::format("a size such as 512M or 1 GiB, {}", range_of(field));
    case Form::count:
      return fmt::format("a whole number {}", range_of(field));
    case Form::processors:
      return fmt::format("a number of processors {}", range_of(field));
    case Form::text:
      return "text on one line";
    case Form::address:
      return "an address such as https://host/path, without a user in it";
    case Form::file:
      return "an absolute path, or one that begins with ~/";
    default:
      return "a list";
  }
}

tl::unexpected<Error> wrong(const Field& field, std::string_view name, std::string_view found, const Origin& origin,
                            std::string_view hint = "") {
  return fail(Fault::invalid_input, "{}: {} is {}; expected {}{}", origin.text(), name, found, expected(field), hint);
}

Result<Scalar> in_range(const Field& field, std::string_view name, std::optional<double> number, std::string_view found,
                        const Origin& origin) {
  if (field.form == Form::boolean && number) return Scalar(static_cast<std::int64_t>(*number));
  if (!number || !(*number >= field.least) || !(*number <= field.most)) return wrong(field, name, found, origin);
  const double scale = field.form == Form::processors ? 1000 : 1;
  return Scalar(static_cast<std::int64_t>(std::llround(*number * scale)));
}

Result<Scalar> read_choice(const Field& field, std::string_view name, std::string_view text, const Origin& origin) {
  const std::string lower = to_lower(text);
  const auto found = std::ranges::find(field.choices, lower);
  if (found == field.choices.end()) {
    return wrong(field, name, in_quotes(text), origin, did_you_mean(text, field.choices));
  }
  return Scalar(static_cast<std::int64_t>(found - field.choices.begin()));
}

Result<void> check_line(std::string_view text, const Origin& origin) {
  if (text.empty()) return fail(Fault::invalid_input, "{}: an entry is empty", origin.text());
  if (text.size() > longest_entry) {
    return fail(Fault::invalid_input, "{}: an entry has {} bytes, more than {}", origin.text(), text.size(),
                longest_entry);
  }
  for (const HiddenCharacter& hidden : hidden_characters(text)) {
    if (hidden.kind == Hidden::confusable) continue;
    return fail(Fault::invalid_input, "{}: entry {} holds a character that nobody would see ({}: {})", origin.text(),
                in_quotes(text), hidden.escape, name_of(hidden.kind));
  }
  if (text.find_first_of("\n\t") != std::string_view::npos) {
    return fail(Fault::invalid_input, "{}: entry {} is not one line", origin.text(), in_quotes(text));
  }
  return {};
}

bool is_host_name(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  for (std::size_t at = 0; at <= host.size();) {
    const std::size_t end = std::min(host.find('.', at), host.size());
    const std::string_view label = host.substr(at, end - at);
    if (label.empty() || label.size() > 63 || label.starts_with('-') || label.ends_with('-')) return false;
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
    if (!std::ranges::all_of(label, plain)) return false;
    at = end + 1;
  }
  return true;
}

/// Everything a C library would take for an IPv4 address: its last label is a number.
bool is_address(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; }) || last.starts_with("0x");
}

/// In the one spelling that everybody reads alike.
bool is_plain_address(std::string_view host) {
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  const std::string bare(brackets ? host.substr(1, host.size() - 2) : host);
  in6_addr parsed{};
  char text[INET6_ADDRSTRLEN] = {};
  const int family = brackets ? AF_INET6 : AF_INET;
  return ::inet_pton(family, bare.c_str(), &parsed) == 1 && ::inet_ntop(family, &parsed, text, sizeof text) == bare;
}

std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

Result<NetworkRule> read_network(std::string_view text, const Origin& origin) {
  NetworkRule made;
  made.origin = origin;
  const std::string lower = to_lower(text);
  std::string_view rest = lower;
  if (rest.starts_with("preset:")) {
    made.preset = trim(rest.substr(7));
    if (std::ranges::find(presets, made.preset) != presets.end()) return made;
    return fail(Fault::invalid_input, "{}: unknown network preset {}; expected {}{}", origin.text(),
                in_quotes(made.preset), listed(presets), did_you_mean(made.preset, presets));
  }
  const auto refuse = [&](std::string_view why) {
    return fail(Fault::invalid_input, "{}: network entry {} {}; expected a domain, domain:port or preset:NAME",
                origin.text(), in_quotes(text), why);
  };
  if (rest.find('/') != std::string_view::npos) return refuse("is not a bare domain");
  if (const std::size_t blank = rest.find(' '); blank != std::string_view::npos) {
    for (std::string_view words = rest.substr(0, blank); !words.empty();) {
      const std::string_view word = words.substr(0, words.find(','));
      words.remove_prefix(std::min(words.size(), word.size() + 1));
      const bool letters = !word.empty() && std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
      if (!letters || word == "connect") return refuse("has something before its domain that is no list of methods");
      made.methods.push_back(to_upper(word));
    }
    rest = trim(rest.substr(blank));
  }
  const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  if (bracket == std::string_view::npos) return refuse("has an open bracket");
  if (const std::size_t colon = rest.find(':', bracket); colon != std::string_view::npos) {
    const std::string_view digits = rest.substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size() || port == 0) return refuse("has a bad port");
    made.port = port;
    rest = rest.substr(0, colon);
  }
  if (rest.ends_with('.')) rest.remove_suffix(1);
  made.subdomains = rest.starts_with("*.");
  if (made.subdomains) rest.remove_prefix(2);
  if (rest == "*") return refuse("would open the whole network");
  if (is_plain_address(rest) && !made.subdomains) {
    made.host = rest;
    return made;
  }
  if (!is_host_name(rest)) return refuse("is not a domain in ASCII");
  if (is_address(rest)) return refuse("is an address in another spelling than 192.0.2.1 or [2001:db8::1]");
  if (made.subdomains && rest.find('.') == std::string_view::npos) return refuse("would open a whole top-level domain");
  made.host = rest;
  return made;
}

Result<PathRule> read_path(std::string_view text, const Origin& origin, const Surroundings& around) {
  const std::size_t colon = text.rfind(':');
  const std::string_view mode = colon == std::string_view::npos ? "" : trim(text.substr(colon + 1));
  const auto access = std::ranges::find(accesses, to_lower(mode));
  std::string path(trim(text.substr(0, std::min(colon, text.size()))));
  if (access == accesses.end() || path.empty()) {
    return fail(Fault::invalid_input,
                "{}: filesystem entry {} is not of the form 'path: ro', 'path: rw' or 'path: none'", origin.text(),
                in_quotes(text));
  }
  if (path == "~" || path.starts_with("~/")) path = around.home + path.substr(1);
  if (path.starts_with('~')) {
    return fail(Fault::invalid_input, "{}: filesystem path {} names another user's home; write it out", origin.text(),
                in_quotes(path));
  }
  if (!path.starts_with('/')) path = around.workspace + "/" + path;
  PathRule made{normal_path(path), static_cast<PathAccess>(access - accesses.begin()), origin};
  const auto resolved = resolve_links(made.path);
  if (!resolved) {
    return fail(Fault::invalid_input, "{}: filesystem path {}: {}", origin.text(), in_quotes(made.path),
                visible(resolved.error().sentence, Lines::escape).substr(0, 200));
  }
  const bool inside = is_within(*resolved, around.workspace) && is_within(made.path, around.workspace);
  if (made.access != PathAccess::none && !inside) {
    CHECK_OK(around.binds.check_source(made.path, fmt::format("filesystem path {}", in_quotes(made.path)), origin));
  }
  return made;
}

Result<Entry> read_tool(const Field& field, std::string_view text, const Origin& origin, std::vector<Remark>& remarks) {
  Entry made{canonical_tool(text), origin};
  if (is_tool_name(made.value)) return made;
  const std::string hint = did_you_mean(made.value, made.value.starts_with("group:") ? known_groups() : known_tools());
  if (field.form == Form::allowed_tools) {
    return fail(Fault::invalid_input, "{}: unknown tool {} in allow{}", origin.text(), in_quotes(text), hint);
  }
  remarks.push_back({Remark::Kind::warning,
                     fmt::format("{}: unknown tool {} in deny is kept{}", origin.text(), in_quotes(text), hint)});
  return made;
}

Result<Entry> read_variable(std::string_view text, const Origin& origin) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, std::min(equals, text.size()));
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (equals == std::string_view::npos || name.empty() || !std::ranges::all_of(name, plain)) {
    return fail(Fault::invalid_input, "{}: {} is no name of an environment variable", origin.text(), in_quotes(name));
  }
  return Entry{std::string(text), origin};
}

bool is_web_address(std::string_view text) {
  const bool tls = text.starts_with("https://");
  if (!tls && !text.starts_with("http://")) return false;
  const std::string_view rest = text.substr(tls ? 8 : 7);
  const std::string_view authority = rest.substr(0, std::min(rest.find_first_of("/?#"), rest.size()));
  return !authority.empty() && authority.find_first_of("@ \\\"") == std::string_view::npos;
}

Result<Entry> read_event(const Field& field, std::string_view text, const Origin& origin) {
  const auto found = std::ranges::find(field.choices, to_lower(text));
  if (found != field.choices.end()) return Entry{std::string(*found), origin};
  return fail(Fault::invalid_input, "{}: unknown event {}; expected {}{}", origin.text(), in_quotes(text),
              listed(field.choices), did_you_mean(text, field.choices));
}

Result<BindSetting> read_bind(std::string_view text, const Origin& origin, const Surroundings& around,
                              std::vector<Remark>& remarks) {
  BindSetting made = TRY(around.binds.read(text, origin));
  std::error_code ignored;
  if (!std::filesystem::exists(made.resolved, ignored)) {
    remarks.push_back(
        {Remark::Kind::note, fmt::format("{}: the source of bind {} does not exist", origin.text(), in_quotes(text))});
  }
  return made;
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto found = nearest(word, candidates);
  return found ? fmt::format(" (did you mean '{}'?)", *found) : "";
}

std::string listed(std::span<const std::string_view> words) {
  std::string made;
  for (std::size_t index = 0; index < words.size(); ++index) {
    if (index > 0) made += index + 1 == words.size() ? " or " : ", ";
    made += words[index];
  }
  return made;
}

Result<Scalar> read_scalar(const Field& field, std::string_view name, std::string_view text, const Origin& origin) {
  switch (field.form) {
    case Form::choice:
      return read_choice(field, name, text, origin);
    case Form::boolean:
      return in_range(field, name, read_boolean(text), in_quotes(text), origin);
    case Form::duration:
      return in_range(field, name, read_duration(text), in_quotes(text), origin);
    case Form::size:
      return in_range(field, name, read_size(text), in_quotes(text), origin);
    case Form::count:
      return in_range(field, name, read_count(text), in_quotes(text), origin);
    case Form::processors:
      return in_range(field, name, read_decimal(text), in_quotes(text), origin);
    default:
      break;
  }
  CHECK_OK(check_line(text, origin));
  if (field.form == Form::address && !is_web_address(text)) return wrong(field, name, in_quotes(text), origin);
  if (field.form == Form::file && !text.starts_with('/') && !text.starts_with("~/")) {
    return wrong(field, name, in_quotes(text), origin);
  }
  return Scalar(std::string(text));
}

Result<Scalar> read_scalar(const Field& field, std::string_view name, const json5::Value& value, const Origin& origin) {
  using Kind = json5::Value::Kind;
  const bool numeric = field.form == Form::duration || field.form == Form::size || field.form == Form::count ||
                       field.form == Form::processors;
  if (value.kind == Kind::boolean && field.form == Form::boolean) return Scalar(std::int64_t{value.boolean});
  if (value.kind == Kind::string && field.form != Form::boolean && field.form != Form::count) {
    return read_scalar(field, name, value.string, origin);
  }
  if (value.kind != Kind::number || !numeric) return wrong(field, name, name_of(value.kind), origin);
  const bool whole = std::floor(value.number) == value.number || field.form == Form::processors;
  return in_range(field, name, whole ? std::optional(value.number) : std::nullopt, fmt::format("{}", value.number),
                  origin);
}

Result<Item> read_item(const Field& field, std::string_view text, const Origin& origin, const Surroundings& around,
                       std::vector<Remark>& remarks) {
  CHECK_OK(check_line(text, origin));
  switch (field.form) {
    case Form::network:
      return Item{TRY(read_network(text, origin))};
    case Form::paths:
      return Item{TRY(read_path(text, origin, around))};
    case Form::binds:
      return Item{TRY(read_bind(text, origin, around, remarks))};
    case Form::allowed_tools:
    case Form::denied_tools:
      return Item{TRY(read_tool(field, text, origin, remarks))};
    case Form::environment:
      return Item{TRY(read_variable(text, origin))};
    case Form::events:
      return Item{TRY(read_event(field, text, origin))};
    default:
      return Item{Entry{std::string(text), origin}};
  }
}

}  // namespace cordon::config
