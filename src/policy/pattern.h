// Command patterns of SANDBOX.md, the allowlist and elevated settings, matched against parsed calls, never against
// text.
//
// Allow narrowly: words in order from the start. Deny broadly: program, then the other words anywhere, in any spelling.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis.h"

namespace cordon::policy {

/// `risk::canonical`: a call's words with option clusters split and abbreviations expanded, so that `-rf` and
/// `--force --recursive` are the same. Handed in, since policy does not know programs.
using Canonical = std::function<std::vector<std::string>(const std::vector<std::string>& words)>;

/// Splits a pattern at blanks; quotes and backslashes group as in a shell. "git commit -m '*'" has four words.
std::vector<std::string> pattern_words(std::string_view pattern);

/// How firmly a deny pattern applies.
enum class Match { no, maybe, yes };

/// Whether the call is one that a Dangerous or Disallowed entry names. `maybe`: the program is the one, and a word that
/// cannot be known might be what the entry names.
class DenyPattern {
 public:
  DenyPattern(std::string_view pattern, const Canonical& canonical);
  Match matches(const Invocation& call) const;

 private:
  std::string program_;
  std::vector<std::string> words_;  // canonical, without the program
};

/// Whether an Allowed entry covers a call. Its own reasons not to (uncoverable, critical) count too.
class AllowPattern {
 public:
  explicit AllowPattern(std::string_view pattern);
  bool covers(const Invocation& call) const;
  /// The same without the rule that a dangerous call must be written out; for elevated patterns, which ask anyway.
  bool names(const Invocation& call) const;
  /// First word, by which patterns can be indexed; it may hold `*`.
  const std::string& program() const { return program_; }
  /// Whether the pattern says anything at all, and not everything.
  bool usable() const { return !program_.empty() && program_.find_first_not_of('*') != std::string::npos; }

 private:
  std::string program_;
  std::vector<std::string> words_;  // without the program and without a closing `*`
};

/// `*` stands for any run of characters; nothing else is special.
bool matches_wildcard(std::string_view pattern, std::string_view text);

}  // namespace cordon::policy
