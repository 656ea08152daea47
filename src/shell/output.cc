// What commands write, where that can be computed.
#include <algorithm>

#include "shell/evaluator.h"
#include "shell/pure.h"

namespace cordon::shell {

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
  // { …; echo x >&2; } > f: not into f, but into what 2 is.
  const bool aside = std::ranges::any_of(command.redirects, [&](const Redirect& redirect) {
    if (redirect.kind != Redirect::Kind::duplicate || redirect.fd != 1) return false;
    const std::string number = redirect.target.text();
    return number != "1" && std::ranges::none_of(command.redirects, [&](const Redirect& opened) {
             return opened.fd > 2 && opened.kind != Redirect::Kind::duplicate && std::to_string(opened.fd) == number;
           });
  });
  if (!to_file || aside || (command.input && !afford(command.input->size()))) return;
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
