// Simple commands: their words, redirects and assignments, and what kind of thing they run.
#include <algorithm>

#include "model/descriptor_name.h"
#include "shell/array_key.h"
#include "shell/brace.h"
#include "shell/builtin_names.h"
#include "shell/characters.h"
#include "shell/evaluator.h"
#include "shell/pure.h"

namespace cordon::shell {
namespace {

constexpr std::uint64_t entry_cost = 256;  // of a redirect, pipe or export handed to one more command
constexpr std::uint32_t max_calls = 24;

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
    // command and builtin pass the special treatment on.
    bool passes = i == first && (word.plain() == "command" || word.plain() == "builtin");
    if (passes && i + 1 < node.words.size()) declaration = is_declaration(node.words[i + 1].plain());
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

void Evaluator::take_redirects(const Seq<Redirection>& from, std::vector<Redirect>& to, const Flow& flow) {
  for (const Redirection& redirect : from) to.push_back(take_redirect(redirect, flow));
}

Redirect Evaluator::take_redirect(const Redirection& from, const Flow& flow) {
  using Kind = Redirection::Kind;
  Redirect to;
  to.where = from.where;
  bool input = from.kind == Kind::read || from.kind == Kind::read_write || from.kind == Kind::here ||
               from.kind == Kind::here_string || from.kind == Kind::duplicate_in;
  to.fd = from.has_variable ? -1 : from.fd >= 0 ? from.fd : input ? 0 : 1;
  if (from.has_variable) {
    run_subscripts(Field::literal(std::string(from.variable), from.where), flow);
    lose(from.variable.substr(0, from.variable.find('[')));
  }
  if (from.kind == Kind::here) {
    to.kind = Redirect::Kind::here_text;
    if (from.here->quoted) {
      to.target = Field::literal(std::string(from.here->text), from.where);
    } else {
      to.target = expand_one(from.here->body, Context::quoted, flow, from.where);
    }
    return to;
  }
  if (from.kind == Kind::here_string) {
    to.kind = Redirect::Kind::here_text;
    to.target = expand_one(from.target.parts, Context::assignment, flow, from.where);
    to.target.pieces.push_back({.kind = Piece::Kind::literal, .quoted = true, .text = "\n"});
    return to;
  }
  std::vector<Field> fields = expand(from.target, flow);
  if (fields.size() == 1) {
    to.target = std::move(fields[0]);
  } else {
    // bash calls it ambiguous and runs nothing.
    to.target.pieces.push_back({.kind = Piece::Kind::unknown, .text = "…"});
    for (Field& field : fields) {
      for (Piece& piece : field.pieces) to.target.pieces.push_back(std::move(piece));
    }
  }
  to.target.where = from.target.where;
  switch (from.kind) {
    case Kind::read:
      to.kind = Redirect::Kind::read;
      break;
    case Kind::write:
    case Kind::clobber:
      to.kind = Redirect::Kind::write;
      break;
    case Kind::append:
      to.kind = Redirect::Kind::append;
      break;
    case Kind::read_write:
      to.kind = Redirect::Kind::read_write;
      break;
    case Kind::both:
      to.kind = Redirect::Kind::write, to.also_stderr = true;
      break;
    case Kind::both_append:
      to.kind = Redirect::Kind::append, to.also_stderr = true;
      break;
    default: {
      std::string text = to.target.text();
      bool number = to.target.known() && !text.empty() && text.find_first_not_of("0123456789-") == std::string::npos &&
                    text.find('-') >= text.size() - 1;
      closed_ = closed_ || (to.fd >= 0 && to.fd <= 2 && (text.ends_with('-') || !to.target.known()));
      bool file = from.kind == Kind::duplicate_out && from.fd < 0 && !from.has_variable && !number;
      to.kind = file ? Redirect::Kind::write : Redirect::Kind::duplicate;
      to.also_stderr = file;
      break;
    }
  }
  return to;
}

Status Evaluator::assignments_only(const Node& node, Command& command, const Flow& flow) {
  std::size_t before = script_.commands.size();
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
  bool ran = script_.commands.size() > before + 1;
  return ran || redirected || nothing ? Status::unknown : Status::success;
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

/// Redirects of enclosing groups, or of exec, as far as they still hold here. Returns how many the innermost gave.
std::size_t Evaluator::add_enclosing(Command& command, const RedirectScope* innermost, const Flow& flow, bool lasting) {
  const RedirectScope* output_ends = lasting ? flow.own_output.lasting : flow.own_output.outer;
  const RedirectScope* input_ends = lasting ? flow.own_input.lasting : flow.own_input.outer;
  bool own_output = false, own_input = false;
  std::size_t first = 0;
  for (const RedirectScope* scope = innermost; scope != nullptr; scope = scope->outer) {
    if (!afford(entry_cost * scope->redirects.size() + 16)) break;
    own_output |= flow.own_output.is && scope == output_ends;
    own_input |= flow.own_input.is && scope == input_ends;
    const std::size_t before = command.redirects.size();
    for (const Redirect& redirect : scope->redirects) {
      if (own_input && redirect.fd == 0) continue;
      if (own_output && redirect.fd == 1 && !redirect.also_stderr) continue;
      command.redirects.push_back(redirect);
      if (redirect.kind == Redirect::Kind::here_text && command.kind != Command::Kind::compound)
        command.redirects.back().target = left_of(redirect, command, flow, lasting);
      if (!own_output || !redirect.also_stderr) continue;
      command.redirects.back().also_stderr = false;
      command.redirects.back().fd = 2;
    }
    if (scope == innermost) first = command.redirects.size() - before;
  }
  return first;
}

std::uint32_t Evaluator::emit(Command command, const Flow& flow) {
  command.conditional = flow.conditional || (!calls_.empty() && calls_.back().returned);
  command.background = flow.background;
  command.in_substitution = flow.substitution;
  command.directory = state_.around.directory;
  if (command.directory) afford(command.directory->size());
  const std::size_t own = command.redirects.size();
  take_stdin(command, flow);
  add_enclosing(command, flow.redirects, flow, false);
  lasting_added_ = add_enclosing(command, lasting_now_, flow, true);
  follow_duplicates(command, own);
  follow_output(command);
  if (!exported_.empty()) add_exported(command);
  if (repeating_ > 0) {
    std::size_t bytes = 0;
    for (const Field& word : command.words) {
      for (const Piece& piece : word.pieces) bytes += 64 + piece.text.size();
    }
    if (!afford(bytes)) command.words.resize(std::min<std::size_t>(command.words.size(), 1));
  }
  auto index = static_cast<std::uint32_t>(script_.commands.size());
  script_.commands.push_back(std::move(command));
  if (flow.output != nullptr && script_.commands.back().kind != Command::Kind::compound)
    flow.output->commands.push_back(index);
  return index;
}

/// Of a text that the commands of a group share: what those before have left of it, where that is known.
Field Evaluator::left_of(const Redirect& redirect, const Command& command, const Flow& flow, bool lasting) {
  const Field& text = redirect.target;
  Field unknown;
  unknown.where = text.where;
  unknown.pieces.push_back({.kind = Piece::Kind::unknown, .quoted = true, .text = "…"});
  if (redirect.fd != 0) return loops_ == 0 && shared_inputs_[redirect.fd] == 0 ? text : unknown;
  if (!lasting && flow.input == nullptr) return text;
  if (!lasting) return command.input ? Field::literal(*command.input, text.where) : unknown;
  const bool leaves_it =
      command.kind == Command::Kind::builtin && (command.words.empty() || !reads_stdin(command.words[0].text()));
  return leaves_it || (loops_ == 0 && shared_inputs_[0]++ == 0) ? text : unknown;
}

// `exec 4<<E` and later `bash <&4`: stdin is what 4 was opened for, for the first that reads it.
void Evaluator::follow_duplicates(Command& command, std::size_t own) {
  const std::size_t given = command.redirects.size();
  for (std::size_t i = 0; i < given; ++i) {
    const Redirect& redirect = command.redirects[i];
    if (redirect.kind != Redirect::Kind::duplicate || redirect.fd != 0 || !redirect.target.known()) continue;
    const std::string number = redirect.target.text();
    for (std::size_t j = 0; j < given; ++j) {
      const Redirect& opened = command.redirects[j];
      const bool source = opened.kind == Redirect::Kind::here_text || opened.kind == Redirect::Kind::read ||
                          opened.kind == Redirect::Kind::read_write;
      if (!source || opened.fd <= 0 || std::to_string(opened.fd) != number || (j < own && j > i)) continue;
      Redirect stdin_now = opened;
      stdin_now.fd = 0;
      if (j >= own) ++shared_inputs_[opened.fd];
      if (opened.kind == Redirect::Kind::here_text && stdin_now.target.known()) command.input = opened.target.text();
      command.redirects.push_back(std::move(stdin_now));
      return;
    }
    return;
  }
}

// `exec 3> x` and later `echo y >&3`: it goes into x.
void Evaluator::follow_output(Command& command) {
  const std::size_t given = command.redirects.size();
  for (std::size_t i = 0; i < given; ++i) {
    const Redirect& redirect = command.redirects[i];
    if (redirect.kind != Redirect::Kind::duplicate || redirect.fd != 1 || !redirect.target.known()) continue;
    const std::string number = redirect.target.text();
    for (std::size_t j = 0; j < given; ++j) {
      const Redirect& opened = command.redirects[j];
      const bool file = opened.kind == Redirect::Kind::write || opened.kind == Redirect::Kind::append;
      if (!file || opened.fd <= 2 || std::to_string(opened.fd) != number) continue;
      Redirect stdout_now = opened;
      stdout_now.fd = 1;
      stdout_now.kind = Redirect::Kind::append;
      command.redirects.push_back(std::move(stdout_now));
      return;
    }
    return;
  }
}

/// Who reads from a descriptor takes from all that stand for the same.
void Evaluator::share_input(const std::vector<Redirect>& redirects, const Flow& flow) {
  if (flow.input == nullptr) return;
  for (const Redirect& redirect : redirects) {
    if (!names_descriptor(redirect)) continue;
    const bool closes =
        redirect.kind == Redirect::Kind::duplicate && redirect.target.known() && redirect.target.text() == "-";
    const bool plain = redirect.fd != 0 && redirect.target.known() &&
                       (redirect.target.text() == "1" || redirect.target.text() == "2" ||
                        redirect.target.text() == "/dev/stderr" || redirect.target.text() == "/dev/stdout");
    if (!closes && !plain) flow.input->text = std::nullopt;
  }
}

bool names_descriptor(const Redirect& redirect) {
  if (redirect.kind == Redirect::Kind::duplicate) return true;
  return redirect.kind != Redirect::Kind::here_text && redirect.target.known() &&
         descriptor_named(redirect.target.text()).has_value();
}

void Evaluator::take_stdin(Command& command, const Flow& flow) {
  bool own = false;
  bool same = false;  // by another name or number: whoever knows the descriptors can say whose
  for (const Redirect& redirect : command.redirects) {
    if (redirect.fd != 0) continue;
    own = true;
    same = names_descriptor(redirect);
    command.input = redirect.kind == Redirect::Kind::here_text && redirect.target.known()
                        ? std::optional(redirect.target.text())
                        : std::nullopt;
  }
  share_input(command.redirects, flow);
  if (own && !same) return;
  if (flow.piped_from != nullptr) {
    if (afford(16 * flow.piped_from->size())) command.piped_from = *flow.piped_from;
  }
  if (own) return;
  if (flow.input == nullptr || !flow.input->text || command.kind == Command::Kind::compound) return;
  if (afford(flow.input->text->size())) command.input = flow.input->text;
  if (command.kind == Command::Kind::function) return;
  bool leaves_it =
      command.kind == Command::Kind::builtin && (command.words.empty() || !reads_stdin(command.words[0].text()));
  if (!leaves_it) flow.input->text = std::nullopt;
}

/// What a child would run that takes a variable for a number.
void Evaluator::run_exported(const Command& command, const Flow& flow) {
  // What it runs is a child's.
  if (naming_ > 0) return;
  for (const Assignment& assignment : command.assignments) run_subscripts(assignment.value, flow);
  for (const std::string& name : exported_) {
    const Variable* variable = state_.find(name);
    if (variable != nullptr && variable->exported && variable->value.known)
      run_subscripts(Field::literal(variable->value.text), flow);
  }
}

void Evaluator::add_exported(Command& command) {
  for (const std::string& name : exported_) {
    const Variable* variable = state_.find(name);
    if (variable == nullptr || !variable->exported) continue;
    if (!afford(entry_cost)) return;
    Assignment assignment;
    assignment.name = name;
    Looked looked = look_up(name);
    if (looked.kind == Looked::Kind::unset) continue;
    if (looked.value.known) {
      assignment.value = Field::literal(looked.value.text);
    } else {
      assignment.value.pieces = looked.value.pieces;
    }
    command.exported.push_back(std::move(assignment));
  }
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
      before.push_back({variable, old == nullptr ? Variable{.kind = Variable::Kind::function} : *old});
    }
    assign(word, command.assignments, flow, temporary);
  }
  take_redirects(node.redirects, command.redirects, flow);
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
  for (State::Change& change : before) {
    // What was exported while it ran may have become the variable's own.
    if (change.value.kind == Variable::Kind::function || attributed_.contains(change.name) || of_any_shell()) {
      state_.make_unknown(change.name);
    } else {
      state_.set(change.name, std::move(change.value));
    }
  }
  return status;
}

Status Evaluator::call_function(const Variable& function, std::uint32_t index, const Flow& flow) {
  std::string name = script_.commands[index].words[0].text();
  Span where = script_.commands[index].where;
  if (is_builtin(name) || is_well_known(name)) odd(Oddity::Kind::shadowed, name, where);
  auto give_up = [&] {
    forget_everything();
    if (flow.output != nullptr) flow.output->lose();
    return Status::unknown;
  };
  if (function.more_bodies) odd(Oddity::Kind::limit, "a function with too many bodies", where);
  const bool recursive = std::ranges::any_of(
      function.bodies, [&](const Node* body) { return std::ranges::find(calls_, body, &Call::body) != calls_.end(); });
  if (recursive) odd(flow.piped ? Oddity::Kind::fork_bomb : Oddity::Kind::recursion, name, where);
  if (calls_.size() >= max_calls) {
    odd(Oddity::Kind::limit, "functions that call functions too deeply", where);
    return give_up();
  }
  if (function.certain && !recursive) return run_body(*function.bodies[0], index, flow);
  Flow inner = flow;
  inner.conditional = true;
  // It may be another by now than the one that calls it, or the same.
  const bool own_input = own_input_;
  for (const Node* body : function.bodies) {
    own_input_ = own_input;
    maybe([&] { enter(*body, index, inner); });
  }
  if (flow.output != nullptr) flow.output->lose();
  const bool followed = !function.anything && !recursive;
  if (function.certain || function.defined) return followed ? Status::unknown : give_up();
  // It may as well be a builtin or a program of that name.
  if (is_builtin(name)) maybe([&] { builtin(name, index, 0, inner); });
  Command other = script_.commands[index];
  other.kind = is_builtin(name) ? Command::Kind::builtin : Command::Kind::program;
  other.conditional = true;
  script_.commands.push_back(std::move(other));
  return followed ? Status::unknown : give_up();
}

// A body that is running already is run again as long as there is something that it does not do yet: what has changed
// since is unknown to it, so that it stands for all calls that follow.
Status Evaluator::enter(const Node& body, std::uint32_t index, const Flow& flow) {
  auto last = std::ranges::find(calls_.rbegin(), calls_.rend(), &body, &Call::body);
  if (last == calls_.rend()) return run_body(body, index, flow);
  if (!afford(16 * state_.changes_since(last->begun))) return Status::unknown;
  const std::vector<std::string> news = state_.news_since(last->begun);
  const auto arguments = arguments_of(index, 1);
  const bool same_arguments = last->positional == nullptr || (arguments && *arguments == *last->positional);
  if (news.empty() && same_arguments) return Status::unknown;
  for (const std::string& name : news) state_.make_unknown(name);
  if (same_arguments) return run_body(body, index, flow);
  return run_body(body, index, flow, nullptr);
}

std::shared_ptr<const std::vector<Value>> Evaluator::arguments_of(std::uint32_t index, std::size_t first) const {
  auto positional = std::make_shared<std::vector<Value>>();
  const std::vector<Field>& words = script_.commands[index].words;
  for (std::size_t i = first; i < words.size(); ++i) {
    for (const Piece& piece : words[i].pieces) {
      bool one = piece.kind == Piece::Kind::literal || piece.kind == Piece::Kind::number ||
                 (piece.quoted && piece.variable != "@");
      if (!one) return nullptr;
    }
    positional->push_back(value_of(words[i]));
  }
  return positional;
}

Status Evaluator::run_body(const Node& body, std::uint32_t index, const Flow& flow) {
  return run_body(body, index, flow, arguments_of(index, 1));
}

Status Evaluator::run_body(const Node& body, std::uint32_t index, const Flow& flow,
                           std::shared_ptr<const std::vector<Value>> arguments) {
  if (arguments) {
    for (const Value& value : *arguments) suspect("@", known_text(value));
  }
  const bool own_input = std::exchange(own_input_, false);
  Surroundings outer = state_.around;
  state_.around.positional = std::move(arguments);
  // Redirects of the call hold for the body too.
  RedirectScope scope;
  scope.redirects = script_.commands[index].redirects;
  Flow inner = flow;
  inner.redirects = &scope;
  Input here;
  if (own_input) {
    here.text = script_.commands[index].input;
    inner.input = &here;
  }
  Output elsewhere;
  bool uncertain = false;
  if (writes_elsewhere(script_.commands[index], flow, uncertain)) inner.output = &elsewhere;
  if (uncertain && flow.output != nullptr) flow.output->lose();
  calls_.push_back({.body = &body, .begun = state_.moment(), .positional = state_.around.positional});
  ++repeating_;
  Status status = node(body, inner);
  --repeating_;
  Call call = std::move(calls_.back());
  calls_.pop_back();
  if (call.returned) {
    for (const std::string& changed : state_.changed_since(*call.returned)) state_.make_unknown(changed);
    if (flow.output != nullptr) flow.output->lose();
    status = Status::unknown;
    merge(outer);
  }
  for (std::size_t i = call.locals.size(); i-- > 0;) {
    State::Change& local = call.locals[i];
    if (local.value.kind == Variable::Kind::function) {
      state_.make_unknown(local.name);
    } else {
      state_.set(local.name, std::move(local.value));
    }
  }
  state_.around.positional = outer.positional;
  if (state_.around.environment_unknown && !outer.environment_unknown) state_.around.positional = outer.positional;
  return status;
}

bool Evaluator::writes_elsewhere(const Command& command, const Flow& /*flow*/, bool& uncertain) const {
  bool elsewhere = false;
  for (const Redirect& redirect : command.redirects) {
    bool stdout_file = redirect.fd == 1 || redirect.also_stderr;
    if (!stdout_file) {
      if (redirect.fd == -1) uncertain = true;
      continue;
    }
    std::string target = redirect.target.text();
    bool file = redirect.kind == Redirect::Kind::write || redirect.kind == Redirect::Kind::append ||
                redirect.kind == Redirect::Kind::read_write;
    bool plain = redirect.target.known() &&
                 (target == "/dev/null" || (!target.starts_with("/dev/") && !target.starts_with("/proc/")));
    if (file && plain) {
      elsewhere = true;
    } else {
      uncertain = true;
    }
  }
  return elsewhere;
}

std::optional<std::string> Evaluator::computed_output(const Command& command) const {
  // Not every shell's echo leaves a backslash alone.
  const bool escaped =
      std::ranges::any_of(command.words, [](const Field& word) { return word.text().find('\\') != std::string::npos; });
  if (of_any_shell() && escaped && !command.words.empty() && command.words[0].text() == "echo") return std::nullopt;
  bool path_changed =
      command.kind == Command::Kind::program &&
      (state_.find("PATH") != nullptr || !command.assignments.empty() || state_.around.environment_unknown);
  if (path_changed) return std::nullopt;
  std::vector<std::string> arguments;
  for (const Field& word : command.words) {
    if (!word.known()) return std::nullopt;
    arguments.push_back(word.text());
  }
  return pure_output(arguments, command.input);
}

// `base64 -d <<< … > x; sh x`: what the file holds.
void Evaluator::note_output(std::uint32_t index) {
  Command& command = script_.commands[index];
  bool to_file = std::any_of(command.redirects.begin(), command.redirects.end(), [](const Redirect& redirect) {
    return redirect.fd == 1 && (redirect.kind == Redirect::Kind::write || redirect.kind == Redirect::Kind::append);
  });
  if (!to_file || (command.input && !afford(command.input->size()))) return;
  command.output = computed_output(command);
}

// What a command whose doing is computed writes, for the pipe or substitution that reads it.
void Evaluator::write_output(std::uint32_t index, const Flow& flow) {
  if (flow.output == nullptr) return;
  const Command& command = script_.commands[index];
  bool uncertain = false;
  bool elsewhere = writes_elsewhere(command, flow, uncertain);
  if (uncertain || may_fail(command.redirects)) return flow.output->lose();
  if (elsewhere) return;
  if (!flow.output->known) return;
  std::optional<std::string> text = computed_output(command);
  if (flow.output->exits != exits_) return flow.output->lose();
  if (!text || flow.output->text.size() + text->size() > max_known_text) return flow.output->lose();
  flow.output->add(*text);
}

}  // namespace cordon::shell
