#include "audit/verify/line_view.h"

#include <array>
#include <charconv>

#include "base/json.h"
#include "base/text.h"

namespace cordon::audit {

namespace {

constexpr int deepest = 32;

// What stands in a string for itself and ends nothing. A table, because most of a log is this.
constexpr std::array<bool, 256> plain = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x20; c < 0x80; ++c) table[c] = c != '"' && c != '\\';
  return table;
}();

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool object(std::vector<Member>* members, int depth) {
    if (!take('{') || depth > deepest) return false;
    if (take('}')) return true;
    do {
      const std::size_t key = at_;
      if (!string()) return false;
      const std::string_view name = text_.substr(key + 1, at_ - key - 2);
      if (!take(':')) return false;
      const std::size_t begin = at_;
      if (!value(depth + 1)) return false;
      if (members != nullptr) members->push_back({name, text_.substr(begin, at_ - begin)});
    } while (take(','));
    return take('}');
  }

  bool at_end() const { return at_ == text_.size(); }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++at_;
    return true;
  }

  bool value(int depth) {
    switch (peek()) {
      case '"':
        return string();
      case '{':
        return object(nullptr, depth);
      case '[':
        return array(depth);
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return integer();
    }
  }

  bool array(int depth) {
    if (!take('[') || depth > deepest) return false;
    if (take(']')) return true;
    do {
      if (!value(depth + 1)) return false;
    } while (take(','));
    return take(']');
  }

  bool word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // The format has no fractions and no exponents.
  bool integer() {
    take('-');
    if (take('0')) return true;
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > begin;
  }

  bool string() {
    if (!take('"')) return false;
    const char* const bytes = text_.data();
    const std::size_t size = text_.size();
    std::size_t at = at_;
    for (;;) {
      while (at < size && plain[static_cast<unsigned char>(bytes[at])]) ++at;
      at_ = at;
      if (at == size) return false;
      const char c = bytes[at];
      if (c == '"') return take('"');
      if (c == '\\') {
        if (!escape()) return false;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        return false;
      } else {
        const auto decoded = decode_utf8(text_, at_);
        if (!decoded) return false;
        at_ += decoded->length;
      }
      at = at_;
    }
  }

  bool escape() {
    ++at_;
    const char c = peek();
    if (at_end()) return false;
    ++at_;
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char digit = peek();
      const bool hex =
          (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F');
      if (!hex) return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool read_members(std::string_view text, std::vector<Member>& members) {
  members.clear();
  Scanner scanner(text);
  return scanner.object(&members, 0) && scanner.at_end();
}

std::string_view value_of(const std::vector<Member>& members, std::string_view key) {
  for (const Member& member : members) {
    if (member.key == key) return member.value;
  }
  return {};
}

std::optional<std::string_view> between_quotes(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return std::nullopt;
  return value.substr(1, value.size() - 2);
}

std::optional<std::uint64_t> number_of(std::string_view value) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  if (value.size() > 1 && value[0] == '0') return std::nullopt;
  return number;
}

std::string unescaped(std::string_view value) {
  const auto inner = between_quotes(value);
  if (!inner) return "";
  if (inner->find('\\') == std::string_view::npos) return std::string(*inner);
  const Json json = parse_json(value);
  return json.is_string() ? json.get<std::string>() : "";
}

}  // namespace cordon::audit
