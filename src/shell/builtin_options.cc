// The builtins that set options, arguments and aliases: set, shift, shopt, alias and unalias.
#include <algorithm>
#include <memory>

#include "shell/characters.h"
#include "shell/evaluator.h"

namespace cordon::shell {
namespace {

bool is_option(std::string_view name) {
  constexpr std::string_view names[] = {"allexport",
                                        "braceexpand",
                                        "emacs",
                                        "errexit",
                                        "errtrace",
                                        "functrace",
                                        "hashall",
                                        "histexpand",
                                        "history",
                                        "ignoreeof",
                                        "interactive-comments",
                                        "keyword",
                                        "monitor",
                                        "noclobber",
                                        "noexec",
                                        "noglob",
                                        "nolog",
                                        "notify",
                                        "nounset",
                                        "onecmd",
                                        "physical",
                                        "pipefail",
                                        "posix",
                                        "privileged",
                                        "verbose",
                                        "vi",
                                        "xtrace"};
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace

void Evaluator::option(std::string_view name, bool on, Span where) {
  Surroundings& around = state_.around;
  if (name == "noglob") around.noglob = on;
  if (name == "braceexpand") around.no_brace_expansion = !on;
  if (name == "allexport") around.allexport = on;
  if (name == "errexit") around.errexit = on;
  if (name == "nounset") around.nounset = on;
  if (name == "errtrace" || name == "functrace" || name.empty()) traps_follow_ = traps_follow_ || on;
  if (name.empty()) around.options_unknown = true;
  if (on && name == "posix") not_understood("bash's posix mode, in which it reads and assigns otherwise", where);
  if (on && name == "keyword") not_understood("assignments among the arguments (set -k)", where);
}

/// bash then leaves everything as it was, or not: it stops in the middle.
Status Evaluator::mistaken_set() {
  state_.around.options_unknown = true;
  state_.around.positional = nullptr;
  return Status::unknown;
}

Status Evaluator::set_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field>& words = script_.commands[index].words;
  std::size_t i = first + 1;
  bool positional = false;
  for (; i < words.size(); ++i) {
    if (!words[i].known()) {
      positional = true;
      state_.around.options_unknown = true;
      break;
    }
    std::string text = words[i].text();
    if (text == "--" || text == "-") {
      ++i;
      positional = text == "--" || i < words.size();
      break;
    }
    if (text == "+") continue;
    if (text.size() < 2 || (text[0] != '-' && text[0] != '+')) {
      positional = true;
      break;
    }
    bool on = text[0] == '-';
    for (char c : std::string_view(text).substr(1)) {
      const Span where = script_.commands[index].where;
      if (std::string_view("abefhkmnptuvxBCEHPTo").find(c) == std::string_view::npos) return mistaken_set();
      if (c == 'f') option("noglob", on, where);
      if (c == 'B') option("braceexpand", on, where);
      if (c == 'a') option("allexport", on, where);
      if (c == 'e') option("errexit", on, where);
      if (c == 'u') option("nounset", on, where);
      if (c == 'k') option("keyword", on, where);
      if (c == 'E' || c == 'T') option("errtrace", on, where);
      if (c == 'o') {
        if (++i >= words.size()) break;
        const std::string name = words[i].known() ? words[i].text() : "";
        if (!is_option(name)) return mistaken_set();
        option(name, on, where);
      }
    }
  }
  if (!positional) return Status::success;
  auto values = std::make_shared<std::vector<Value>>();
  for (; i < words.size(); ++i) {
    for (const Piece& piece : words[i].pieces) {
      if (!is_one_word(piece)) {
        state_.around.positional = nullptr;
        return Status::success;
      }
    }
    values->push_back(value_of(words[i]));
    suspect("@", known_text(words[i]));
  }
  state_.around.positional = std::move(values);
  return Status::success;
}

Status Evaluator::shift_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field>& words = script_.commands[index].words;
  if (state_.around.positional == nullptr) return Status::unknown;
  std::size_t count = 1;
  if (words.size() > first + 1) {
    std::string text = words[first + 1].known() ? words[first + 1].text() : "";
    bool digits = !text.empty() && text.size() < 6 && std::all_of(text.begin(), text.end(), is_digit);
    if (!digits) {
      state_.around.positional = nullptr;
      return Status::unknown;
    }
    count = std::stoul(text);
  }
  const std::vector<Value>& now = *state_.around.positional;
  if (count > now.size()) return Status::failure;
  std::size_t bytes = 0;
  for (const Value& value : now) bytes += 16 + value.size();
  if (!afford(bytes)) {
    state_.around.positional = nullptr;
    return Status::unknown;
  }
  state_.around.positional =
      std::make_shared<std::vector<Value>>(now.begin() + static_cast<std::ptrdiff_t>(count), now.end());
  return Status::success;
}

bool Evaluator::holds_for_what_follows(std::uint32_t index) const {
  return subshells_ == 0 && !aborted_ && maybes_ == 0 && leaves_ == unit_leaves_ &&
         !script_.commands[index].conditional && !may_fail(script_.commands[index].redirects);
}

Status Evaluator::alias_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field>& words = script_.commands[index].words;
  // A trap finds what holds when it runs; what an option does with the rest is not followed.
  const bool plain = words.size() <= first + 1 || !words[first + 1].text().starts_with('-') ||
                     words[first + 1].text() == "--" || words[first + 1].text() == "-a";
  const bool certain = holds_for_what_follows(index) && traps_.empty() && plain;
  bool remove = words[first].text() == "unalias";
  if (words.size() > first + 1) ++aliased_;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    std::string text = words[i].text();
    if (remove) {
      unalias(words[i].known() ? text : "-a", certain && words[i].known());
      continue;
    }
    std::size_t equals = text.find('=');
    if (equals == std::string::npos && !words[i].known()) dialect_.every_alias_doubtful = true;
    if (equals == std::string::npos || equals == 0) continue;
    std::string name = text.substr(0, equals);
    // bash takes no such name.
    if (name.find_first_of("/$`'\"\\ \t\n()<>;&|") != std::string::npos && words[i].known()) continue;
    odd(Oddity::Kind::alias, name, words[i].where);
    if (certain && words[i].known()) {
      dialect_.aliases[name] = text.substr(equals + 1);
      dialect_.doubtful_aliases.erase(name);
    } else {
      dialect_.doubtful_aliases.insert(name);
    }
  }
  return Status::unknown;
}

void Evaluator::unalias(const std::string& name, bool certain) {
  if (!certain) {
    // What is no alias stays none.
    for (const auto& [alias, value] : dialect_.aliases) {
      if (name == "-a" || name == alias) dialect_.doubtful_aliases.insert(alias);
    }
  } else if (name == "-a") {
    dialect_.aliases.clear();
    dialect_.doubtful_aliases.clear();
    dialect_.every_alias_doubtful = false;
  } else {
    dialect_.aliases.erase(name);
    dialect_.doubtful_aliases.erase(name);
  }
}

void Evaluator::expand_aliases(bool on, std::uint32_t index) {
  if (holds_for_what_follows(index)) {
    dialect_.expand_aliases = on;
    dialect_.expansion_doubtful = false;
  } else if (dialect_.expand_aliases != on) {
    dialect_.expansion_doubtful = true;
  }
}

void Evaluator::extended_patterns(bool on, std::uint32_t index) {
  extglob_ = extglob_ || on;
  if (holds_for_what_follows(index)) {
    dialect_.extglob = on;
    dialect_.extglob_doubtful = false;
  } else if (dialect_.extglob != on) {
    dialect_.extglob_doubtful = true;
  }
}

Status Evaluator::doubt_options() {
  Surroundings& around = state_.around;
  around.options_unknown = around.failglob = around.nocasematch = around.lastpipe = true;
  dialect_.expansion_doubtful = dialect_.extglob_doubtful = true;
  return Status::unknown;
}

Status Evaluator::shopt_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field>& words = script_.commands[index].words;
  bool on = false, off = false, shell_options = false, options = true;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    std::string text = words[i].text();
    options = options && text.starts_with('-');
    // With a mistake it does nothing.
    if (!words[i].known() || (options && text.find_first_not_of("-psuqo") != std::string::npos)) return doubt_options();
    if (options) {
      on = on || text.find('s') != std::string::npos;
      off = off || text.find('u') != std::string::npos;
      shell_options = shell_options || text.find('o') != std::string::npos;
      continue;
    }
    if (!on && !off) continue;
    if (on && off) return doubt_options();
    const bool otherwise = text == "extdebug" || text == "localvar_inherit" || text == "localvar_unset" ||
                           text == "xpg_echo" || text.starts_with("compat");
    if ((otherwise && on) || (text == "extquote" && off))
      not_understood("an option that lets bash read or run otherwise: " + text, words[i].where);
    if (shell_options)
      option(text, on, words[i].where);
    else if (text == "failglob")
      state_.around.failglob = on;
    else if (text == "nocasematch")
      state_.around.nocasematch = on;
    else if (text == "extglob")
      extended_patterns(on, index);
    else if (text == "expand_aliases")
      expand_aliases(on, index);
    else if (text == "lastpipe")
      state_.around.lastpipe = on;
  }
  return Status::unknown;
}

}  // namespace cordon::shell
