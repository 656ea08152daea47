// Words: bash's expansions, each as far as it can be known.
#include <algorithm>

#include "shell/ansi.h"
#include "shell/brace.h"
#include "shell/builder.h"
#include "shell/characters.h"

namespace cordon::shell {
namespace {

// Where the value begins in an argument that looks like an assignment: bash expands ~ there, too. 0: it does not.
std::size_t value_of_argument(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  if (end == 0 || is_digit(text[0])) return 0;
  if (end < text.size() && text[end] == '[') end = std::min(end_of_subscript(text, end), text.size());
  if (text.substr(end).starts_with('+')) ++end;
  return text.substr(end).starts_with('=') ? end + 1 : 0;
}

}  // namespace

std::string Evaluator::source_of(const Part& part) const {
  switch (part.kind) {
    case Part::Kind::variable:
      return "$" + std::string(part.text);
    case Part::Kind::parameter:
      if (part.parts.size() == 1 && part.parts[0].kind == Part::Kind::literal) {
        return "${" + std::string(part.parts[0].text) + "}";
      }
      break;
    default:
      break;
  }
  if (part.where.end > script_.text.size() || part.where.begin >= part.where.end) return "$(…)";
  return script_.text.substr(part.where.begin, std::min<std::size_t>(part.where.end - part.where.begin, 200));
}

bool Evaluator::separators(std::string& out) const {
  const Variable* ifs = state_.find("IFS");
  bool lost = all_volatile_ || volatile_.contains("IFS");
  if (lost) return false;
  if (ifs == nullptr) {
    // bash ignores an IFS from the environment.
    out = " \t\n";
    return !state_.around.environment_unknown;
  }
  if (ifs->kind == Variable::Kind::unset) return out = " \t\n", true;
  if (ifs->kind != Variable::Kind::scalar || !ifs->value.known) return false;
  out = ifs->value.text;
  return true;
}

std::vector<Field> Evaluator::expand(const Word& word, const Flow& flow) {
  if (std::string_view plain = word.plain(); !plain.empty()) {
    // The common case: nothing in it means anything.
    if (plain.find_first_of("*?[{~") == std::string_view::npos) {
      std::vector<Field> one(1);
      Piece& piece = one[0].pieces.emplace_back();
      piece.quoted = true;
      piece.text = plain;
      one[0].where = word.where;
      return one;
    }
  }
  std::string ifs;
  bool ifs_known = separators(ifs);
  auto expand_alternative = [&](const Parts& parts) {
    Builder builder(Context::word, state_.around.noglob && !state_.around.options_unknown);
    builder.separators(ifs_known, ifs);
    builder.extended = extglob_;
    expand_parts(parts, builder, flow);
    std::vector<Field> fields = builder.finish(word.where);
    const bool pattern = std::ranges::any_of(fields, [](const Field& field) { return field.has(Piece::Kind::glob); });
    if (pattern && state_.around.failglob) note_abort();
    return fields;
  };
  if (state_.around.no_brace_expansion || !may_have_braces(word.parts)) return expand_alternative(word.parts);
  bool complete = true;
  std::vector<Parts> alternatives;
  if (limited_)
    complete = false;
  else
    alternatives = expand_braces(word.parts, arena_, complete);
  if (!complete) odd(Oddity::Kind::limit, "a brace expansion with too many words", word.where);
  std::size_t made = 0;
  for (const Parts& parts : alternatives) made += 64 * (1 + parts.size());
  if (alternatives.size() > 1 && !afford(made)) alternatives.clear(), complete = false;
  if (state_.around.options_unknown && alternatives.size() != 1) complete = false;
  std::vector<Field> all;
  for (const Parts& parts : alternatives) {
    for (Field& field : expand_alternative(parts)) all.push_back(std::move(field));
  }
  if (!complete) {
    Field rest;
    rest.where = word.where;
    rest.pieces.push_back({.kind = Piece::Kind::unknown, .text = "{…}"});
    all.push_back(std::move(rest));
  }
  return all;
}

Field Evaluator::expand_one(const Parts& parts, Context context, const Flow& flow, Span where) {
  std::string ifs;
  Builder builder(context, false);
  builder.quoted = context == Context::quoted;
  builder.extended = extglob_;
  bool ifs_known = separators(ifs);
  builder.separators(ifs_known, ifs);
  expand_parts(parts, builder, flow);
  Field field = builder.finish_one(where);
  // A text of that size is as good as unknown, and may be on its way to being copied into the next.
  bool grown =
      context == Context::assignment && field.pieces.size() == 1 && field.pieces[0].text.size() > max_known_text;
  if (grown) field.pieces[0] = {.kind = Piece::Kind::unknown, .quoted = true, .text = "…"};
  return field;
}

Value Evaluator::expand_value(const Parts& parts, Context context, const Flow& flow) {
  Field field = expand_one(parts, context, flow, {});
  Value value;
  if (field.known()) return Value::of(field.text());
  if (field.pieces.size() > 64) return Value::unknown("…");
  value.known = false;
  value.pieces = std::move(field.pieces);
  return value;
}

void Evaluator::expand_parts(const Parts& parts, Builder& builder, const Flow& flow) {
  bool assigns = builder.context() == Context::assignment;
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    if (part.kind == Part::Kind::literal && !builder.quoted) {
      std::string_view text = part.text;
      if (i == 0 && builder.context() == Context::word) {
        const std::size_t value = value_of_argument(text);
        builder.pattern(text.substr(0, value));
        text.remove_prefix(value);
        assigns = value > 0;
      }
      if (i == 0 || assigns) text = expand_tilde(text, builder, {assigns, i != 0, i + 1 < parts.size()});
      expand_literal(part, text, builder);
      continue;
    }
    expand_part(part, builder, flow);
  }
}

void Evaluator::expand_literal(const Part& /*part*/, std::string_view text, Builder& builder) {
  if (text.empty()) return;
  builder.pattern(text);
}

// A leading ~, and in an assignment one after each colon. Returns what is left to expand.
std::string_view Evaluator::expand_tilde(std::string_view text, Builder& builder, TildePlace place) {
  const auto [assignment, later, more] = place;
  bool at_start = !later;
  for (;;) {
    if (!at_start) {
      std::size_t colon = assignment ? text.find(":~") : std::string_view::npos;
      if (colon == std::string_view::npos) return text;
      builder.pattern(text.substr(0, colon + 1));
      text.remove_prefix(colon + 1);
    }
    at_start = false;
    if (!text.starts_with('~')) {
      if (!assignment) return text;
      continue;
    }
    std::size_t end = text.find_first_of(assignment ? "/:" : "/");
    // ~"user" and ~$user are not user names.
    if (end == std::string_view::npos && more) return text;
    std::string_view name = text.substr(0, end);
    text.remove_prefix(name.size());
    Value value;
    std::string_view variable = name == "~" ? "HOME" : name == "~+" ? "PWD" : name == "~-" ? "OLDPWD" : "";
    if (variable.empty()) {
      value = Value::unknown(std::string(name));
    } else {
      Looked looked = look_up(variable);
      value =
          looked.kind == Looked::Kind::set ? looked.value : Value::unknown(std::string(name), std::string(variable));
    }
    bool quoted = std::exchange(builder.quoted, true);
    builder.value(value);
    builder.quoted = quoted;
    if (!assignment) return text;
  }
}

void Evaluator::expand_part(const Part& part, Builder& builder, const Flow& flow) {
  switch (part.kind) {
    case Part::Kind::literal:
      builder.quoted ? builder.literal(part.text) : expand_literal(part, part.text, builder);
      break;
    case Part::Kind::escaped:
      if (builder.quoted && !is_escapable_in_quotes(part.text[0]) && part.text[0] != '}') builder.literal("\\");
      builder.literal(part.text);
      break;
    case Part::Kind::single:
      if (builder.quoted) {
        // Inside "${x:-'…'}" the quotes are ordinary characters and what they hold is expanded.
        builder.literal("'");
        Parser inner(part.text, arena_, limits_, dialect_);
        inner.pin(part.where);
        Parts parts = inner.read_quoted_text(false);
        expand_parts(parts, builder, flow);
        builder.literal("'");
      } else {
        builder.exist();
        builder.literal(part.text);
      }
      break;
    case Part::Kind::ansi:
      builder.exist();
      builder.literal(decode_ansi(part.text));
      break;
    case Part::Kind::dquote:
    case Part::Kind::locale: {
      bool before = std::exchange(builder.quoted, true);
      // "$@" alone vanishes when there are no parameters; any other quotes leave a word.
      bool only_list = part.parts.size() == 1 && is_list(part.parts[0]);
      if (!only_list) builder.exist();
      expand_parts(part.parts, builder, flow);
      builder.quoted = before;
      break;
    }
    case Part::Kind::variable:
      expand_variable(part, part.text, builder);
      break;
    case Part::Kind::parameter:
      expand_parameter(part, builder, flow);
      break;
    case Part::Kind::command:
    case Part::Kind::backquote:
      expand_substitution(part, builder, flow);
      break;
    case Part::Kind::arithmetic:
      expand_arithmetic(part, builder, flow);
      break;
    case Part::Kind::process_in:
    case Part::Kind::process_out:
      expand_process(part, builder, flow);
      break;
    case Part::Kind::extglob:
    case Part::Kind::group:
    case Part::Kind::subscript: {
      // Substitutions inside still run.
      std::string text(part.kind == Part::Kind::extglob ? part.text : "");
      Field inside = expand_one(part.parts, Context::pattern, flow, part.where);
      const std::string written = inside.text();
      if (written.find("<(") != std::string::npos || written.find(">(") != std::string::npos)
        not_understood("a process substitution in a pattern", part.where);
      text += part.kind == Part::Kind::subscript ? "[" : "(";
      text += inside.text();
      text += part.kind == Part::Kind::subscript ? "]" : ")";
      if (builder.quoted || part.kind == Part::Kind::subscript) {
        builder.literal(text);
      } else {
        builder.glob(text);
      }
      break;
    }
    case Part::Kind::array:
      for (const Word& word : *part.words) expand(word, flow);
      builder.unknown({.kind = Piece::Kind::unknown, .text = "(…)"});
      break;
  }
}

void Evaluator::expand_variable(const Part& part, std::string_view name, Builder& builder) {
  if (name == "@" || name == "*") return expand_all_positional(name[0], builder, part);
  Looked looked = look_up(name);
  if (looked.kind != Looked::Kind::set && state_.around.nounset) note_abort();
  if (looked.kind == Looked::Kind::unset) return;
  builder.value(looked.value);
}

void Evaluator::expand_all_positional(char which, Builder& builder, const Part& part) {
  if (state_.around.positional == nullptr) {
    Piece piece{.kind = Piece::Kind::unknown, .text = source_of(part), .variable = std::string(1, which)};
    return which == '@' ? builder.unknown_list(std::move(piece)) : builder.unknown(std::move(piece));
  }
  std::size_t bytes = 0;
  for (const Value& value : *state_.around.positional) bytes += 16 + value.size();
  if (!afford(bytes)) {
    return builder.unknown_list({.kind = Piece::Kind::unknown, .text = "$@", .variable = std::string(1, which)});
  }
  expand_list(*state_.around.positional, which, builder);
}

void Evaluator::expand_list(const std::vector<Value>& values, char which, Builder& builder) {
  bool one_word = builder.context() != Context::word || (builder.quoted && which == '*');
  if (one_word) {
    std::string ifs = " ";
    std::string separator = " ";
    if (which == '*') {
      if (!separators(ifs)) {
        builder.unknown({.kind = Piece::Kind::unknown, .text = "$*", .variable = "*"});
        return;
      }
      separator = ifs.substr(0, 1);
    }
    if (builder.quoted) builder.exist();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) builder.literal(separator);
      builder.value(values[i]);
    }
    return;
  }
  // Between the words of a list other separators than blanks make empty ones or do not: not worth being wrong about.
  std::string ifs;
  const bool blanks = separators(ifs) && ifs.find_first_not_of(" \t\n") == std::string::npos;
  if ((!builder.quoted || !builder.is_new()) && !blanks && values.size() > 1)
    return builder.unknown_list({.kind = Piece::Kind::unknown, .text = which == '@' ? "$@" : "$*"});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) builder.end_field();
    if (builder.quoted) builder.exist();
    builder.value(values[i]);
  }
}

Output Evaluator::new_output() const {
  Output output;
  output.exits = exits_;
  if (traps_print_ && traps_follow_) output.lose();
  return output;
}

// bash reads the text of a substitution again when it runs, with the aliases that there are then.
void Evaluator::note_read_again(const Part& part, std::uint64_t aliased) {
  const bool changed = aliased_ != aliased || (aliased_ != 0 && !calls_.empty());
  if (changed && (dialect_.expand_aliases || dialect_.expansion_doubtful))
    not_understood("a substitution that is read again after aliases have changed", part.where);
}

void Evaluator::expand_substitution(const Part& part, Builder& builder, const Flow& flow) {
  ++substitutions_;
  note_read_again(part, unit_aliased_);
  const std::uint64_t aliased = aliased_;
  if (part.list == nullptr) return builder.unknown({.kind = Piece::Kind::unknown, .text = source_of(part)});
  Output output = new_output();
  if (!part.trouble.empty()) output.lose();
  Flow inner = flow;
  ++inner.substitution;
  inner.output = &output;
  inner.own_output = own_stream(flow);
  inner.background = false;
  const std::uint64_t doubts = doubts_ + leaves_;
  in_subshell([&] { list(*part.list, inner); });
  note_read_again(part, aliased);
  if (doubts_ + leaves_ != doubts) output.lose();
  if (output.known && output.text.size() <= max_known_text) {
    std::string text = std::move(output.text);
    std::erase(text, '\0');
    while (text.ends_with('\n')) text.pop_back();
    return builder.value(Value::of(std::move(text)));
  }
  Piece piece{.kind = Piece::Kind::unknown, .text = source_of(part)};
  piece.from = std::move(output.commands);
  builder.unknown(std::move(piece));
}

void Evaluator::expand_process(const Part& part, Builder& builder, const Flow& flow) {
  if (builder.quoted || part.list == nullptr) {
    builder.literal(part.kind == Part::Kind::process_in ? "<" : ">");
    return builder.unknown({.kind = Piece::Kind::unknown, .text = "(…)"});
  }
  note_read_again(part, unit_aliased_);
  const std::uint64_t aliased = aliased_;
  Output output = new_output();
  Flow inner = flow;
  ++inner.substitution;
  inner.output = &output;
  inner.background = true;
  Input nothing;
  (part.kind == Part::Kind::process_out ? inner.own_input : inner.own_output) = own_stream(flow);
  if (part.kind == Part::Kind::process_out) inner.input = &nothing;
  const std::uint64_t doubts = doubts_ + leaves_;
  in_subshell([&] { list(*part.list, inner); });
  note_read_again(part, aliased);
  if (doubts_ + leaves_ != doubts) output.lose();
  Piece piece;
  piece.kind = part.kind == Part::Kind::process_in ? Piece::Kind::process_in : Piece::Kind::process_out;
  piece.text = source_of(part);
  piece.from = output.commands;
  bool followed = part.kind == Part::Kind::process_in && output.known && !output.commands.empty();
  if (followed) process_texts_[output.commands.front()] = std::move(output.text);
  builder.unknown(std::move(piece));
}

void Evaluator::expand_arithmetic(const Part& part, Builder& builder, const Flow& flow) {
  std::optional<long long> value = arithmetic(part.parts, flow);
  if (value) return builder.value(Value::of(std::to_string(*value)));
  builder.unknown({.kind = Piece::Kind::number, .text = source_of(part)});
}

}  // namespace cordon::shell
