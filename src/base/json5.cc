#include "base/json5.h"

#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/json.h"
#include "base/json5_characters.h"
#include "base/text.h"

namespace cordon::json5 {
namespace {

constexpr char32_t end_of_text = 0xFFFFFFFF;
constexpr char32_t not_utf8 = 0xFFFFFFFE;

/// How a character is named in an error; the text may be hostile, so nothing unprintable gets through.
std::string shown(char32_t character) {
  if (character == end_of_text) return "the end of the file";
  if (character == not_utf8) return "bytes that are not UTF-8";
  if (character > ' ' && character < 0x7F) return fmt::format("'{}'", static_cast<char>(character));
  return fmt::format("U+{:04X}", static_cast<std::uint32_t>(character));
}

/// One character decoded: its code point and how many bytes it takes.
struct Decoded {
  char32_t character;
  std::size_t bytes;
};

Decoded decode(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {end_of_text, 0};
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {byte, 1};
  const std::optional<Utf8> decoded = decode_utf8(text, at);
  return decoded ? Decoded{decoded->character, decoded->length} : Decoded{not_utf8, 0};
}

/// Strings are written in UTF-16 units: two escapes may make one character, so a high half waits for its low half.
class TextBuilder {
 public:
  bool add_raw(char32_t character) {
    append_utf8(text_, character);
    return high_ == 0;
  }
  bool add_unit(char32_t unit) {
    if (high_ != 0) {
      if (unit < 0xDC00 || unit > 0xDFFF) return false;
      append_utf8(text_, 0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00));
      high_ = 0;
      return true;
    }
    if (unit >= 0xDC00 && unit <= 0xDFFF) return false;
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      high_ = unit;
      return true;
    }
    append_utf8(text_, unit);
    return true;
  }
  bool whole() const { return high_ == 0; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  char32_t high_ = 0;
};

class Reader {
 public:
  Reader(std::string_view text, std::string_view name, const Limits& limits)
      : text_(text), name_(name), limits_(limits) {
    ahead_ = decode(text_, 0);
  }

  Result<Document> document() {
    CHECK_OK(skip_blank());
    document_.root = TRY(value(0));
    CHECK_OK(skip_blank());
    if (peek() != end_of_text) return unexpected("the end of the file");
    return std::move(document_);
  }

 private:
  char32_t peek() const { return ahead_.character; }

  char32_t peek_second() const { return decode(text_, at_ + ahead_.bytes).character; }

  void advance() {
    const char32_t passed = ahead_.character;
    at_ += ahead_.bytes;
    ahead_ = decode(text_, at_);
    if (passed == '\n' || (passed == '\r' && ahead_.character != '\n')) {
      ++place_.line;
      place_.column = 1;
    } else {
      // A byte order mark is no character of the first line.
      place_.column += passed == 0xFEFF && at_ == 3 ? 0 : 1;
    }
  }

  template <class... Args>
  tl::unexpected<Error> wrong(Place where, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Fault::invalid_input, "{}:{}:{}: {}", name_, where.line, where.column,
                fmt::format(format, std::forward<Args>(args)...));
  }

  tl::unexpected<Error> unexpected(std::string_view wanted) const {
    if (peek() == not_utf8)
      return wrong(place_, "not valid UTF-8 (byte 0x{:02X})", static_cast<unsigned char>(text_[at_]));
    return wrong(place_, "expected {}, found {}", wanted, shown(peek()));
  }

  Result<void> skip_blank() {
    for (;;) {
      if (is_space(peek())) {
        advance();
      } else if (peek() == '/') {
        CHECK_OK(skip_comment());
      } else {
        return {};
      }
    }
  }

  Result<void> skip_comment() {
    const Place start = place_;
    advance();
    if (peek() == '/') {
      while (peek() != end_of_text && !is_line_terminator(peek())) {
        if (peek() == not_utf8) return unexpected("a comment");
        advance();
      }
      return {};
    }
    if (peek() != '*') return unexpected("'/' or '*' of a comment");
    advance();
    for (;;) {
      if (peek() == not_utf8) return unexpected("a comment");
      if (peek() == end_of_text) return wrong(start, "comment is not closed by '*/'");
      const bool star = peek() == '*';
      advance();
      if (star && peek() == '/') break;
    }
    advance();
    return {};
  }

  Result<Value> value(int depth) {
    Value made;
    made.where = place_;
    switch (peek()) {
      case '{':
        return object(depth + 1);
      case '[':
        return array(depth + 1);
      case '"':
      case '\'':
        made.kind = Value::Kind::string;
        made.string = TRY(string());
        return made;
      case 'n':
        CHECK_OK(literal("null"));
        return made;
      case 't':
      case 'f':
        made.kind = Value::Kind::boolean;
        made.boolean = peek() == 't';
        CHECK_OK(literal(made.boolean ? "true" : "false"));
        return made;
      default:
        break;
    }
    const char32_t next = peek();
    if (!is_digit(next) && next != '+' && next != '-' && next != '.' && next != 'I' && next != 'N') {
      return unexpected("a value");
    }
    made.kind = Value::Kind::number;
    made.number = TRY(number());
    return made;
  }

  Result<void> literal(std::string_view word) {
    for (const char letter : word) {
      if (peek() != static_cast<char32_t>(letter)) return unexpected(fmt::format("'{}'", word));
      advance();
    }
    return {};
  }

  Result<double> number() {
    double sign = 1;
    if (peek() == '+' || peek() == '-') {
      if (peek() == '-') sign = -1;
      advance();
    }
    if (peek() == 'I') {
      CHECK_OK(literal("Infinity"));
      return sign * std::numeric_limits<double>::infinity();
    }
    if (peek() == 'N') {
      CHECK_OK(literal("NaN"));
      return std::numeric_limits<double>::quiet_NaN();
    }
    const std::size_t start = at_;
    CHECK_OK(pass_number());
    return sign * to_double(text_.substr(start, at_ - start));
  }

  Result<void> pass_number() {
    if (peek() == '0' && (peek_second() == 'x' || peek_second() == 'X')) {
      advance();
      advance();
      if (hex_digit(peek()) < 0) return unexpected("a hexadecimal digit");
      while (hex_digit(peek()) >= 0) advance();
      return {};
    }
    bool digits = is_digit(peek());
    if (peek() == '0') {
      advance();
      if (is_digit(peek())) return unexpected("a number without leading zero");
    }
    pass_digits();
    if (peek() == '.') {
      advance();
      digits = digits || is_digit(peek());
      pass_digits();
    }
    if (!digits) return unexpected("a digit");
    if (peek() != 'e' && peek() != 'E') return {};
    advance();
    if (peek() == '+' || peek() == '-') advance();
    if (!is_digit(peek())) return unexpected("a digit of the exponent");
    pass_digits();
    return {};
  }

  void pass_digits() {
    while (is_digit(peek())) advance();
  }

  static double to_double(std::string_view digits) {
    // strtod follows the locale's decimal point; a configuration must not.
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    return strtod_l(std::string(digits).c_str(), nullptr, plain);
  }

  Result<std::string> string() {
    const Place start = place_;
    const char32_t quote = peek();
    TextBuilder built;
    advance();
    while (peek() != quote) {
      if (peek() == end_of_text || peek() == '\n' || peek() == '\r') {
        return wrong(start, "string is not closed by {} on its line", shown(quote));
      }
      if (peek() == not_utf8) return unexpected("a character");
      if (peek() == '\\') {
        CHECK_OK(escape(built));
        continue;
      }
      if (!built.add_raw(peek())) return lone_surrogate();
      advance();
    }
    if (!built.whole()) return lone_surrogate();
    advance();
    return built.take();
  }

  tl::unexpected<Error> lone_surrogate() const {
    return wrong(place_, "a \\u escape is half of a surrogate pair, which is no character");
  }

  Result<void> escape(TextBuilder& built) {
    advance();
    const char32_t letter = peek();
    if (letter == not_utf8 || letter == end_of_text) return unexpected("an escaped character");
    if (letter >= '1' && letter <= '9') return unexpected("an escape (octal ones do not exist)");
    const Place where = place_;
    advance();
    if (is_line_terminator(letter)) {
      if (letter == '\r' && peek() == '\n') advance();
      return {};
    }
    char32_t unit = letter;
    switch (letter) {
      case 'b':
        unit = '\b';
        break;
      case 'f':
        unit = '\f';
        break;
      case 'n':
        unit = '\n';
        break;
      case 'r':
        unit = '\r';
        break;
      case 't':
        unit = '\t';
        break;
      case 'v':
        unit = '\v';
        break;
      case '0':
        if (is_digit(peek())) return unexpected("no digit after \\0 (octal escapes do not exist)");
        unit = 0;
        break;
      case 'x':
        unit = TRY(hex_unit(2));
        break;
      case 'u':
        unit = TRY(hex_unit(4));
        break;
      default:
        if (built.add_raw(letter)) return {};
        return wrong(where, "a \\u escape is half of a surrogate pair, which is no character");
    }
    if (built.add_unit(unit)) return {};
    return wrong(where, "a \\u escape is half of a surrogate pair, which is no character");
  }

  Result<char32_t> hex_unit(int digits) {
    char32_t unit = 0;
    for (int index = 0; index < digits; ++index) {
      const int digit = hex_digit(peek());
      if (digit < 0) return unexpected("a hexadecimal digit");
      unit = unit * 16 + static_cast<char32_t>(digit);
      advance();
    }
    return unit;
  }

  Result<std::string> key() {
    if (peek() == '"' || peek() == '\'') return string();
    std::string made;
    for (;;) {
      const Place where = place_;
      char32_t character = peek();
      const bool escaped = character == '\\';
      if (escaped) {
        advance();
        if (peek() != 'u') return unexpected("'u' of an escape in a key");
        advance();
        character = TRY(hex_unit(4));
      }
      const bool fits = made.empty() ? starts_identifier(character) : continues_identifier(character);
      if (fits) {
        append_utf8(made, character);
        if (!escaped) advance();
        continue;
      }
      if (escaped) return wrong(where, "{} may not stand in a key without quotes", shown(character));
      if (made.empty()) return unexpected("a key or '}'");
      return made;
    }
  }

  Result<void> check_depth(int depth) const {
    if (depth > limits_.depth) return wrong(place_, "nested deeper than {} levels", limits_.depth);
    return {};
  }

  Result<Value> array(int depth) {
    CHECK_OK(check_depth(depth));
    Value made;
    made.kind = Value::Kind::array;
    made.where = place_;
    advance();
    for (;;) {
      CHECK_OK(skip_blank());
      if (peek() == ']') break;
      made.items.push_back(TRY(value(depth)));
      CHECK_OK(skip_blank());
      if (peek() == ']') break;
      if (peek() != ',') return unexpected("',' or ']'");
      advance();
    }
    advance();
    return made;
  }

  Result<Value> object(int depth) {
    CHECK_OK(check_depth(depth));
    Value made;
    made.kind = Value::Kind::object;
    made.where = place_;
    std::unordered_map<std::string, std::size_t> seen;
    advance();
    for (;;) {
      CHECK_OK(skip_blank());
      if (peek() == '}') break;
      CHECK_OK(member(made, seen, depth));
      CHECK_OK(skip_blank());
      if (peek() == '}') break;
      if (peek() != ',') return unexpected("',' or '}'");
      advance();
    }
    advance();
    return made;
  }

  Result<void> member(Value& object, std::unordered_map<std::string, std::size_t>& seen, int depth) {
    Member made;
    made.where = place_;
    made.key = TRY(key());
    CHECK_OK(skip_blank());
    if (peek() != ':') return unexpected("':'");
    advance();
    CHECK_OK(skip_blank());
    made.value = TRY(value(depth));
    const auto [known, fresh] = seen.emplace(made.key, object.members.size());
    if (fresh) {
      object.members.push_back(std::move(made));
      return {};
    }
    Member& earlier = object.members[known->second];
    document_.repeated.push_back({made.key, earlier.where, made.where});
    earlier = std::move(made);
    return {};
  }

  std::string_view text_;
  std::string_view name_;
  const Limits& limits_;
  std::size_t at_ = 0;
  Decoded ahead_{end_of_text, 0};
  Place place_;
  Document document_;
};

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

const char* name_of(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::null:
      return "null";
    case Value::Kind::boolean:
      return "true or false";
    case Value::Kind::number:
      return "a number";
    case Value::Kind::string:
      return "a string";
    case Value::Kind::array:
      return "an array";
    case Value::Kind::object:
      return "an object";
  }
  return "null";
}

Result<Document> read(std::string_view text, std::string_view name, const Limits& limits) {
  if (text.size() > limits.bytes) {
    return fail(Fault::invalid_input, "{}: {} bytes are more than the {} allowed", name, text.size(), limits.bytes);
  }
  return Reader(text, name, limits).document();
}

Json to_json(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return nullptr;
    case Value::Kind::boolean:
      return value.boolean;
    case Value::Kind::number: {
      constexpr double exact = 9007199254740992;  // beyond it a double skips integers
      const bool integer = std::floor(value.number) == value.number && std::fabs(value.number) < exact;
      if (integer && !(value.number == 0 && std::signbit(value.number))) return static_cast<std::int64_t>(value.number);
      return value.number;
    }
    case Value::Kind::string:
      return value.string;
    case Value::Kind::array: {
      Json made = Json::array();
      for (const Value& item : value.items) made.push_back(to_json(item));
      return made;
    }
    case Value::Kind::object: {
      Json made = Json::object();
      for (const Member& member : value.members) made[member.key] = to_json(member.value);
      return made;
    }
  }
  return nullptr;
}

}  // namespace cordon::json5
