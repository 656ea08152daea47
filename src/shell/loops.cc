// for, select, while and until: rounds that are followed one by one, and those that stand for any number.
#include <algorithm>
#include <set>

#include "shell/characters.h"
#include "shell/evaluator.h"

namespace cordon::shell {
namespace {

constexpr std::size_t max_unrolled = 64;

}  // namespace

void Evaluator::forget(const Assigned& assigned) {
  if (assigned.everything) {
    for (const auto& [name, bodies] : assigned.functions) state_.may_become(name, bodies);
    return forget_everything();
  }
  for (const std::string& name : assigned.names) lose(name);
  for (const auto& [name, bodies] : assigned.functions) state_.may_become(name, bodies);
  if (assigned.positional) state_.around.positional = nullptr;
  if (assigned.directory) state_.around.directory = std::nullopt;
  if (assigned.names.contains("BASH_ARGV0")) state_.around.zero = Value::unknown("$0", "0");
  Surroundings& around = state_.around;
  if (assigned.options) around.options_unknown = around.lastpipe = around.failglob = around.nocasematch = true;
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
  const std::uint64_t begin = state_.moment();
  // What it changes without that being written: a number that holds an assignment.
  std::set<std::string> unseen;
  for (int i = 0;; ++i) {
    const std::size_t defined = state_.definitions();
    const std::uint64_t aliased = aliased_;
    const std::size_t first = script_.commands.size();
    forget(assigned);
    for (const std::string& name : unseen) lose(name);
    if (i > 0) ++repeating_;
    ++loops_;
    round();
    --loops_;
    if (i > 0) --repeating_;
    const bool aliases = aliased != aliased_ && i == 0 && (dialect_.expand_aliases || dialect_.expansion_doubtful);
    const bool written = i == 0 && writes_what_it_uses(first);
    const std::size_t before = unseen.size();
    if (afford(16 * state_.changes_since(begin))) {
      for (const std::string& name : state_.changed_since(begin))
        if (!assigned.names.contains(name)) unseen.insert(name);
    }
    const bool again = state_.definitions() != defined || aliases || written || unseen.size() != before;
    if (limited_ || !again) {
      for (const std::string& name : unseen) lose(name);
      return;
    }
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
  assigned.names.insert(std::string(node.name));
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

}  // namespace cordon::shell
