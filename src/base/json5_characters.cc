#include "base/json5_characters.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace cordon::json5 {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};
#include "base/json5_identifier.inc"

template <std::size_t count>
bool contains(const Range (&table)[count], char32_t character) {
  const auto* after = std::upper_bound(std::begin(table), std::end(table), character,
                                       [](char32_t wanted, const Range& range) { return wanted < range.first; });
  return after != std::begin(table) && character <= std::prev(after)->last;
}

bool is_letter(char32_t character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

}  // namespace

bool is_digit(char32_t character) { return character >= '0' && character <= '9'; }

bool starts_identifier(char32_t character) {
  if (character < 0x80) return is_letter(character) || character == '$' || character == '_';
  return contains(identifier_start, character);
}

bool continues_identifier(char32_t character) {
  if (character < 0x80) return starts_identifier(character) || is_digit(character);
  return character == 0x200C || character == 0x200D || contains(identifier_part, character);
}

bool is_line_terminator(char32_t character) {
  return character == '\n' || character == '\r' || character == 0x2028 || character == 0x2029;
}

bool is_space(char32_t character) {
  switch (character) {
    case '\t':
    case '\v':
    case '\f':
    case ' ':
    case 0xA0:
    case 0xFEFF:
    case 0x1680:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return true;
    default:
      return is_line_terminator(character) || (character >= 0x2000 && character <= 0x200A);
  }
}

int hex_digit(char32_t character) {
  if (is_digit(character)) return static_cast<int>(character - '0');
  if (character >= 'a' && character <= 'f') return static_cast<int>(character - 'a') + 10;
  if (character >= 'A' && character <= 'F') return static_cast<int>(character - 'A') + 10;
  return -1;
}

}  // namespace cordon::json5
