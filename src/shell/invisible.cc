#include "shell/invisible.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace cordon::shell {
namespace {

struct Character {
  std::uint32_t code;
  std::uint32_t size;
};

// One UTF-8 character; a byte that is none stands for itself.
Character decode(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  if (byte(0) >= 0xc2 && byte(0) < 0xe0 && tail(1)) return {(byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu), 2};
  if (byte(0) >= 0xe0 && byte(0) < 0xf0 && tail(1) && tail(2)) {
    return {(byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu), 3};
  }
  if (byte(0) >= 0xf0 && byte(0) < 0xf5 && tail(1) && tail(2) && tail(3)) {
    return {(byte(0) & 0x07u) << 18 | (byte(1) & 0x3fu) << 12 | (byte(2) & 0x3fu) << 6 | (byte(3) & 0x3fu), 4};
  }
  return {byte(0), 1};
}

const char* invisible(std::uint32_t code) {
  if (code == '\r') return "a carriage return";
  if (code < 0x20 || code == 0x7f || (code >= 0x80 && code < 0xa0)) return "a control character";
  if (code == 0xad || code == 0x200b || code == 0x200c || code == 0x200d || code == 0x2060 || code == 0xfeff ||
      code == 0x180e || code == 0x034f || (code >= 0x2061 && code <= 0x2064) || (code >= 0xe0000 && code < 0xe0080) ||
      (code >= 0xfe00 && code <= 0xfe0f && code != 0xfe0f)) {
    return "a character without width";
  }
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f ||
      code == 0x061c) {
    return "a character that changes the direction of the line";
  }
  if (code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x202f || code == 0x205f ||
      code == 0x3000 || code == 0x2028 || code == 0x2029 || code == 0x3164 || code == 0x115f || code == 0x1160) {
    return "a blank that is not a space";
  }
  return nullptr;
}

// Letters that are drawn like Latin ones, and forms of Latin letters that programs' names do not have.
bool looks_latin(std::uint32_t code) {
  bool greek = code >= 0x370 && code < 0x400, cyrillic = code >= 0x400 && code < 0x530,
       armenian = code >= 0x530 && code < 0x590;
  bool wide = code >= 0xff01 && code <= 0xff5e, mathematical = code >= 0x1d400 && code <= 0x1d7ff;
  bool letterlike = code >= 0x2100 && code <= 0x214f, cherokee = code >= 0x13a0 && code <= 0x13ff;
  return greek || cyrillic || armenian || wide || mathematical || letterlike || cherokee;
}

void note(Script& script, std::string detail, std::size_t at, std::uint32_t size) {
  std::size_t seen = 0;
  for (const Oddity& oddity : script.oddities) seen += oddity.kind == Oddity::Kind::invisible_text ? 1 : 0;
  if (seen >= 20) return;
  auto begin = static_cast<std::uint32_t>(at);
  script.oddities.push_back({Oddity::Kind::invisible_text, std::move(detail), {begin, begin + size}});
}

}  // namespace

void note_invisible(Script& script) {
  std::string_view text = script.text;
  bool ordinary =
      std::all_of(text.begin(), text.end(), [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; });
  if (ordinary) return;
  bool name = true;  // in the first word after a separator
  for (std::size_t i = 0; i < text.size();) {
    Character character = decode(text.substr(i));
    char c = text[i];
    if (c == ' ' || c == '\t') {
      // Leading blanks come before the name.
      bool leading = i == 0 || std::string_view(" \t\n;|&(){}`").find(text[i - 1]) != std::string_view::npos;
      if (!leading) name = false;
    } else if (c == '\n' || c == ';' || c == '|' || c == '&' || c == '(' || c == '`') {
      name = true;
    }
    if (const char* what = c == '\n' || c == '\t' ? nullptr : invisible(character.code)) {
      note(script, fmt::format("{} (U+{:04X})", what, character.code), i, character.size);
    } else if (name && character.code >= 0x80 && looks_latin(character.code)) {
      note(script, fmt::format("a letter in a command's name that only looks Latin (U+{:04X})", character.code), i,
           character.size);
    }
    i += character.size;
  }
}

}  // namespace cordon::shell
