// Simple commands: their words and assignments, and what kind of thing they run.
#include <algorithm>
#include <utility>

#include "shell/brace.h"
#include "shell/builtin_names.h"
#include "shell/characters.h"
#include "shell/evaluator.h"

namespace cordon::shell {
namespace {

bool is_declaration(std::string_view name) {
  return name == "declare" || name == "export" || name == "local" || name == "readonly" || name == "typeset" ||
         name == "alias";
}

// Where NAME=, NAME+= or NAME[…]= ends in the first literal of a word.
struct Head {
  std::string_view name;
  bool append = false;
  bool keyed = false;
  std::uint32_t part = 0;  // the part that holds the =
  std::size_t after = 0;   // the first byte after it
};

Head head_of(const Word& word) {
  Head head;
  std::string_view text = word.parts[0].text;
  std::size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  head.name = text.substr(0, end);
  if (end == text.size() && word.parts.size() > 2 && word.parts[1].kind == Part::Kind::subscript) {
    head.keyed = true;
    head.part = 2;
    text = word.parts[2].text;
    end = 0;
  } else if (end < text.size() && text[end] == '[') {
    head.keyed = true;
    end = end_of_subscript(text, end);
  }
  head.append = end < text.size() && text[end] == '+';
  head.after = end + (head.append ? 2 : 1);
  return head;
}

Parts value_parts(const Word& word, const Head& head, Arena& arena) {
  Parts parts;
  for (std::uint32_t i = head.part; i < word.parts.size(); ++i) {
    Part part = word.parts[i];
    if (i == head.part) {
      part.text = part.text.substr(std::min(head.after, part.text.size()));
      if (part.text.empty()) continue;
    }
    parts.push(arena, part);
  }
  return parts;
}

}  // namespace

Value Evaluator::value_of(const Field& field) const {
  if (field.known()) return Value::of(field.text());
  // Values built from values would grow without end: x=$x$x.
  if (field.pieces.size() > 64) return Value::unknown("…");
  Value value;
  value.known = false;
  value.pieces = field.pieces;
  for (Piece& piece : value.pieces) piece.quoted = true;
  return value;
}

Status Evaluator::simple(const Node& node, const Flow& flow) {
  if (!within_limits(node.where)) {
    forget_everything();
    return Status::unknown;
  }
  Command command;
  command.where = node.where;
  std::vector<Declared> outer = std::exchange(declared_, {});
  expand_words(node, command, flow);
  Status status;
  if (command.words.empty()) {
    status = assignments_only(node, command, flow);
  } else {
    status = dispatch(command, node, flow);
  }
  declared_ = std::move(outer);
  if (state_.around.errexit && status != Status::success) ++exits_;
  return status;
}

void Evaluator::expand_words(const Node& node, Command& command, const Flow& flow) {
  std::uint32_t first = 0;
  while (first < node.words.size() && node.words[first].assignment) ++first;
  command.words.reserve(node.words.size() - first);
  bool declaration = false;
  for (std::uint32_t i = first; i < node.words.size(); ++i) {
    const Word& word = node.words[i];
    if (declaration && word.assignment) {
      expand_declarations(word, command, flow);
      continue;
    }
    for (Field& field : expand(word, flow)) command.words.push_back(std::move(field));
    if (i == first) declaration = is_declaration(word.plain());
  }
}

// Unlike a plain assignment, one that is an argument has its braces expanded.
void Evaluator::expand_declarations(const Word& word, Command& command, const Flow& flow) {
  if (state_.around.no_brace_expansion || !may_have_braces(word.parts) || limited_)
    return expand_declaration(word, command, flow);
  bool complete = !state_.around.options_unknown;
  for (const Parts& parts : expand_braces(word.parts, arena_, complete)) {
    if (!afford(64 * (1 + parts.size()))) break;
    Word one = word;
    one.parts = parts;
    expand_declaration(one, command, flow);
    if (!complete) declared_.back().value = Value::unknown("{…}");
  }
}

void Evaluator::expand_declaration(const Word& word, Command& command, const Flow& flow) {
  Head head = head_of(word);
  Declared declared;
  declared.word = command.words.size();
  declared.name = head.name;
  declared.append = head.append;
  declared.has_value = true;
  declared.keyed = head.keyed;
  Parts parts = value_parts(word, head, arena_);
  Field shown;
  shown.where = word.where;
  std::string left(word.parts[0].text.substr(0, head.part == 0 ? head.after : word.parts[0].text.size()));
  shown.pieces.push_back({.kind = Piece::Kind::literal, .quoted = true, .text = std::move(left)});
  if (parts.size() == 1 && parts[0].kind == Part::Kind::array) {
    declared.array = parts.begin();
    for (const Word& element : *parts[0].words) {
      for (Field& field : expand(element, flow)) {
        if (shown.pieces.size() < 256)
          shown.pieces.insert(shown.pieces.end(), field.pieces.begin(), field.pieces.end());
      }
    }
  } else {
    Field value = expand_one(parts, Context::assignment, flow, word.where);
    declared.value = value_of(value);
    for (Piece& piece : value.pieces) {
      bool join = piece.kind == Piece::Kind::literal;
      if (join && shown.pieces.back().kind == Piece::Kind::literal) {
        shown.pieces.back().text += piece.text;
      } else {
        shown.pieces.push_back(std::move(piece));
      }
    }
  }
  command.words.push_back(std::move(shown));
  declared_.push_back(std::move(declared));
}

Status Evaluator::assignments_only(const Node& node, Command& command, const Flow& flow) {
  const std::uint64_t before = substitutions_;
  for (const Word& word : node.words) {
    if (word.assignment) assign(word, command.assignments, flow, true);
  }
  take_redirects(node.redirects, command.redirects, flow);
  // x=y &>z: two commands, to some.
  if (of_any_shell() && !command.redirects.empty()) {
    for (const Assignment& assignment : command.assignments) lose(assignment.name);
  }
  bool nothing = command.assignments.empty() && command.redirects.empty();
  if (nothing && node.words.empty()) return Status::success;
  // $(<file) writes the file.
  bool reads_file = command.assignments.empty() && node.words.empty() &&
                    std::any_of(command.redirects.begin(), command.redirects.end(),
                                [](const Redirect& r) { return r.kind == Redirect::Kind::read; });
  const bool redirected = !command.redirects.empty();
  command.kind = Command::Kind::builtin;
  if (!nothing) emit(std::move(command), flow);
  if (reads_file && flow.output != nullptr) flow.output->lose();
  // The status is that of the last substitution.
  return substitutions_ != before || redirected || nothing ? Status::unknown : Status::success;
}

void Evaluator::assign(const Word& word, std::vector<Assignment>& out, const Flow& flow, bool apply) {
  Head head = head_of(word);
  if (apply) change_special(head.name, word.where);
  Assignment to;
  to.name = head.name;
  to.append = head.append;
  to.indexed = head.keyed;
  to.where = word.where;
  Parts parts = value_parts(word, head, arena_);
  if (!parts.empty() && parts.back().kind == Part::Kind::array) {
    to.indexed = true;
    to.value.where = word.where;
    for (const Word& element : *parts.back().words) {
      if (to.value.pieces.size() > 256) break;
      for (Field& field : expand(element, flow)) {
        if (!to.value.pieces.empty())
          to.value.pieces.push_back({.kind = Piece::Kind::literal, .quoted = true, .text = " "});
        for (Piece& piece : field.pieces) to.value.pieces.push_back(std::move(piece));
      }
    }
    if (apply) store_array(parts.back(), head.name, head.append, flow);
    out.push_back(std::move(to));
    return;
  }
  to.value = expand_one(parts, Context::assignment, flow, word.where);
  if (apply) {
    Value value = value_of(to.value);
    if (of_any_shell() && head.append) {
      lose(head.name);
    } else if (!head.keyed) {
      store(head.name, std::nullopt, std::move(value), head.append);
    } else if (head.part == 2) {
      std::optional<std::string> key = subscript(word.parts[1].parts, state_.find(head.name), flow);
      if (key) {
        store(head.name, key, std::move(value), head.append);
      } else {
        lose(head.name);
      }
    } else {
      lose(head.name);
    }
    if (state_.around.allexport && std::find(exported_.begin(), exported_.end(), to.name) == exported_.end()) {
      exported_.push_back(to.name);
    }
  }
  out.push_back(std::move(to));
}

Status Evaluator::dispatch(Command& command, const Node& node, const Flow& flow) {
  const Field& first = command.words[0];
  bool known = first.known();
  std::string name = known ? first.text() : std::string();
  // With a slash it can only be a file, or a function: bash lets them have such names.
  bool path = (known ? name : first.prefix()).find('/') != std::string::npos;
  const Variable* function = known && state_.functions() > 0 ? state_.find(State::function_key(name)) : nullptr;
  bool is_function = function != nullptr && function->kind == Variable::Kind::function;
  bool is_bash_builtin = known && !path && is_builtin(name);
  const bool one_of_few = !known && is_one_of_few_programs(command.words[0]);
  if (is_function) {
    command.kind = Command::Kind::function;
  } else if (is_bash_builtin) {
    command.kind = Command::Kind::builtin;
  }
  // What VAR=value does before a builtin or function holds while it runs.
  bool temporary = is_function || is_bash_builtin;
  std::vector<State::Change> before;
  for (const Word& word : node.words) {
    if (!word.assignment) break;
    if (temporary) {
      std::string variable(head_of(word).name);
      const Variable* old = state_.find(variable);
      lose_meaning(variable);
      before.push_back({variable, old == nullptr ? Variable{.kind = Variable::Kind::function} : *old});
    }
    assign(word, command.assignments, flow, temporary);
  }
  // Redirects do not see them.
  std::vector<State::Change> during;
  if (!node.redirects.empty()) {
    for (const State::Change& change : before) during.push_back({change.name, *state_.find(change.name)});
    restore(before);
  }
  take_redirects(node.redirects, command.redirects, flow);
  for (const State::Change& change : during) state_.set(change.name, change.value);
  const std::uint64_t begun = state_.moment();
  const bool own_input =
      std::ranges::any_of(command.redirects, [](const Redirect& redirect) { return redirect.fd == 0; });
  const bool uncertain =
      temporary && name != "exec" && (may_fail(command.redirects) || (of_any_shell() && is_only_of_bash(name)));
  if (!temporary) run_exported(command, flow);
  Variable called = is_function ? *function : Variable{};
  std::uint32_t index = emit(std::move(command), flow);
  if (known && !is_function) note_output(index);
  Status status = Status::unknown;
  auto run = [&] {
    own_input_ = own_input;
    status = is_function ? call_function(called, index, flow) : builtin(name, index, 0, flow);
  };
  if (uncertain) {
    maybe(run);
    status = Status::unknown;
  } else if (temporary) {
    run();
  } else if (!known && !path && !one_of_few) {
    forget_everything();
    if (flow.output != nullptr) flow.output->lose();
  } else {
    write_output(index, flow);
  }
  if (before.empty()) return status;
  // What was exported or changed while it ran may have become the variable's own.
  for (const std::string& changed : state_.changed_since(begun)) attributed_.insert(changed);
  restore(before);
  for (const State::Change& change : before) {
    if (attributed_.contains(change.name) || of_any_shell()) state_.make_unknown(change.name);
  }
  return status;
}

void Evaluator::restore(const std::vector<State::Change>& before) {
  for (std::size_t i = before.size(); i-- > 0;) {
    if (before[i].value.kind == Variable::Kind::function) {
      state_.make_unknown(before[i].name);
    } else {
      state_.set(before[i].name, before[i].value);
    }
  }
}

}  // namespace cordon::shell
