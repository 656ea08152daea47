#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cordon {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool in(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](Range r) { return c >= r.first && c <= r.last; });
}

constexpr std::array bidi = {Range{0x061C, 0x061C}, Range{0x200E, 0x200F}, Range{0x202A, 0x202E},
                             Range{0x2066, 0x2069}};

constexpr std::array zero_width = {Range{0x00AD, 0x00AD}, Range{0x034F, 0x034F},   Range{0x115F, 0x1160},
                                   Range{0x17B4, 0x17B5}, Range{0x180B, 0x180F},   Range{0x200B, 0x200D},
                                   Range{0x2060, 0x2065}, Range{0x206A, 0x206F},   Range{0x3164, 0x3164},
                                   Range{0xFE00, 0xFE0F}, Range{0xFEFF, 0xFEFF},   Range{0xFFA0, 0xFFA0},
                                   Range{0xFFF9, 0xFFFB}, Range{0x1BCA0, 0x1BCA3}, Range{0xE0000, 0xE0FFF}};

constexpr std::array odd_blank = {Range{0x00A0, 0x00A0}, Range{0x1680, 0x1680}, Range{0x2000, 0x200A},
                                  Range{0x2028, 0x2029}, Range{0x202F, 0x202F}, Range{0x205F, 0x205F},
                                  Range{0x2800, 0x2800}, Range{0x3000, 0x3000}};

// Always misread, whatever stands around them: fullwidth ASCII and mathematical letters, and the punctuation of
// other scripts that looks like what a shell acts on.
constexpr std::array always_confusable = {
    Range{0x01C3, 0x01C3}, Range{0x037E, 0x037E}, Range{0x2010, 0x2012}, Range{0x2024, 0x2024},
    Range{0x2044, 0x2044}, Range{0x2212, 0x2212}, Range{0x2215, 0x2217}, Range{0x2223, 0x2223},
    Range{0x2236, 0x2236}, Range{0x223C, 0x223C}, Range{0x29F5, 0x29F5}, Range{0x29F8, 0x29F9},
    Range{0xA4FD, 0xA4FD}, Range{0xFE52, 0xFE6B}, Range{0xFF01, 0xFF5E}, Range{0x1D400, 0x1D7FF}};

// Letters that look like an ASCII letter: Greek, Cyrillic, Armenian, Cherokee, Lisu and Latin look-alikes. They count
// only in a word in which every letter is ASCII or looks like it; "привет" and "naïve" are words, "рм" is a trap.
constexpr std::u32string_view look_alikes =
    U"\u0391\u0392\u0395\u0396\u0397\u0399\u039A\u039C\u039D\u039F\u03A1\u03A4\u03A5\u03A7\u03B1\u03B3\u03B9\u03BA"
    U"\u03BD"
    U"\u03BF\u03C1\u03C3\u03C5\u03C7\u03F2\u03F3\u0405\u0406\u0408\u0410\u0412\u0415\u041A\u041C\u041D\u041E\u0420"
    U"\u0421"
    U"\u0422\u0423\u0425\u0430\u0433\u0435\u043A\u043C\u043E\u043F\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458"
    U"\u04AE"
    U"\u04BB\u04C0\u04CF\u0501\u051B\u051D\u0555\u0561\u0563\u0566\u0570\u0578\u057C\u057D\u0581\u0585\u0131\u0251"
    U"\u0261"
    U"\u026A\u0280\u028F\u1D04\u1D0F\u1D1C\u1D20\u1D21\u1D22\u2113\u212A\u212E\u217C\u217D\u217E\u13A0\u13A1\u13A2"
    U"\u13A5"
    U"\u13AA\u13AB\u13AC\u13B3\u13B7\u13BB\u13C0\u13C2\u13C3\u13CF\u13D2\u13D4\u13D9\u13DA\u13DE\u13DF\u13E2\u13E6"
    U"\uA4D0"
    U"\uA4D1\uA4D2\uA4D3\uA4D4\uA4D6\uA4D7\uA4DA\uA4DD\uA4DF\uA4E0\uA4E1\uA4E2\uA4E3\uA4E6\uA4E7\uA4EA\uA4EB\uA4EC"
    U"\uA4EE"
    U"\uA4F2\uA4F3\uA4F4";

bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool looks_like_ascii(char32_t c) { return look_alikes.find(c) != std::u32string_view::npos; }

bool is_letter(char32_t c) { return c >= 0x80 || is_ascii_letter(c); }

/// Whether the word around `offset` holds nothing but ASCII letters and their look-alikes.
bool in_disguised_word(std::string_view text, std::size_t offset) {
  std::size_t begin = offset;
  while (begin > 0) {
    const auto byte = static_cast<unsigned char>(text[begin - 1]);
    if (byte < 0x80 && !is_ascii_letter(byte)) break;
    --begin;
  }
  for (std::size_t at = begin; at < text.size();) {
    const auto decoded = decode_utf8(text, at);
    if (!decoded || !is_letter(decoded->character)) break;
    if (!is_ascii_letter(decoded->character) && !looks_like_ascii(decoded->character)) return false;
    at += decoded->length;
  }
  return true;
}

std::optional<Hidden> classify(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c <= 0x9F)) return Hidden::control;
  if (c < 0x80) return std::nullopt;
  if (in(bidi, c)) return Hidden::bidi;
  if (in(zero_width, c)) return Hidden::zero_width;
  if (in(odd_blank, c)) return Hidden::odd_blank;
  if (in(always_confusable, c)) return Hidden::confusable;
  return std::nullopt;
}

std::string escape_of(char32_t c) {
  if (c == '\r') return "\\r";
  return c < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                  : fmt::format("\\u{{{:04x}}}", static_cast<unsigned>(c));
}

}  // namespace

const char* name_of(Hidden hidden) {
  switch (hidden) {
    case Hidden::control:
      return "control character";
    case Hidden::bidi:
      return "text-direction character";
    case Hidden::zero_width:
      return "zero-width character";
    case Hidden::odd_blank:
      return "unusual blank";
    case Hidden::confusable:
      return "look-alike character";
    case Hidden::invalid:
      return "invalid UTF-8";
  }
  return "hidden character";
}

std::optional<Utf8> decode_utf8(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return Utf8{first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || offset + length > text.size()) return std::nullopt;
  char32_t c = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    c = c << 6 | (byte(i) & 0x3FU);
  }
  static constexpr std::array<char32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  if (c < smallest[length] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return std::nullopt;
  return Utf8{c, length};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_utf8(text, at);
    if (!decoded) return false;
    at += decoded->length;
  }
  return true;
}

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      text += static_cast<char>(0xE0 | c >> 12);
    } else {
      text += static_cast<char>(0xF0 | c >> 18);
      text += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    }
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
  }
  text += static_cast<char>(0x80 | (c & 0x3F));
}

std::vector<HiddenCharacter> hidden_characters(std::string_view text) {
  std::vector<HiddenCharacter> found;
  // A word is looked at once, not once per letter: a megabyte of look-alikes is one word.
  bool word_judged = false;
  bool word_disguised = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte >= 0x20 && byte < 0x7F) || byte == '\n' || byte == '\t') {
      if (!is_ascii_letter(byte)) word_judged = false;
      ++at;
      continue;
    }
    const auto decoded = decode_utf8(text, at);
    if (!decoded) {
      found.push_back({Hidden::invalid, at, 1, fmt::format("\\x{:02x}", byte)});
      ++at;
      continue;
    }
    auto kind = classify(decoded->character);
    if (!kind && looks_like_ascii(decoded->character)) {
      if (!word_judged) {
        word_disguised = in_disguised_word(text, at);
        word_judged = true;
      }
      if (word_disguised) kind = Hidden::confusable;
    }
    if (kind) found.push_back({*kind, at, decoded->length, escape_of(decoded->character)});
    at += decoded->length;
  }
  return found;
}

std::string visible(std::string_view text, Lines lines) {
  std::string shown;
  shown.reserve(text.size());
  const auto append_plain = [&](std::string_view plain) {
    if (lines == Lines::keep) {
      shown += plain;
      return;
    }
    for (const char c : plain) {
      if (c == '\n')
        shown += "\\n";
      else if (c == '\t')
        shown += "\\t";
      else
        shown += c;
    }
  };
  std::size_t from = 0;
  for (const HiddenCharacter& hidden : hidden_characters(text)) {
    append_plain(text.substr(from, hidden.offset - from));
    shown += hidden.escape;
    from = hidden.offset + hidden.length;
  }
  append_plain(text.substr(from));
  return shown;
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > 64) return std::nullopt;
  const std::string lower = to_lower(word);
  std::size_t best = lower.size() / 3 + 2;  // this far away it is another word
  std::optional<std::string_view> closest;
  for (const std::string_view candidate : candidates) {
    const std::string other = to_lower(candidate);
    std::vector<std::size_t> row(other.size() + 1);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
    for (std::size_t i = 1; i <= lower.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= other.size(); ++j) {
        const std::size_t above = row[j];
        row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (lower[i - 1] == other[j - 1] ? 0 : 1)});
        diagonal = above;
      }
    }
    if (row.back() < best) {
      best = row.back();
      closest = candidate;
    }
  }
  return closest;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=:,@%+";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + '\'';
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace cordon
