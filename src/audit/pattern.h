// Regular expressions that cannot be made slow: a Thompson machine, all states at once, no backtracking. Settings name
// secrets with these, and settings come from files that strangers may have written.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cordon::audit {

/// Literals, `.`, `[…]`, `\d \w \s` and their capitals; `( )` groups, `|`, `* + ? {m,n}`. Matches bytes.
/// No back-references, no look-around, no anchors: a secret may stand anywhere.
class Pattern {
 public:
  /// The sentence of the error says what is wrong and where.
  static Result<Pattern> compile(std::string_view expression);

  struct Match {
    std::size_t begin;
    std::size_t end;
  };
  /// The leftmost match at or after `from`, as long as it can be; never empty. Time is length × size of the expression.
  std::optional<Match> find(std::string_view text, std::size_t from) const;

 private:
  friend class PatternReader;
  using Set = std::bitset<256>;
  /// A state reads one byte of `set`, or goes to both `next` and `other` without reading.
  struct State {
    enum class Kind : std::uint8_t { byte, split, match } kind = Kind::match;
    Set set;
    std::uint32_t next = 0;
    std::uint32_t other = 0;
  };
  struct Threads;
  void follow(Threads& threads, std::uint32_t state, std::size_t begin) const;

  std::vector<State> states_;
  std::uint32_t start_ = 0;
};

}  // namespace cordon::audit
