// Lists, pipelines and the way to each kind of command.
#include "shell/evaluator.h"

#include <memory>

namespace cordon::shell {
namespace {

constexpr std::size_t max_commands = 50'000;

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
      std::vector<State::Changes> courses(2);
      std::size_t mark = state_.mark();
      Surroundings before = state_.around;
      Flow chain = inner;
      std::uint32_t last = i;
      // a && b && c: c sees what b did. Only a change of operator may reach c without b.
      while (last + 1 < item.links.size() && item.links[last + 1].op == link.op) ++last;
      for (std::uint32_t j = i; j <= last; ++j) pipeline(item.links[j].pipeline, chain);
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
    const std::uint64_t doubts = doubts_ + leaves_;
    auto run_stage = [&] { node(*pipeline.stages[i], inner); };
    if (keeps) {
      maybe(run_stage);
    } else {
      in_subshell(run_stage);
    }
    if (doubts_ + leaves_ != doubts) output.lose();
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
      inner.fed = false;
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
  in_subshell([&] { list(body, flow); });
  // It may have been left early.
  return Status::unknown;
}

Status Evaluator::coproc(const Node& coproc, const Flow& flow) {
  Flow inner = flow;
  inner.background = true;
  inner.fed = true;
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
