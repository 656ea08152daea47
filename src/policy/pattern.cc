#include "policy/pattern.h"

#include <algorithm>
#include <array>

namespace cordon::policy {

namespace {

/// A word that ends like this names the beginning of what it matches: `dd if=`, `curl http://`.
bool is_prefix_word(std::string_view word) {
  return word.size() > 1 && (word.back() == '=' || word.back() == ':' || word.back() == '/');
}

bool word_matches(std::string_view pattern, std::string_view word) {
  if (is_prefix_word(pattern)) return word.starts_with(pattern);
  return matches_wildcard(pattern, word);
}

/// A name stands for the program of that name in the system's own directories, never for a file of the workspace that
/// happens to be called the same.
bool is_that_program(std::string_view pattern, const Invocation& call) {
  if (call.program.empty()) return false;
  if (pattern.find('/') != std::string_view::npos) return matches_wildcard(pattern, call.path);
  if (!matches_wildcard(pattern, call.program)) return false;
  if (call.path.empty() || call.path == call.program) return true;
  static constexpr std::array<std::string_view, 4> trusted = {"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"};
  return std::any_of(trusted.begin(), trusted.end(), [&](std::string_view directory) {
    return call.path.size() == directory.size() + call.program.size() && call.path.starts_with(directory) &&
           call.path.ends_with(call.program);
  });
}

}  // namespace

bool matches_wildcard(std::string_view pattern, std::string_view text) {
  // The last star may take up more; no other needs to be tried again, so this is linear but for short repeats.
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::string> pattern_words(std::string_view pattern) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else if (quote == '"' && c == '\\' && i + 1 < pattern.size())
        word += pattern[++i];
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      inside = true;
    } else if (c == '\\' && i + 1 < pattern.size()) {
      word += pattern[++i];
      inside = true;
    } else if (c == ' ' || c == '\t') {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(std::move(word));
  return words;
}

DenyPattern::DenyPattern(std::string_view pattern, const Canonical& canonical) {
  std::vector<std::string> words = pattern_words(pattern);
  if (words.empty()) return;
  words = canonical(words);
  program_ = words.front().substr(words.front().rfind('/') + 1);
  words_.assign(words.begin() + 1, words.end());
  std::erase(words_, "*");
}

Match DenyPattern::matches(const Invocation& call) const {
  if (program_.empty() || call.program.empty()) return Match::no;
  // A deny entry holds for the name wherever the program lies: copying nc to ./nc does not make it another program.
  if (!matches_wildcard(program_, call.program)) return Match::no;
  for (const std::string& wanted : words_) {
    const bool there = std::any_of(call.canonical.begin(), call.canonical.end(),
                                   [&](const std::string& word) { return word_matches(wanted, word); });
    if (!there) return call.exact ? Match::no : Match::maybe;
  }
  return Match::yes;
}

AllowPattern::AllowPattern(std::string_view pattern) {
  std::vector<std::string> words = pattern_words(pattern);
  if (words.empty()) return;
  program_ = words.front();
  words_.assign(words.begin() + 1, words.end());
  if (!words_.empty() && words_.back() == "*") words_.pop_back();
}

bool AllowPattern::names(const Invocation& call) const {
  if (!usable() || !is_that_program(program_, call)) return false;
  if (!call.uncoverable.empty() || call.words.size() < words_.size() + 1) return false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!matches_wildcard(words_[i], call.words[i + 1])) return false;
  }
  return true;
}

bool AllowPattern::covers(const Invocation& call) const {
  if (call.risk >= Risk::critical || !names(call)) return false;
  if (call.risk < Risk::dangerous) return true;
  // Whoever allows `rm -rf build` has not allowed `rm -rf build src`.
  return call.exact && call.words.size() == words_.size() + 1 &&
         std::equal(words_.begin(), words_.end(), call.words.begin() + 1);
}

}  // namespace cordon::policy
