#include "sandbox/network/name.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace cordon::sandbox::network {

namespace {

constexpr std::size_t longest_name = 253;
constexpr std::size_t longest_label = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

tl::unexpected<Error> refuse(std::string_view text, std::string_view why) {
  constexpr std::size_t enough = 80;
  return fail(Fault::invalid_input, "the host '{}' {}", visible(text.substr(0, enough), Lines::escape), why);
}

std::vector<std::string_view> labels_of(std::string_view name) {
  std::vector<std::string_view> labels;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    labels.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return labels;
}

/// What a C library would not look up but compute.
bool ends_in_number(const std::vector<std::string_view>& labels) {
  const std::string_view last = labels.back();
  if (last.empty()) return false;
  if (std::ranges::all_of(last, is_digit)) return true;
  return last.starts_with("0x") && std::ranges::all_of(last.substr(2), is_hex_digit);
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  unsigned base = 10;
  if (digits.starts_with("0x")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits.front() == '0') {
    base = 8;
    digits.remove_prefix(1);
  }
  std::uint64_t value = 0;
  for (const char c : digits) {
    const unsigned digit = is_digit(c) ? static_cast<unsigned>(c - '0') : static_cast<unsigned>(c - 'a' + 10);
    if (digit >= base) return std::nullopt;
    value = value * base + digit;
    if (value > 0xffffffffU) return std::nullopt;
  }
  return value;
}

/// inet_aton: up to four numbers, decimal, octal or hexadecimal; the last one fills what is left.
std::optional<Address> old_style_v4(const std::vector<std::string_view>& labels) {
  if (labels.size() > 4) return std::nullopt;
  std::uint32_t address = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].empty() || !is_digit(labels[i].front())) return std::nullopt;
    const auto value = number_of(labels[i]);
    if (!value) return std::nullopt;
    if (i + 1 == labels.size()) {
      const std::size_t bits = 8 * (4 - i);
      if (bits < 32 && *value >> bits != 0) return std::nullopt;
      return Address::v4(address | static_cast<std::uint32_t>(*value));
    }
    if (*value > 255) return std::nullopt;
    address |= static_cast<std::uint32_t>(*value) << (24 - 8 * i);
  }
  return std::nullopt;
}

Result<Host> parse_v6(std::string_view text, std::string_view inner) {
  if (inner.find(':') == std::string_view::npos) return refuse(text, "has brackets and is no IPv6 address");
  if (inner.find('%') != std::string_view::npos) return refuse(text, "names a zone, which means something only here");
  const auto address = Address::parse(inner);
  if (!address) return refuse(text, "is no IPv6 address");
  return Host{{}, *address};
}

bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_'; }

/// Why not, or nothing.
const char* fault_of_label(std::string_view label) {
  if (label.empty()) return "has an empty part between dots";
  if (label.size() > longest_label) return "has a part of more than 63 characters";
  if (label.front() == '-' || label.back() == '-') return "has a part that begins or ends with a hyphen";
  if (!std::ranges::all_of(label, is_name_character)) return "holds a character that no host's name has";
  return nullptr;
}

}  // namespace

std::string Host::text() const { return address ? address->text() : name; }

std::string Endpoint::text() const {
  const bool brackets = host.address && !host.address->is_v4();
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", host.text(), brackets ? "]" : "", port);
}

Result<Host> parse_host(std::string_view text) {
  if (text.empty()) return refuse(text, "is empty");
  if (text.size() > longest_name + 3) return refuse(text, "is longer than a name can be");
  if (text.front() == '[') {
    if (text.back() != ']') return refuse(text, "has an open bracket");
    return parse_v6(text, text.substr(1, text.size() - 2));
  }
  if (text.find(':') != std::string_view::npos) return parse_v6(text, text);
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    return refuse(text, "is not in ASCII; write it in its xn-- form");
  }
  std::string name = to_lower(text);
  if (name.ends_with('.')) name.pop_back();
  if (name.size() > longest_name) return refuse(text, "is longer than a name can be");
  const auto labels = labels_of(name);
  for (const std::string_view label : labels) {
    if (const char* why = fault_of_label(label)) return refuse(text, why);
  }
  if (!ends_in_number(labels)) return Host{name, std::nullopt};
  const auto address = old_style_v4(labels);
  if (!address) return refuse(text, "ends in a number and is no IPv4 address");
  return Host{{}, *address};
}

std::optional<std::uint16_t> parse_port(std::string_view digits) {
  if (digits.empty() || digits.size() > 5 || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
  unsigned value = 0;
  for (const char c : digits) value = value * 10 + static_cast<unsigned>(c - '0');
  if (value == 0 || value > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

Result<Endpoint> parse_endpoint(std::string_view text, std::optional<std::uint16_t> default_port) {
  const std::size_t after_bracket = text.starts_with('[') ? text.find(']') : 0;
  if (after_bracket == std::string_view::npos) return refuse(text, "has an open bracket");
  const std::size_t colon = text.find(':', after_bracket);
  std::optional<std::uint16_t> port = default_port;
  if (colon != std::string_view::npos) {
    port = parse_port(text.substr(colon + 1));
    if (!port) return refuse(text, "has no port between 1 and 65535 after its colon");
  }
  if (!port) return refuse(text, "has no port");
  const std::string_view host = text.substr(0, colon);
  if (text.starts_with('[') && host.size() != after_bracket + 1) return refuse(text, "goes on after its bracket");
  return Endpoint{TRY(parse_host(host)), *port};
}

}  // namespace cordon::sandbox::network
