// Lists, pipelines and compound commands.
#include "shell/evaluator.h"

#include <algorithm>

#include "shell/brace.h"
#include "shell/characters.h"
#include "shell/pattern.h"

namespace cordon::shell {
namespace {

constexpr std::uint32_t max_eval_depth = 1000;
constexpr std::size_t max_commands = 50'000;
constexpr std::uint64_t max_repeated = 20'000;
constexpr std::size_t max_unrolled = 64;

}  // namespace

Evaluator::Evaluator(Script& script, Arena& arena, Limits& limits, const ShellState& given)
    : script_(script), arena_(arena), limits_(limits), given_(given) {
  if (given.positional_known) {
    auto positional = std::make_shared<std::vector<Value>>();
    for (std::size_t i = 1; i < given.positional.size(); ++i) positional->push_back(Value::of(given.positional[i]));
    state_.around.positional = std::move(positional);
  }
  bool named = given.positional_known && !given.positional.empty();
  state_.around.zero = named ? Value::of(given.positional[0]) : Value::unknown("$0", "0");
  // Some shells expand aliases.
  dialect_.expansion_doubtful = of_any_shell();
}

void Evaluator::odd(Oddity::Kind kind, std::string detail, Span where) {
  // One of a kind and name is enough for a judge; thousands would be a way to exhaust it.
  if (script_.oddities.size() > 100) return;
  for (const Oddity& seen : script_.oddities) {
    if (seen.kind == kind && (kind == Oddity::Kind::limit || seen.detail == detail)) return;
  }
  script_.oddities.push_back({kind, std::move(detail), where});
}

void Evaluator::not_understood(std::string what, Span where) {
  if (!script_.understood) return;
  script_.understood = false;
  script_.trouble = std::move(what);
  script_.trouble_at = where;
}

bool Evaluator::within_limits(Span where) {
  if (script_.commands.size() >= max_commands) {
    limited_ = true;
    odd(Oddity::Kind::limit, "more commands than are looked at", where);
    return false;
  }
  if (!afford(1)) return false;
  if (repeating_ > 0 && ++repeated_ > max_repeated) {
    odd(Oddity::Kind::limit, "loops and functions that expand without end", where);
    return false;
  }
  return true;
}

bool Evaluator::afford(std::uint64_t bytes) const {
  work_ += bytes;
  if (work_ <= limits_.max_work) return true;
  limited_ = true;
  return false;
}

void Evaluator::join(const std::vector<State::Changes>& courses) {
  for (const State::Changes& changes : courses) {
    for (const State::Change& change : changes) {
      // Nested conditions join the same changes once for every level.
      if (!afford(64 + change.value.size())) return forget_everything();
    }
  }
  state_.join(courses);
}

void Evaluator::note_abort() {
  ++doubts_;
  if (aborted_) return;
  aborted_ = state_.moment();
  abort_around_ = state_.around;
}

std::optional<std::size_t> Evaluator::run() {
  Parser parser(script_.text, arena_, limits_, dialect_);
  std::size_t unit_begin = 0;
  std::optional<std::size_t> left_at;
  while (List* unit = parser.next_unit()) {
    unit_aliased_ = aliased_;
    unit_leaves_ = leaves_;
    as_unit([&] { list(*unit, {}); });
    if (limited_ && !left_at) left_at = unit_begin;
    if (!parser.failed()) unit_begin = parser.position();
  }
  if (parser.failed()) {
    script_.understood = false;
    script_.trouble = parser.trouble().what;
    script_.trouble_at = parser.trouble().where;
  } else if (const Trouble* late = parser.late_trouble()) {
    script_.understood = false;
    script_.trouble = late->what;
    script_.trouble_at = late->where;
  }
  if (!limited_) run_traps();
  if (limited_) odd(Oddity::Kind::limit, "more than is looked at", {});
  script_.work = work_ + limits_.reread + script_.text.size();
  if (limited_) return left_at.value_or(0);
  if (!script_.understood) return unit_begin;
  return std::nullopt;
}

// Text that is not read again is still listed, for deny rules: its words, without the evals before them.
void Evaluator::list_words(std::string_view text, const Flow& flow, Span where) {
  constexpr std::size_t most_words = 256;
  Command command;
  command.where = where;
  while (!text.empty() && command.words.size() < most_words) {
    const std::size_t end = std::min(text.find_first_of(" \t\n;&|"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty() || (command.words.empty() && word == "eval")) continue;
    command.words.push_back(Field::literal(std::string(word), where));
  }
  if (!command.words.empty()) emit(std::move(command), flow);
}

// Text that the shell reads while it runs: eval, source, a trap.
void Evaluator::run_text(std::string_view text, const Flow& flow, Span where) {
  if (texts_ >= 16 || depth_ > max_eval_depth / 2 || (text_bytes_ += text.size()) > (std::size_t{4} << 20)) {
    odd(Oddity::Kind::limit, "text that is read as shell again and again", where);
    list_words(text, flow, where);
    forget_everything();
    return;
  }
  ++texts_;
  ++repeating_;
  Parser parser(arena_.copy(text), arena_, limits_, dialect_);
  parser.pin(where);
  const std::uint64_t outer_aliased = unit_aliased_;
  while (List* unit = parser.next_unit()) {
    unit_aliased_ = aliased_;
    as_unit([&] { list(*unit, flow); });
  }
  unit_aliased_ = outer_aliased;
  if (parser.failed() || parser.late_trouble() != nullptr) {
    const Trouble& trouble = parser.failed() ? parser.trouble() : *parser.late_trouble();
    if (script_.understood) {
      script_.understood = false;
      script_.trouble = trouble.what;
      script_.trouble_at = where;
    }
  }
  --repeating_;
  --texts_;
}

// Keeps of the surroundings what another course agrees on.
void Evaluator::merge(const Surroundings& other) {
  Surroundings& here = state_.around;
  bool same_positional = here.positional == other.positional ||
                         (here.positional && other.positional && *here.positional == *other.positional);
  if (!same_positional) here.positional = nullptr;
  if (!(here.zero == other.zero)) here.zero = Value::unknown("$0", "0");
  if (here.directory != other.directory) here.directory = std::nullopt;
  here.environment_unknown = here.environment_unknown || other.environment_unknown;
  here.options_unknown = here.options_unknown || other.options_unknown || here.noglob != other.noglob ||
                         here.no_brace_expansion != other.no_brace_expansion;
  here.lastpipe = here.lastpipe || other.lastpipe;
  here.allexport = here.allexport || other.allexport;
  here.errexit = here.errexit || other.errexit;
  here.nounset = here.nounset || other.nounset;
  here.failglob = here.failglob || other.failglob;
  here.nocasematch = here.nocasematch || other.nocasematch;
}

Status Evaluator::list(const List& list, const Flow& flow) {
  Status status = Status::success;
  if (++depth_ > max_eval_depth) {
    odd(Oddity::Kind::limit, "nested too deeply", {});
    forget_everything();
    --depth_;
    return Status::unknown;
  }
  for (const Item& entry : list.items) {
    if (!entry.background) {
      status = item(entry, flow);
      continue;
    }
    Flow inner = flow;
    inner.background = true;
    inner.piped = true;
    Output lost;
    if (flow.output != nullptr) inner.output = &lost;
    in_subshell([&] { item(entry, inner); });
    if (flow.output != nullptr) {
      if (!lost.commands.empty()) flow.output->lose();
      flow.output->commands.insert(flow.output->commands.end(), lost.commands.begin(), lost.commands.end());
    }
    status = Status::success;
  }
  --depth_;
  return status;
}

Status Evaluator::item(const Item& item, const Flow& flow) {
  Status status = pipeline(item.links[0].pipeline, flow);
  for (std::uint32_t i = 1; i < item.links.size(); ++i) {
    const Link& link = item.links[i];
    bool on_success = link.op == Link::Op::and_and;
    bool certain = status == (on_success ? Status::success : Status::failure);
    Flow inner = flow;
    inner.conditional = flow.conditional || !certain;
    if (certain) {
      status = pipeline(link.pipeline, inner);
    } else if (status == Status::unknown) {
      // What follows in this list is evaluated as if this ran; what does not fit is joined at the end.
      Status after = Status::unknown;
      std::vector<State::Changes> courses(2);
      std::size_t mark = state_.mark();
      Surroundings before = state_.around;
      Flow chain = inner;
      std::uint32_t last = i;
      // a && b && c: c sees what b did. Only a change of operator may reach c without b.
      while (last + 1 < item.links.size() && item.links[last + 1].op == link.op) ++last;
      for (std::uint32_t j = i; j <= last; ++j) after = pipeline(item.links[j].pipeline, chain);
      (void)after;
      Surroundings ran = state_.around;
      state_.around = before;
      courses[0] = state_.take_back(mark);
      join(courses);
      if (flow.output != nullptr) flow.output->lose();
      merge_directory(ran, on_success);
      i = last;
      status = Status::unknown;
    } else {
      // It cannot run, but it is listed.
      Output scrap;
      if (flow.output != nullptr) inner.output = &scrap;
      in_subshell([&] { pipeline(link.pipeline, inner); });
    }
  }
  return status;
}

// After `cd x && …;` the directory counts as changed: that is what its writer expects, and what a judge must look at.
void Evaluator::merge_directory(const Surroundings& ran, bool on_success) {
  std::optional<std::string> directory = ran.directory;
  merge(ran);
  if (on_success) state_.around.directory = directory;
}

Status Evaluator::pipeline(const Pipeline& pipeline, const Flow& flow) {
  Status status;
  if (pipeline.stages.size() == 1) {
    status = node(*pipeline.stages[0], flow);
  } else {
    status = stages(pipeline, flow);
  }
  if (!pipeline.negated || status == Status::unknown) return status;
  return status == Status::success ? Status::failure : Status::success;
}

Status Evaluator::stages(const Pipeline& pipeline, const Flow& flow) {
  std::vector<std::uint32_t> from;
  std::unique_ptr<Input> held;
  for (std::uint32_t i = 0; i < pipeline.stages.size(); ++i) {
    bool last = i + 1 == pipeline.stages.size();
    Flow inner = flow;
    inner.piped = true;
    Output output = new_output();
    if (!last) {
      inner.output = &output;
      inner.own_output = own_stream(flow);
    }
    if (i > 0) {
      inner.own_input = own_stream(flow);
      inner.piped_from = &from;
      inner.input = held.get();
    }
    bool keeps = last && state_.around.lastpipe;
    std::uint64_t doubts = doubts_;
    auto run_stage = [&] { node(*pipeline.stages[i], inner); };
    if (keeps) {
      maybe(run_stage);
    } else {
      in_subshell(run_stage);
    }
    if (doubts_ != doubts) output.lose();
    if (last) break;
    from = std::move(output.commands);
    held = std::make_unique<Input>();
    if (output.known && !pipeline.with_stderr[i]) held->text = std::move(output.text);
  }
  // Which stage decides is an option.
  return Status::unknown;
}

Status Evaluator::node(const Node& node, const Flow& flow) {
  if (limited_ || !is_whole(node)) return Status::unknown;
  switch (node.kind) {
    case Node::Kind::simple:
      return simple(node, flow);
    case Node::Kind::function: {
      Variable function;
      function.kind = Variable::Kind::function;
      function.bodies = {node.inner};
      if (fixed_functions_.contains(node.name))
        return state_.may_become(node.name, {node.inner}), Status::unknown;
      else
        state_.set(State::function_key(node.name), std::move(function));
      // bash calls it by itself, whenever a command is not found; a child calls what is exported.
      if (node.name == "command_not_found_handle" || state_.around.allexport)
        run_later(std::string(node.name) + " \"$@\"", flow, node.where, Changes::nothing);
      return Status::success;
    }
    case Node::Kind::coproc:
      return coproc(node, flow);
    default:
      break;
  }
  if (node.redirects.empty()) return compound(node, flow);
  // A command of its own carries the redirects of an empty or builtin-only body.
  RedirectScope scope;
  take_redirects(node.redirects, scope.redirects, flow);
  Command carrier;
  carrier.kind = Command::Kind::compound;
  carrier.where = node.where;
  carrier.redirects = scope.redirects;
  Flow inner = flow;
  Input here;
  Output elsewhere;
  bool uncertain = false;
  for (const Redirect& redirect : scope.redirects) {
    if (redirect.fd == 0 && !names_descriptor(redirect)) {
      here.text = redirect.kind == Redirect::Kind::here_text && redirect.target.known()
                      ? std::optional(redirect.target.text())
                      : std::nullopt;
      inner.input = &here;
      inner.piped_from = nullptr;
    } else if (redirect.fd == 0) {
      here.text = std::nullopt;
      inner.input = &here;
    }
  }
  share_input(scope.redirects, flow);
  bool elsewhere_now = writes_elsewhere(carrier, flow, uncertain);
  emit(std::move(carrier), flow);
  scope.outer = flow.redirects;
  inner.redirects = &scope;
  if (elsewhere_now) inner.output = &elsewhere;
  if (uncertain && flow.output != nullptr) flow.output->lose();
  if (!may_fail(scope.redirects)) return compound(node, inner);
  if (flow.output != nullptr) flow.output->lose();
  maybe([&] { compound(node, inner); });
  return Status::unknown;
}

/// Then bash does not do what they stand at.
bool Evaluator::may_fail(const std::vector<Redirect>& redirects) const {
  return std::ranges::any_of(redirects, [&](const Redirect& redirect) {
    if (redirect.kind == Redirect::Kind::here_text) return false;
    if (!redirect.target.known()) return true;
    const std::string target = redirect.target.text();
    if (redirect.kind != Redirect::Kind::duplicate)
      return target != "/dev/null" && (closed_ || (target != "/dev/stdout" && target != "/dev/stderr"));
    return target != "-" && (closed_ || (target != "0" && target != "1" && target != "2"));
  });
}

// Of a text that breaks off, parts may be missing.
bool Evaluator::is_whole(const Node& node) {
  switch (node.kind) {
    case Node::Kind::group:
    case Node::Kind::subshell:
      return node.body != nullptr;
    case Node::Kind::if_:
    case Node::Kind::while_:
    case Node::Kind::until:
      return node.condition != nullptr;
    case Node::Kind::arithmetic_for:
      return node.arithmetic.size() == 3;
    case Node::Kind::arithmetic:
      return !node.arithmetic.empty();
    case Node::Kind::case_:
      return !node.words.empty();
    case Node::Kind::condition:
      return node.test != nullptr;
    case Node::Kind::function:
    case Node::Kind::coproc:
      return node.inner != nullptr;
    default:
      return true;
  }
}

Status Evaluator::compound(const Node& node, const Flow& flow) {
  switch (node.kind) {
    case Node::Kind::group:
      return list(*node.body, flow);
    case Node::Kind::subshell:
      return subshell(*node.body, flow);
    case Node::Kind::if_:
      return if_node(node, flow);
    case Node::Kind::for_:
    case Node::Kind::select:
      return for_node(node, flow);
    case Node::Kind::arithmetic_for:
      return arithmetic_for(node, flow);
    case Node::Kind::while_:
    case Node::Kind::until:
      return loop_node(node, flow);
    case Node::Kind::case_:
      return case_node(node, flow);
    case Node::Kind::condition: {
      const Status status = condition(*node.test, flow);
      return of_any_shell() ? Status::unknown : status;
    }
    case Node::Kind::arithmetic: {
      std::optional<long long> value = arithmetic(node.arithmetic[0], flow);
      if (!value || of_any_shell()) return Status::unknown;
      return *value != 0 ? Status::success : Status::failure;
    }
    default:
      return Status::unknown;
  }
}

Status Evaluator::subshell(const List& body, const Flow& flow) {
  Status status = Status::unknown;
  in_subshell([&] { status = list(body, flow); });
  return status;
}

Status Evaluator::if_node(const Node& node, const Flow& flow) {
  if (++depth_ > max_eval_depth) return --depth_, Status::unknown;
  Status status = list(*node.condition, flow);
  Flow inner = flow;
  inner.conditional = true;
  std::vector<State::Changes> courses;
  Surroundings before = state_.around;
  std::vector<Surroundings> ends;
  auto course = [&](auto body, bool possible) {
    std::size_t mark = state_.mark();
    Output scrap;
    inner.output = possible || flow.output == nullptr ? flow.output : &scrap;
    body();
    if (possible) ends.push_back(state_.around);
    state_.around = before;
    State::Changes changes = state_.take_back(mark);
    if (possible) courses.push_back(std::move(changes));
  };
  if (flow.output != nullptr && status == Status::unknown) conditional_output(*flow.output);
  course(
      [&] {
        if (node.body != nullptr) list(*node.body, inner);
      },
      status != Status::failure);
  course(
      [&] {
        if (node.inner != nullptr) {
          if (is_whole(*node.inner)) if_node(*node.inner, inner);
        } else if (node.otherwise != nullptr) {
          list(*node.otherwise, inner);
        }
      },
      status != Status::success);
  finish_courses(courses, ends);
  --depth_;
  return Status::unknown;
}

void Evaluator::finish_courses(const std::vector<State::Changes>& courses, const std::vector<Surroundings>& ends) {
  join(courses);
  if (ends.empty()) return;
  state_.around = ends[0];
  for (std::size_t i = 1; i < ends.size(); ++i) merge(ends[i]);
}

// Output written under a condition may be there or not.
void Evaluator::conditional_output(Output& output) { output.lose(); }

void Evaluator::forget(const Assigned& assigned) {
  if (assigned.everything) {
    for (const auto& [name, bodies] : assigned.functions) state_.may_become(name, bodies);
    return forget_everything();
  }
  for (const std::string& name : assigned.names) lose(name);
  for (const auto& [name, bodies] : assigned.functions) state_.may_become(name, bodies);
  if (assigned.positional) state_.around.positional = nullptr;
  if (assigned.directory) state_.around.directory = std::nullopt;
  if (assigned.options) state_.around.options_unknown = state_.around.lastpipe = true;
}

/// A file that the next round finds as this one has left it.
bool Evaluator::writes_what_it_uses(std::size_t first) const {
  std::set<std::string> used;
  for (std::size_t i = first; i < script_.commands.size(); ++i) {
    const Command& command = script_.commands[i];
    for (const Redirect& redirect : command.redirects) {
      const std::string target = redirect.target.text();
      const std::string name = target.substr(target.rfind('/') + 1);
      if (redirect.kind == Redirect::Kind::write || redirect.kind == Redirect::Kind::append) {
        if (used.contains(name)) return true;
      } else if (redirect.kind == Redirect::Kind::read) {
        used.insert(name);
      }
    }
    for (const Field& word : command.words) {
      const std::string text = word.text();
      used.insert(text.substr(text.rfind('/') + 1));
    }
  }
  return false;
}

// What one round defines, the next may call.
template <class F>
void Evaluator::each_round(const Assigned& assigned, F round) {
  constexpr int most = 8;
  for (int i = 0;; ++i) {
    const std::size_t defined = state_.definitions();
    const std::uint64_t aliased = aliased_;
    const std::size_t first = script_.commands.size();
    forget(assigned);
    if (i > 0) ++repeating_;
    ++loops_;
    round();
    --loops_;
    if (i > 0) --repeating_;
    const bool aliases = aliased != aliased_ && i == 0 && (dialect_.expand_aliases || dialect_.expansion_doubtful);
    const bool written = i == 0 && writes_what_it_uses(first);
    if (limited_ || (state_.definitions() == defined && !aliases && !written)) return;
    if (i == most) return odd(Oddity::Kind::limit, "functions that a loop defines without end", {});
  }
}

Status Evaluator::for_node(const Node& node, const Flow& flow) {
  std::vector<Field> words;
  bool known_count = true;
  if (node.has_in) {
    for (const Word& word : node.words) {
      for (Field& field : expand(word, flow)) words.push_back(std::move(field));
    }
  } else if (state_.around.positional != nullptr) {
    for (const Value& value : *state_.around.positional) {
      Field field;
      field.pieces = value.known ? Field::literal(value.text).pieces : value.pieces;
      words.push_back(std::move(field));
    }
  } else {
    known_count = false;
    Field field;
    field.pieces.push_back({.kind = Piece::Kind::unknown, .quoted = true, .text = "$@", .variable = "@"});
    words.push_back(std::move(field));
  }
  Assigned assigned;
  collect(node.body, assigned);
  bool select = node.kind == Node::Kind::select;
  if (select && flow.input != nullptr) flow.input->text = std::nullopt;
  bool all_known = std::all_of(words.begin(), words.end(), [](const Field& f) { return f.known(); });
  bool exact = known_count && all_known && !select && words.size() <= max_unrolled && is_name(node.name) &&
               repeated_ < max_repeated;
  if (flow.output != nullptr && !exact) flow.output->lose();
  auto value_of = [](const Field& field) {
    if (field.known()) return Value::of(field.text());
    Value value;
    value.known = false;
    value.pieces = field.pieces;
    for (Piece& piece : value.pieces) piece.quoted = true;
    return value;
  };
  if (words.empty()) {
    Flow never = flow;
    never.conditional = true;
    Output scrap;
    never.output = &scrap;
    in_subshell([&] {
      if (node.body != nullptr) list(*node.body, never);
    });
    return Status::success;
  }
  if (exact) {
    Status status = Status::success;
    Flow round = flow;
    std::uint64_t leaves = leaves_;
    const std::uint64_t begin = state_.moment();
    const Surroundings before = state_.around;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i == 1) ++repeating_;
      store(node.name, std::nullopt, value_of(words[i]), false);
      if (node.body != nullptr) status = list(*node.body, round);
      if (leaves_ == leaves) continue;
      // It may have been left, or gone on early: from here on nothing that the rounds changed is certain.
      for (const std::string& name : state_.changed_since(begin)) state_.make_unknown(name);
      merge(before);
      round.conditional = true;
      if (flow.output != nullptr) flow.output->lose();
      status = Status::unknown;
    }
    if (words.size() > 1) --repeating_;
    if (leaves_ != leaves) state_.make_unknown(node.name);
    return status;
  }
  Flow inner = flow;
  inner.conditional = true;
  const std::size_t first = script_.commands.size();
  if (words.size() > max_unrolled) odd(Oddity::Kind::limit, "a loop over more words than are followed", node.where);
  std::size_t shown = select ? 1 : std::min(words.size(), max_unrolled);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i == 1) ++repeating_;
    each_round(assigned, [&] {
      if (is_name(node.name)) {
        state_.make_unknown(node.name);
        if (!select) store(node.name, std::nullopt, value_of(words[i]), false);
      } else {
        forget_everything();
      }
      if (node.body != nullptr) list(*node.body, inner);
    });
    if (repeated_ > max_repeated) break;
  }
  if (shown > 1) --repeating_;
  note_many(first, node.where, flow);
  forget(assigned);
  if (is_name(node.name)) state_.make_unknown(node.name);
  if (select) state_.make_unknown("REPLY");
  return Status::unknown;
}

Status Evaluator::loop_node(const Node& node, const Flow& flow) {
  Assigned assigned;
  collect(node.condition, assigned);
  collect(node.body, assigned);
  Flow inner = flow;
  if (flow.output != nullptr) flow.output->lose();
  if (flow.input != nullptr) flow.input->text = std::nullopt;
  std::size_t first = script_.commands.size();
  const Status goes_on = node.kind == Node::Kind::while_ ? Status::success : Status::failure;
  Status status = Status::unknown;
  each_round(assigned, [&] {
    status = list(*node.condition, flow);
    inner.conditional = flow.conditional || status != goes_on;
    if (node.body != nullptr) list(*node.body, inner);
  });
  bool endless = status == goes_on && !assigned.leaves;
  if (endless) note_endless(first, node.where, flow);
  forget(assigned);
  return Status::unknown;
}

Status Evaluator::arithmetic_for(const Node& node, const Flow& flow) {
  Assigned assigned;
  collect(node.body, assigned);
  for (const Parts& parts : node.arithmetic) collect(parts, assigned);
  for (const Parts& parts : node.arithmetic) collect_arithmetic(parts, assigned);
  arithmetic(node.arithmetic[0], flow);
  if (flow.output != nullptr) flow.output->lose();
  if (flow.input != nullptr) flow.input->text = std::nullopt;
  Flow inner = flow;
  bool endless = node.arithmetic[1].empty();
  inner.conditional = !endless || flow.conditional;
  std::size_t first = script_.commands.size();
  std::optional<long long> test;
  each_round(assigned, [&] {
    test = arithmetic(node.arithmetic[1], flow);
    if (node.body != nullptr) list(*node.body, inner);
    arithmetic(node.arithmetic[2], flow);
  });
  endless = (endless || (test && *test != 0)) && !assigned.leaves;
  if (endless) note_endless(first, node.where, flow);
  note_many(first, node.where, flow);
  forget(assigned);
  return Status::unknown;
}

Status Evaluator::case_node(const Node& node, const Flow& flow) {
  Value subject = expand_value(node.words[0].parts, Context::assignment, flow);
  Flow inner = flow;
  inner.conditional = true;
  if (flow.output != nullptr) flow.output->lose();
  std::vector<State::Changes> courses;
  std::vector<Surroundings> ends;
  Surroundings before = state_.around;
  courses.emplace_back();
  ends.push_back(before);
  State::Changes falling;
  Surroundings falling_around;
  bool falls = false, takes_rest = false;
  for (const CaseClause& clause : node.clauses) {
    for (const Word& pattern : clause.patterns) {
      maybe([&] { expand_one(pattern.parts, Context::pattern, inner, pattern.where); });
    }
    std::size_t mark = state_.mark();
    if (falls) {
      // It may be entered from above or by its own pattern.
      std::vector<State::Changes> entered(2);
      entered[0] = std::exchange(falling, {});
      join(entered);
      merge(falling_around);
    }
    if (clause.body != nullptr) list(*clause.body, inner);
    falls = clause.end != CaseClause::End::stop;
    Surroundings end = std::exchange(state_.around, before);
    State::Changes changes = state_.take_back(mark);
    if (falls) {
      falling = changes;
      falling_around = end;
    }
    courses.push_back(std::move(changes));
    ends.push_back(std::move(end));
    takes_rest = takes_rest || std::any_of(clause.patterns.begin(), clause.patterns.end(), [](const Word& pattern) {
                   return pattern.parts.size() == 1 && pattern.parts[0].kind == Part::Kind::literal &&
                          pattern.parts[0].text == "*";
                 });
  }
  if (takes_rest) {
    courses.erase(courses.begin());
    ends.erase(ends.begin());
  }
  finish_courses(courses, ends);
  return Status::unknown;
}

Status Evaluator::condition(const Condition& test, const Flow& flow) {
  if (++depth_ > max_eval_depth) return --depth_, Status::unknown;
  Status status = Status::unknown;
  switch (test.kind) {
    case Condition::Kind::grouped:
      if (test.first != nullptr) status = condition(*test.first, flow);
      break;
    case Condition::Kind::and_and:
    case Condition::Kind::or_or: {
      if (test.first == nullptr || test.second == nullptr) break;
      Status left = condition(*test.first, flow);
      Flow inner = flow;
      inner.conditional = true;
      Status right = Status::unknown;
      maybe([&] { right = condition(*test.second, inner); });
      bool both = test.kind == Condition::Kind::and_and;
      Status decides = both ? Status::failure : Status::success;
      if (left == decides || right == decides) status = left == decides ? left : Status::unknown;
      if (left != Status::unknown && left != decides) status = right;
      break;
    }
    case Condition::Kind::unary: {
      Field operand = expand_one(test.left.parts, Context::assignment, flow, test.left.where);
      if (test.op == "-v" || test.op == "-R") run_subscripts(operand, flow);
      Value value = value_of(operand);
      if (value.known && test.op == "-n") status = value.text.empty() ? Status::failure : Status::success;
      if (value.known && test.op == "-z") status = value.text.empty() ? Status::success : Status::failure;
      break;
    }
    case Condition::Kind::binary: {
      Value left = expand_value(test.left.parts, Context::assignment, flow);
      Field right = expand_one(test.right.parts, Context::pattern, flow, test.right.where);
      bool numeric =
          test.op.size() == 3 && test.op[0] == '-' && test.op != "-nt" && test.op != "-ot" && test.op != "-ef";
      // Both sides are arithmetic, which may assign and may run what a subscript holds.
      if (numeric) {
        arithmetic(test.left.parts, flow);
        arithmetic(test.right.parts, flow);
      }
      break;
    }
  }
  --depth_;
  if (!test.negated || status == Status::unknown) return status;
  return status == Status::success ? Status::failure : Status::success;
}

Status Evaluator::coproc(const Node& coproc, const Flow& flow) {
  Flow inner = flow;
  inner.background = true;
  inner.piped = true;
  Output lost;
  Input unknown;
  inner.output = &lost;
  inner.input = &unknown;
  in_subshell([&] { node(*coproc.inner, inner); });
  state_.make_unknown(coproc.name.empty() ? "COPROC" : coproc.name);
  if (!coproc.name.empty()) state_.make_unknown(std::string(coproc.name) + "_PID");
  return Status::unknown;
}

}  // namespace cordon::shell
