#include "risk/makefile.h"

#include <algorithm>
#include <set>

namespace cordon::risk {

namespace {

constexpr std::string_view unknown = "${CORDON_UNKNOWN}";
constexpr int max_expansions = 8;
constexpr int max_rounds = 32;  // needs of needs; beyond them every rule counts
constexpr std::size_t max_line = 1 << 16;

struct Target {
  std::vector<std::string> names, needs, lines;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

class Makefile {
 public:
  explicit Makefile(std::map<std::string, std::string> given) : variables_(given), given_(std::move(given)) {
    for (auto [name, value] : {std::pair{"CC", "cc"}, {"CXX", "c++"}, {"MAKE", "make"}, {"RM", "rm -f"}, {"AR", "ar"}})
      variables_.emplace(name, value);
  }

  void read(std::string_view text) {
    while (!text.empty()) line(next_line(text));
  }

  std::vector<std::string> commands(const std::vector<std::string>& goals) {
    std::set<std::string> wanted(goals.begin(), goals.end());
    if (wanted.empty()) wanted = first_names();
    bool all = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& each) { return !named(each); });
    int rounds = 0;
    while (!all && add_needs(wanted)) all = ++rounds == max_rounds;
    for (const Target& target : targets_) {
      if (all || is_wanted(target, wanted)) add_lines(target);
    }
    return std::move(commands_);
  }

 private:
  /// One line with those that a backslash joins to it.
  static std::string next_line(std::string_view& text) {
    std::string line;
    bool joined = true;
    while (joined && !text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view part = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      joined = part.ends_with('\\');
      if (joined) part.remove_suffix(1);
      line += part;
    }
    return line;
  }

  void line(const std::string& text) {
    const bool indented = text.starts_with('\t') || (text.starts_with("  ") && !targets_.empty());
    if (indented && !targets_.empty()) {
      targets_.back().lines.push_back(text);
      return;
    }
    const std::string_view bare = trimmed(text);
    if (bare.empty() || bare[0] == '#') return;
    const std::size_t equals = bare.find('=');
    const std::size_t colon = bare.find(':');
    if (equals != std::string_view::npos && (colon == std::string_view::npos || colon + 3 > equals))
      assign(bare, equals);
    else if (colon != std::string_view::npos)
      target(bare, colon);
    else
      expand(bare, 0);  // $(shell …) on a line of its own
  }

  void assign(std::string_view text, std::size_t equals) {
    std::string_view name = text.substr(0, equals);
    const bool adds = name.ends_with('+');
    while (!name.empty() && std::string_view(":?+! \t").find(name.back()) != std::string_view::npos)
      name.remove_suffix(1);
    if (name.starts_with("export ")) name.remove_prefix(7);
    const std::string value = expand(trimmed(text.substr(equals + 1)), 0);
    auto [known, fresh] = variables_.emplace(std::string(trimmed(name)), value);
    if (fresh || given_.contains(known->first)) return;
    // Which of two values holds may depend on conditions that nobody reads here.
    if (adds && known->second.size() < max_line)
      known->second += " " + value;
    else if (known->second != value)
      known->second = unknown;
  }

  void target(std::string_view text, std::size_t colon) {
    Target fresh;
    fresh.names = words_of(expand(text.substr(0, colon), 0));
    std::string_view rest = text.substr(colon + 1);
    while (rest.starts_with(':')) rest.remove_prefix(1);
    if (const std::size_t recipe = rest.find(';'); recipe != std::string_view::npos) {
      fresh.lines.emplace_back(rest.substr(recipe + 1));
      rest = rest.substr(0, recipe);
    }
    fresh.needs = words_of(expand(rest, 0));
    targets_.push_back(std::move(fresh));
  }

  std::set<std::string> first_names() const {
    for (const Target& target : targets_) {
      if (!target.names.empty() && !target.names[0].starts_with('.')) return {target.names[0]};
    }
    return {};
  }

  bool named(const std::string& goal) const {
    return std::any_of(targets_.begin(), targets_.end(), [&](const Target& target) {
      return std::find(target.names.begin(), target.names.end(), goal) != target.names.end();
    });
  }

  static bool is_wanted(const Target& target, const std::set<std::string>& wanted) {
    return std::any_of(target.names.begin(), target.names.end(), [&](const std::string& name) {
      return wanted.contains(name) || name.find_first_of("%$") != std::string::npos;
    });
  }

  bool add_needs(std::set<std::string>& wanted) const {
    const std::size_t before = wanted.size();
    for (const Target& target : targets_) {
      if (is_wanted(target, wanted)) wanted.insert(target.needs.begin(), target.needs.end());
    }
    return wanted.size() != before;
  }

  void add_lines(const Target& target) {
    variables_["@"] = target.names.empty() ? std::string(unknown) : target.names[0];
    variables_["<"] = target.needs.empty() ? std::string(unknown) : target.needs[0];
    for (const std::string& each : target.lines) {
      std::string_view text = trimmed(each);
      while (!text.empty() && std::string_view("@-+ \t").find(text[0]) != std::string_view::npos) text.remove_prefix(1);
      if (!text.empty() && text[0] != '#') commands_.push_back(expand(text, 0));
    }
  }

  /// $$, $@, $(NAME), ${NAME}, $(shell …), and {{name}} of just.
  std::string expand(std::string_view text, int depth) {
    std::string out;
    for (std::size_t at = 0; at < text.size() && out.size() < max_line; ++at) {
      if (text.substr(at, 2) == "{{") {
        out += unknown;
        at = std::min(text.find("}}", at), text.size() - 2) + 1;
      } else if (text[at] != '$' || at + 1 >= text.size()) {
        out += text[at];
      } else if (text[++at] == '$') {
        out += '$';
      } else if (text[at] == '(' || text[at] == '{') {
        out += reference(text, at, depth);
      } else {
        out += value_of(std::string(1, text[at]), depth);
      }
    }
    return out;
  }

  /// `at` is on the bracket; afterwards on the one that closes it.
  std::string reference(std::string_view text, std::size_t& at, int depth) {
    const char open = text[at];
    const char close = open == '(' ? ')' : '}';
    const std::size_t begin = at + 1;
    for (int level = 1; ++at < text.size();) {
      if (text[at] == open) ++level;
      if (text[at] == close && --level == 0) break;
    }
    const std::string_view inner = text.substr(begin, at - begin);
    if (inner.starts_with("shell ") && depth < max_expansions) {
      commands_.push_back(expand(inner.substr(6), depth + 1));
      return std::string(unknown);
    }
    return value_of(std::string(inner), depth);
  }

  std::string value_of(const std::string& name, int depth) {
    auto found = variables_.find(name);
    if (found == variables_.end() || depth >= max_expansions) return std::string(unknown);
    return found->second;
  }

  std::map<std::string, std::string> variables_, given_;
  std::vector<Target> targets_;
  std::vector<std::string> commands_;
};

}  // namespace

std::vector<std::string> makefile_commands(std::string_view text, const std::vector<std::string>& goals,
                                           std::map<std::string, std::string> variables) {
  Makefile makefile(std::move(variables));
  makefile.read(text);
  return makefile.commands(goals);
}

}  // namespace cordon::risk
