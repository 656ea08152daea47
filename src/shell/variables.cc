// Looking names up and giving them values.
#include <algorithm>
#include <array>

#include "shell/array_key.h"
#include "shell/builtin_names.h"
#include "shell/characters.h"
#include "shell/evaluator.h"

namespace cordon::shell {
namespace {

// bash gives these a value of its own at every look: an assignment does not stick.
constexpr std::array<std::string_view, 34> dynamic_names{
    "RANDOM",        "SRANDOM",       "SECONDS",       "LINENO",        "BASHPID",      "EPOCHSECONDS",
    "EPOCHREALTIME", "BASH_COMMAND",  "BASH_SUBSHELL", "BASH_ARGV0",    "FUNCNAME",     "GROUPS",
    "DIRSTACK",      "PIPESTATUS",    "HISTCMD",       "BASH_LINENO",   "BASH_SOURCE",  "_",
    "BASH_ARGC",     "BASH_ARGV",     "BASHOPTS",      "SHELLOPTS",     "BASH_CMDS",    "BASH_ALIASES",
    "PPID",          "UID",           "EUID",          "BASH_VERSINFO", "BASH_REMATCH", "OPTARG",
    "OPTIND",        "READLINE_LINE", "COPROC",        "MAPFILE"};
constexpr std::array<std::string_view, 12> numeric_names{"RANDOM",  "SRANDOM",      "SECONDS",       "LINENO",
                                                         "BASHPID", "EPOCHSECONDS", "BASH_SUBSHELL", "PPID",
                                                         "UID",     "EUID",         "HISTCMD",       "OPTIND"};

bool is_dynamic(std::string_view name) {
  return (name[0] == '_' || (name[0] >= 'B' && name[0] <= 'U')) &&
         std::find(dynamic_names.begin(), dynamic_names.end(), name) != dynamic_names.end();
}

bool is_numeric(std::string_view name) {
  return std::find(numeric_names.begin(), numeric_names.end(), name) != numeric_names.end();
}

void change_case(std::string& text, bool upper) {
  for (char& c : text) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

Evaluator::Looked Evaluator::look_up(std::string_view name) const {
  auto unknown = [&] {
    return Looked{Looked::Kind::unknown, Value::unknown("$" + std::string(name), std::string(name))};
  };
  auto number = [&] { return Looked{Looked::Kind::set, Value::number("$" + std::string(name), std::string(name))}; };
  if (is_digit(name[0])) {
    if (name == "0") return {Looked::Kind::set, state_.around.zero};
    if (state_.around.positional == nullptr || name.size() > 6) return unknown();
    std::size_t index = std::stoul(std::string(name));
    if (index == 0) return unknown();
    if (index > state_.around.positional->size()) return {};
    if (!afford((*state_.around.positional)[index - 1].size())) return unknown();
    return {Looked::Kind::set, (*state_.around.positional)[index - 1]};
  }
  if (!is_name_start(name[0])) {
    if (name == "#" && state_.around.positional != nullptr) {
      return {Looked::Kind::set, Value::of(std::to_string(state_.around.positional->size()))};
    }
    if (name == "-" || name == "!") return unknown();
    return number();
  }
  if (all_volatile_ || volatile_.contains(name)) return unknown();
  if (is_dynamic(name)) return is_numeric(name) ? number() : unknown();
  const Variable* variable = state_.find(name);
  if (variable == nullptr) {
    if (name == "IFS" && !state_.around.environment_unknown) return {Looked::Kind::set, Value::of(" \t\n")};
    if (state_.around.environment_unknown) return unknown();
    auto given = given_.variables.find(std::string(name));
    if (given == given_.variables.end()) return unknown();
    return {Looked::Kind::set, Value::of(given->second)};
  }
  if (variable->reference) return unknown();
  switch (variable->kind) {
    case Variable::Kind::unset:
      return {};
    case Variable::Kind::scalar:
      if (!afford(variable->value.size())) return unknown();
      return {Looked::Kind::set, variable->value};
    case Variable::Kind::indexed:
      return element(*variable, array_key(0), name);
    case Variable::Kind::associative:
      return element(*variable, "0", name);
    case Variable::Kind::unknown: {
      Looked looked = unknown();
      // Another IFS would split the values in other places than blanks.
      if (state_.find("IFS") == nullptr) looked.value.pieces.front().one_of = variable->one_of;
      return looked;
    }
    default:
      return unknown();
  }
}

// A name that may be a builtin's or a function's is not one of few programs: what it would do is not followed.
bool Evaluator::is_one_of_few_programs(Field& name) const {
  if (name.pieces.size() != 1 || name.pieces[0].one_of.empty()) return false;
  std::vector<std::string>& values = name.pieces[0].one_of;
  const bool programs = std::all_of(values.begin(), values.end(), [&](const std::string& value) {
    const std::string first = value.substr(0, value.find(' '));
    return !first.empty() && !is_builtin(first) && state_.find(State::function_key(first)) == nullptr;
  });
  if (!programs) values.clear();
  return programs;
}

Evaluator::Looked Evaluator::element(const Variable& variable, const std::optional<std::string>& key,
                                     std::string_view name) const {
  if (!key) return {Looked::Kind::unknown, Value::unknown("${" + std::string(name) + "[…]}", std::string(name))};
  auto found = variable.elements.find(*key);
  if (found == variable.elements.end()) return {};
  if (!afford(found->second.size())) return {Looked::Kind::unknown, Value::unknown("…", std::string(name))};
  return {Looked::Kind::set, found->second};
}

std::optional<std::string> Evaluator::subscript(const Parts& parts, const Variable* variable, const Flow& flow) {
  if (variable != nullptr && variable->kind == Variable::Kind::associative) {
    Value key = expand_value(parts, Context::assignment, flow);
    if (!key.known) return std::nullopt;
    if (key.text.empty()) note_abort();
    return key.text;
  }
  if (parts.empty()) note_abort();  // a[]=x
  std::optional<long long> index = arithmetic(parts, flow);
  // Beyond its beginning there is nothing to assign to, and bash ends what it read.
  if (index && *index < 0) note_abort();
  if (!index || *index < 0) return std::nullopt;
  return array_key(*index);
}

// Gives a variable (or, with a key, one of its elements) a value, as its attributes have it.
void Evaluator::store(std::string_view name, const std::optional<std::string>& key, Value value, bool add) {
  const Variable* old = state_.find(name);
  if (!afford(16 + value.size() + (old == nullptr ? 0 : old->size()))) return state_.make_unknown(name);
  Variable next = old == nullptr ? Variable{} : *old;
  if (next.reference) {
    // A reference's target is not followed: anything may have been changed, a number, too.
    run_named(known_text(value), {});
    forget_everything();
    return;
  }
  change_special(name, {});
  suspect(name, known_text(value));
  // bash's own numbers, and what is not calculated below.
  const bool evaluated =
      name == "RANDOM" || name == "SRANDOM" || name == "OPTIND" || (next.integer && (add || !value.known));
  if (evaluated) run_unknown(value.pieces, {}), run_named(known_text(value), {});
  if (next.readonly) {
    // Some commands end there, some shells do, some go on.
    not_understood("an assignment to a readonly variable", {});
    note_abort();
    return state_.make_unknown(name);
  }
  if (old == nullptr) {
    // A name from the environment stays exported when it is assigned.
    bool given = given_.variables.contains(std::string(name));
    next.exported = given;
    // What it has from the environment becomes its first element.
    const bool usual = given || (name[0] >= 'A' && name[0] <= 'Z');
    if (add || (key && usual)) {
      Looked before = look_up(name);
      if (before.kind == Looked::Kind::unknown) return state_.make_unknown(name);
      next.kind = Variable::Kind::scalar;
      next.value = before.value;
    }
  }
  if (next.integer) {
    std::optional<long long> number = value.known && !add ? arithmetic(value.text, {}, 0) : std::nullopt;
    value = number ? Value::of(std::to_string(*number)) : Value::number("$" + std::string(name), std::string(name));
    add = false;
  }
  bool cased = next.lower || next.upper;
  if (cased && (!value.known || !is_ascii(value.text) || (next.lower && next.upper)))
    value = Value::unknown("$" + std::string(name), std::string(name));
  if (cased && value.known) change_case(value.text, next.upper);
  bool array = next.kind == Variable::Kind::indexed || next.kind == Variable::Kind::associative;
  Value* target = &next.value;
  if (key || array) {
    if (next.kind == Variable::Kind::unknown) return state_.make_unknown(name);
    if (!array) {
      if (next.kind == Variable::Kind::scalar) next.elements[array_key(0)] = std::move(next.value);
      next.value = {};
      next.kind = Variable::Kind::indexed;
    }
    target = &next.elements[key ? *key : next.kind == Variable::Kind::indexed ? array_key(0) : "0"];
  } else {
    if (next.kind == Variable::Kind::unknown && add) return state_.make_unknown(name);
    if (!add) next.value = {};
    next.kind = Variable::Kind::scalar;
  }
  if (!add) {
    *target = std::move(value);
  } else if (target->known && value.known) {
    if (target->text.size() + value.text.size() > max_known_text) return state_.make_unknown(name);
    target->text += value.text;
  } else {
    auto pieces = [](Value& from) {
      if (from.known) from.pieces = {Piece{.kind = Piece::Kind::literal, .quoted = true, .text = std::move(from.text)}};
      from.known = false;
      from.text.clear();
      return std::move(from.pieces);
    };
    std::vector<Piece> all = pieces(*target);
    for (Piece& piece : pieces(value)) all.push_back(std::move(piece));
    if (all.size() > 256) return state_.make_unknown(name);
    target->pieces = std::move(all);
  }
  state_.set(name, std::move(next));
}

void Evaluator::store_array(const Part& array, std::string_view name, bool append, const Flow& flow) {
  const Variable* old = state_.find(name);
  bool associative = old != nullptr && old->kind == Variable::Kind::associative;
  bool starts_known =
      !append || (old != nullptr && (old->kind == Variable::Kind::indexed || old->kind == Variable::Kind::unset));
  bool odd_kind = old != nullptr && (old->integer || old->lower || old->upper || old->readonly || old->reference);
  if (associative || !starts_known || odd_kind) {
    for (const Word& word : *array.words) {
      for (const Field& field : expand(word, flow)) {
        suspect(name, known_text(field));
        if (word.assignment ? !associative : old != nullptr && (old->integer || old->reference))
          run_named(known_text(field), flow);
      }
    }
    if (old != nullptr && old->reference) return forget_everything();
    if (old != nullptr && old->readonly) not_understood("an assignment to a readonly variable", {});
    return state_.make_unknown(name);
  }
  if (old != nullptr && !afford(old->size())) return state_.make_unknown(name);
  Variable next = old == nullptr ? Variable{} : *old;
  if (!append) next.elements.clear();
  next.value = {};
  next.kind = Variable::Kind::indexed;
  long long index = next.elements.empty() ? 0 : std::stoll(next.elements.rbegin()->first) + 1;
  bool known = true;
  for (const Word& word : *array.words) {
    if (word.assignment) {
      for (const Field& field : expand(word, flow)) run_named(known_text(field), flow);
      known = false;
      continue;
    }
    for (const Field& field : expand(word, flow)) {
      // An unquoted unknown or a pattern may be any number of elements.
      for (const Piece& piece : field.pieces) {
        bool fixed = piece.kind == Piece::Kind::literal ||
                     (piece.quoted && piece.kind != Piece::Kind::glob && piece.variable != "@");
        known = known && fixed;
      }
      suspect(name, known_text(field));
      next.elements[array_key(index++)] = value_of(field);
      if (next.elements.size() > 1024) known = false;
    }
    if (!known) break;
  }
  if (!known) return state_.make_unknown(name);
  state_.set(name, std::move(next));
}

/// Unset once, or a local or temporary one: a variable like others.
void Evaluator::lose_meaning(std::string_view name) {
  if (is_numeric(name)) volatile_.insert(std::string(name));
}

void Evaluator::lose(std::string_view name) {
  const Variable* variable = state_.find(name);
  if (variable != nullptr && variable->reference) return forget_everything();
  state_.make_unknown(name);
}

/// Names that mean something to bash itself.
void Evaluator::change_special(std::string_view name, Span where) {
  if (name == "BASH_ARGV0") state_.around.zero = Value::unknown("$0", "0");
  for (std::string_view special : {"BASH_ALIASES", "BASH_CMDS", "BASH_COMPAT", "FUNCNEST", "POSIXLY_CORRECT"}) {
    if (name == special) not_understood("a variable that lets bash read or run otherwise: " + std::string(name), where);
  }
}

}  // namespace cordon::shell
