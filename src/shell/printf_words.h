// How the words of a printf are told apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shell/evaluator.h"

namespace cordon::shell {

/// The words of a printf: its last -v counts, and a format may look like one.
struct PrintfWords {
  std::size_t format = 0;
  std::optional<std::string> name;  // empty: not known which
};

inline PrintfWords printf_words(const std::vector<Field>& words, std::size_t first) {
  const auto said = [&](std::size_t at) { return at < words.size() && words[at].known() ? words[at].text() : ""; };
  PrintfWords found{first + 1, std::nullopt};
  while (said(found.format).starts_with("-v")) {
    const bool apart = said(found.format) == "-v";
    if (apart) ++found.format;
    found.name = apart ? said(found.format) : said(found.format).substr(2);
    ++found.format;
  }
  if (said(found.format) == "--") ++found.format;
  return found;
}

/// printf stores into what follows -v, and into the arguments of %n; its format and the others are text.
inline bool printf_names(const std::vector<Field>& words, std::size_t first, std::size_t i) {
  const std::size_t format = printf_words(words, first).format;
  if (i < format || format >= words.size() || !words[format].known()) return true;
  const std::string text = words[format].text();
  if (i == format) return false;
  for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) {
    const std::size_t conversion = text.find_first_not_of("-+ #0123456789.*'hljztLq", at + 1);
    if (conversion != std::string::npos && text[conversion] == 'n') return true;
  }
  return false;
}

}  // namespace cordon::shell
