// Calls of functions: which body runs, with which arguments, and what is left of its locals.
#include <algorithm>
#include <memory>
#include <utility>

#include "shell/builtin_names.h"
#include "shell/characters.h"
#include "shell/evaluator.h"

namespace cordon::shell {
namespace {

constexpr std::uint32_t max_calls = 24;

}  // namespace

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

// A number is split by an IFS of digits.
bool Evaluator::is_one_word(const Piece& piece) const {
  if (piece.quoted) return piece.variable != "@";
  std::string ifs;
  return piece.kind == Piece::Kind::literal ||
         (piece.kind == Piece::Kind::number && separators(ifs) && std::ranges::none_of(ifs, is_digit));
}

std::shared_ptr<const std::vector<Value>> Evaluator::arguments_of(std::uint32_t index, std::size_t first) const {
  auto positional = std::make_shared<std::vector<Value>>();
  const std::vector<Field>& words = script_.commands[index].words;
  for (std::size_t i = first; i < words.size(); ++i) {
    for (const Piece& piece : words[i].pieces) {
      if (!is_one_word(piece)) return nullptr;
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
  Surroundings outer = state_.around;
  state_.around.positional = std::move(arguments);
  calls_.push_back({.body = &body, .begun = state_.moment(), .positional = state_.around.positional});
  ++repeating_;
  Status status = Status::unknown;
  redirected(index, flow, [&](const Flow& inner) { status = node(body, inner); });
  --repeating_;
  Call call = std::move(calls_.back());
  calls_.pop_back();
  if (call.returned) {
    for (const std::string& changed : state_.changed_since(*call.returned)) state_.make_unknown(changed);
    if (flow.output != nullptr) flow.output->lose();
    status = Status::unknown;
    merge(outer);
  }
  restore(call.locals);
  state_.around.positional = outer.positional;
  return status;
}

}  // namespace cordon::shell
