// if, case and [[ … ]]: one of several courses is taken, and afterwards only what they agree on is known.
#include <algorithm>
#include <utility>

#include "shell/evaluator.h"

namespace cordon::shell {

void Evaluator::join(const std::vector<State::Changes>& courses) {
  for (const State::Changes& changes : courses) {
    for (const State::Change& change : changes) {
      // Nested conditions join the same changes once for every level.
      if (!afford(64 + change.value.size())) return forget_everything();
    }
  }
  state_.join(courses);
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

// After `cd x && …;` the directory counts as changed: that is what its writer expects, and what a judge must look at.
void Evaluator::merge_directory(const Surroundings& ran, bool on_success) {
  std::optional<std::string> directory = ran.directory;
  merge(ran);
  if (on_success) state_.around.directory = directory;
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
  if (flow.output != nullptr && status == Status::unknown) flow.output->lose();
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
  // What a clause may begin with other than what was before: ;& reaches the next, ;;& all that follow.
  struct Entry {
    State::Changes changes;
    Surroundings around;
  };
  std::vector<Entry> tested;
  std::optional<Entry> falling;
  bool takes_rest = false;
  for (const CaseClause& clause : node.clauses) {
    for (const Word& pattern : clause.patterns) {
      maybe([&] { expand_one(pattern.parts, Context::pattern, inner, pattern.where); });
    }
    std::size_t mark = state_.mark();
    if (falling || !tested.empty()) {
      std::vector<State::Changes> entered(1);
      for (const Entry& entry : tested) entered.push_back(entry.changes), merge(entry.around);
      if (falling) entered.push_back(falling->changes), merge(falling->around);
      join(entered);
    }
    if (clause.body != nullptr) list(*clause.body, inner);
    Surroundings end = std::exchange(state_.around, before);
    State::Changes changes = state_.take_back(mark);
    falling.reset();
    if (clause.end == CaseClause::End::fall_through) falling = {changes, end};
    if (clause.end == CaseClause::End::test_next) tested.push_back({changes, end});
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

}  // namespace cordon::shell
