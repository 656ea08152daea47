#include "shell/pattern.h"

#include <algorithm>

namespace cordon::shell {
namespace {

bool ascii(std::string_view text) {
  for (char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

}  // namespace

std::optional<Pattern> Pattern::make(const std::vector<Piece>& pieces) {
  Pattern pattern;
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::literal) {
      for (char c : piece.text) pattern.tokens_.push_back({.kind = Token::Kind::character, .c = c});
      continue;
    }
    if (piece.kind != Piece::Kind::glob || !ascii(piece.text)) return std::nullopt;
    if (piece.text == "*") {
      pattern.tokens_.push_back({.kind = Token::Kind::star});
    } else if (piece.text == "?") {
      pattern.tokens_.push_back({.kind = Token::Kind::any});
    } else if (piece.text.size() > 2 && piece.text.front() == '[' && piece.text.back() == ']') {
      std::string_view inside(piece.text);
      inside = inside.substr(1, inside.size() - 2);
      if (inside.find_first_of("[\\") != std::string_view::npos) return std::nullopt;
      Token token{.kind = Token::Kind::set};
      if (inside[0] == '!' || inside[0] == '^') token.negated = true, inside.remove_prefix(1);
      for (std::size_t i = 0; i < inside.size(); ++i) {
        auto low = static_cast<unsigned char>(inside[i]);
        auto high = low;
        // Ranges of letters depend on the locale's order of upper and lower case.
        if (i + 2 < inside.size() && inside[i + 1] == '-') {
          high = static_cast<unsigned char>(inside[i + 2]);
          bool digits = low >= '0' && high <= '9';
          if (!digits) return std::nullopt;
          i += 2;
        }
        token.ranges.push_back({low, high});
      }
      pattern.tokens_.push_back(std::move(token));
    } else {
      return std::nullopt;
    }
  }
  return pattern;
}

bool Pattern::one(const Token& token, char c) {
  switch (token.kind) {
    case Token::Kind::character:
      return token.c == c;
    case Token::Kind::any:
      return true;
    case Token::Kind::star:
      return false;
    case Token::Kind::set:
      break;
  }
  auto byte = static_cast<unsigned char>(c);
  bool in = false;
  for (auto [low, high] : token.ranges) in = in || (byte >= low && byte <= high);
  return in != token.negated;
}

bool Pattern::matches(std::string_view text) const {
  std::size_t t = 0, p = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < tokens_.size() && tokens_[p].kind == Token::Kind::star) {
      star = p++;
      from = t;
    } else if (p < tokens_.size() && one(tokens_[p], text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < tokens_.size() && tokens_[p].kind == Token::Kind::star) ++p;
  return p == tokens_.size();
}

bool Pattern::fixed() const {
  return std::none_of(tokens_.begin(), tokens_.end(), [](const Token& t) { return t.kind == Token::Kind::star; });
}

std::size_t Pattern::cost(std::size_t length) const {
  return fixed() ? tokens_.size() : (length + 1) * (length + 1) * tokens_.size();
}

std::optional<std::size_t> Pattern::prefix(std::string_view text, bool longest) const {
  if (fixed()) {
    const bool fits = tokens_.size() <= text.size() && matches(text.substr(0, tokens_.size()));
    return fits ? std::optional(tokens_.size()) : std::nullopt;
  }
  for (std::size_t n = 0; n <= text.size(); ++n) {
    std::size_t length = longest ? text.size() - n : n;
    if (matches(text.substr(0, length))) return length;
  }
  return std::nullopt;
}

std::optional<std::size_t> Pattern::suffix(std::string_view text, bool longest) const {
  if (fixed()) {
    const bool fits = tokens_.size() <= text.size() && matches(text.substr(text.size() - tokens_.size()));
    return fits ? std::optional(tokens_.size()) : std::nullopt;
  }
  for (std::size_t n = 0; n <= text.size(); ++n) {
    std::size_t length = longest ? text.size() - n : n;
    if (matches(text.substr(text.size() - length))) return length;
  }
  return std::nullopt;
}

}  // namespace cordon::shell
