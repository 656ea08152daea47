// A command as it is written down, with what it has from around it: redirects of groups and of exec, stdin, exports.
#include <algorithm>

#include "shell/builtin_names.h"
#include "shell/evaluator.h"

namespace cordon::shell {
namespace {

constexpr std::uint64_t entry_cost = 256;  // of a redirect, pipe or export handed to one more command

// What bash itself says (errors, times, traces) then stands between what is computed.
bool joins_stderr(const Redirect& redirect) {
  return (redirect.fd == 2 || redirect.also_stderr) && names_descriptor(redirect);
}

bool sends_output(const std::vector<Redirect>& redirects) {
  return std::ranges::any_of(redirects, [](const Redirect& redirect) {
    const bool itself = redirect.kind == Redirect::Kind::duplicate && redirect.target.text() == "1";
    return redirect.fd == 1 && !itself;
  });
}

}  // namespace

/// Redirects of enclosing groups, or of exec, as far as they still hold here. Returns how many the innermost gave.
std::size_t Evaluator::add_enclosing(Command& command, const RedirectScope* innermost, const Flow& flow, bool lasting) {
  const RedirectScope* output_ends = lasting ? flow.own_output.lasting : flow.own_output.outer;
  const RedirectScope* input_ends = lasting ? flow.own_input.lasting : flow.own_input.outer;
  bool own_output = false, own_input = false;
  bool sent = sends_output(command.redirects);  // what lies further out does not get it
  std::size_t first = 0;
  for (const RedirectScope* scope = innermost; scope != nullptr; scope = scope->outer) {
    if (!afford(entry_cost * scope->redirects.size() + 16)) break;
    own_output |= flow.own_output.is && scope == output_ends;
    own_input |= flow.own_input.is && scope == input_ends;
    const std::size_t before = command.redirects.size();
    for (const Redirect& redirect : scope->redirects) {
      if (!own_output && flow.output != nullptr && joins_stderr(redirect)) flow.output->lose();
      if (own_input && redirect.fd == 0) continue;
      if ((own_output || sent) && redirect.fd == 1 && !redirect.also_stderr) continue;
      command.redirects.push_back(redirect);
      if (redirect.kind == Redirect::Kind::here_text && command.kind != Command::Kind::compound)
        command.redirects.back().target = left_of(redirect, command, flow, lasting);
      if (!own_output || !redirect.also_stderr) continue;
      command.redirects.back().also_stderr = false;
      command.redirects.back().fd = 2;
    }
    sent = sent || sends_output(scope->redirects);
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
  const std::string name = command.words.empty() ? "" : command.words[0].text();
  if (flow.output != nullptr && name != "echo" && name != "printf" &&
      std::ranges::any_of(command.redirects, joins_stderr))
    flow.output->lose();
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
  command.fed = flow.fed;
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

}  // namespace cordon::shell
