#include "shell/ansi.h"

#include <cstdint>

#include "shell/characters.h"

namespace cordon::shell {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& out, std::uint32_t code) {
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6)), tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0);
  } else if (code < 0x200000) {
    out += static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0);
  } else if (code < 0x4000000) {
    out += static_cast<char>(0xf8 | (code >> 24)), tail(18), tail(12), tail(6), tail(0);
  } else {
    out += static_cast<char>(0xfc | (code >> 30)), tail(24), tail(18), tail(12), tail(6), tail(0);
  }
}

std::uint32_t take_number(std::string_view text, std::size_t& i, std::size_t most, std::uint32_t base) {
  std::uint32_t value = 0;
  for (std::size_t n = 0; n < most && i < text.size(); ++n, ++i) {
    int digit = hex_value(text[i]);
    if (digit < 0 || static_cast<std::uint32_t>(digit) >= base) break;
    value = value * base + static_cast<std::uint32_t>(digit);
  }
  return value;
}

char simple_escape(char c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'e':
    case 'E':
      return '\033';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return 0;
  }
}

// \x, \u, \U after the letter. False: no digits followed.
bool append_hex(std::string& out, std::string_view text, std::size_t& i, char letter) {
  std::size_t begin = i;
  std::uint32_t value = take_number(text, i, letter == 'x' ? 2 : letter == 'u' ? 4 : 8, 16);
  if (i == begin) return false;
  if (letter == 'x') {
    out += static_cast<char>(value);
  } else {
    append_utf8(out, value);
  }
  return true;
}

}  // namespace

std::string decode_ansi(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    char c = text[i++];
    if (c != '\\' || i >= text.size()) {
      out += c;
      continue;
    }
    char letter = text[i++];
    if (char simple = simple_escape(letter); simple != 0) {
      out += simple;
    } else if (letter >= '0' && letter <= '7') {
      --i;
      out += static_cast<char>(take_number(text, i, 3, 8));
    } else if (letter == 'x' && i < text.size() && text[i] == '{') {
      // \x{…}: any number of digits, the last byte counts. Without digits it is a NUL, which ends the text.
      std::size_t at = i + 1;
      std::uint32_t value = take_number(text, at, text.size(), 16);
      i = at < text.size() && text[at] == '}' ? at + 1 : at;
      out += static_cast<char>(value);
    } else if (letter == 'x' || letter == 'u' || letter == 'U') {
      if (!append_hex(out, text, i, letter)) out += '\\', out += letter;
    } else if (letter == 'c' && i < text.size()) {
      char control = text[i++];
      if (control == '\\' && i < text.size() && text[i] == '\\') ++i;
      if (control >= 'a' && control <= 'z') control = static_cast<char>(control - 32);
      out += control == '?' ? '\177' : static_cast<char>(control & 0x1f);
    } else if (letter == '\\' || letter == '\'' || letter == '"' || letter == '?') {
      out += letter;
    } else {
      out += '\\';
      out += letter;
    }
    if (!out.empty() && out.back() == '\0') {
      out.pop_back();
      break;
    }
  }
  return out;
}

std::string decode_echo(std::string_view text, bool& stop) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    char c = text[i++];
    if (c != '\\' || i >= text.size()) {
      out += c;
      continue;
    }
    char letter = text[i++];
    if (char simple = simple_escape(letter); simple != 0) {
      out += simple;
    } else if (letter == '0') {
      out += static_cast<char>(take_number(text, i, 3, 8));
    } else if (letter == 'x' || letter == 'u' || letter == 'U') {
      if (!append_hex(out, text, i, letter)) out += '\\', out += letter;
    } else if (letter == 'c') {
      stop = true;
      return out;
    } else if (letter == '\\') {
      out += letter;
    } else {
      out += '\\';
      out += letter;
    }
  }
  return out;
}

std::string decode_format(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    char c = text[i++];
    if (c != '\\' || i >= text.size()) {
      out += c;
      continue;
    }
    char letter = text[i++];
    if (char simple = simple_escape(letter); simple != 0) {
      out += simple;
    } else if (letter >= '0' && letter <= '7') {
      --i;
      out += static_cast<char>(take_number(text, i, 3, 8));
    } else if (letter == 'x' || letter == 'u' || letter == 'U') {
      if (!append_hex(out, text, i, letter)) out += '\\', out += letter;
    } else if (letter == '\\' || letter == '\'' || letter == '"' || letter == '?') {
      out += letter;
    } else {
      out += '\\';
      out += letter;
    }
  }
  return out;
}

}  // namespace cordon::shell
