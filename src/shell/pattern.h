// Matching a known text against a shell pattern.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/script.h"

namespace cordon::shell {

/// A pattern as expanded: literal pieces match themselves, glob pieces are patterns. Nothing, if any piece is unknown
/// or of a kind that is not computed (extended patterns, classes, bytes beyond ASCII next to ? or [).
class Pattern {
 public:
  static std::optional<Pattern> make(const std::vector<Piece>& pieces);

  bool matches(std::string_view text) const;
  /// Lengths of the shortest and longest prefix or suffix that matches; nothing if none does.
  std::optional<std::size_t> prefix(std::string_view text, bool longest) const;
  std::optional<std::size_t> suffix(std::string_view text, bool longest) const;
  bool empty() const { return tokens_.empty(); }
  /// About how many steps finding a prefix or suffix of a text of this length takes.
  std::size_t cost(std::size_t length) const;

 private:
  struct Token {
    enum class Kind : unsigned char { character, any, star, set } kind;
    char c = 0;
    bool negated = false;
    std::vector<std::pair<unsigned char, unsigned char>> ranges;
  };
  bool fixed() const;  // no star: it matches texts of one length
  static bool one(const Token& token, char c);
  std::vector<Token> tokens_;
};

}  // namespace cordon::shell
