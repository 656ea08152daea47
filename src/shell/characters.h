// What bash's lexer thinks of single characters. Bytes only: outside ASCII nothing is special to it.
#pragma once

#include <cstddef>
#include <string_view>

namespace cordon::shell {

constexpr bool is_digit(int c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_start(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_name_char(int c) { return is_name_start(c) || is_digit(c); }
constexpr bool is_meta(int c) {
  return c == '(' || c == ')' || c == '<' || c == '>' || c == ';' || c == '&' || c == '|';
}
constexpr bool is_blank(int c) { return c == ' ' || c == '\t'; }
constexpr bool is_break(int c) { return is_meta(c) || is_blank(c) || c == '\n'; }
constexpr bool is_special_parameter(int c) {
  return c == '@' || c == '*' || c == '#' || c == '?' || c == '-' || c == '$' || c == '!';
}
constexpr bool is_pattern_prefix(int c) { return c == '?' || c == '*' || c == '+' || c == '@' || c == '!'; }
/// What a backslash quotes inside double quotes.
constexpr bool is_escapable_in_quotes(int c) { return c == '$' || c == '`' || c == '"' || c == '\\' || c == '\n'; }

constexpr bool is_name(std::string_view text) {
  if (text.empty() || !is_name_start(text[0])) return false;
  for (char c : text) {
    if (!is_name_char(c)) return false;
  }
  return true;
}

/// Just after the bracket that closes the one at `open`; npos when none does.
constexpr std::size_t end_of_subscript(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// NAME or NAME[…].
bool is_reference(std::string_view text);
/// Words that keep their meaning only in command position.
bool is_reserved(std::string_view text);
/// declare, export, eval …: NAME=(…) among their arguments is an array.
bool takes_array_arguments(std::string_view command);

}  // namespace cordon::shell
