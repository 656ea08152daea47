// The builtins that change what later commands mean. Those that assign are in builtin_assignments.cc, set and its kin
// in builtin_options.cc, eval, source and trap in texts.cc.
#include <memory>

#include "shell/builtin_names.h"
#include "shell/evaluator.h"
#include "shell/printf_words.h"

namespace cordon::shell {
namespace {

// Builtins of which an argument may be the name of a variable. `test` has -v; echo and its like would be data.
bool takes_names(std::string_view name) {
  return name == "read" || name == "unset" || name == "declare" || name == "typeset" || name == "local" ||
         name == "export" || name == "readonly" || name == "printf" || name == "test" || name == "[" ||
         name == "mapfile" || name == "readarray" || name == "getopts" || name == "wait";
}

}  // namespace

// Words from `first` on of the command at `index`; `first` itself names the builtin.
Status Evaluator::builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  if (takes_names(name)) {
    const std::vector<Field> words = script_.commands[index].words;
    for (std::size_t i = first + 1; i < words.size(); ++i) {
      if (name == "printf" && !printf_names(words, first, i)) continue;
      run_subscripts(words[i], flow);
      const std::string text = words[i].text();
      change_special(std::string_view(text).substr(0, text.find_first_of("=[+")), words[i].where);
    }
  }
  if (name == ":" || name == "true") return Status::success;
  if (name == "false") return Status::failure;
  if (name == "echo" || name == "printf") {
    if (name == "printf" && printf_builtin(index, first, flow) == Status::success) return Status::unknown;
    if (first == 0) {
      write_output(index, flow);
    } else if (flow.output != nullptr) {
      flow.output->lose();
    }
    return Status::unknown;
  }
  if (name == "eval") return eval_builtin(index, first, flow);
  if (name == "." || name == "source") return source_builtin(index, first, flow);
  if (name == "declare" || name == "typeset" || name == "local" || name == "export" || name == "readonly") {
    return declare_builtin(name, index, first, flow);
  }
  if (name == "read") return read_builtin(index, first, flow);
  if ((name == "set" || name == "alias" || name == "shopt") && flow.output != nullptr) flow.output->lose();
  if (name == "set") return set_builtin(index, first);
  if (name == "shift") return shift_builtin(index, first);
  if (name == "cd" || name == "pushd" || name == "popd") return cd_builtin(name, index, first, flow);
  if (name == "unset") return unset_builtin(index, first);
  if (name == "alias" || name == "unalias") return alias_builtin(index, first);
  if (name == "shopt") return shopt_builtin(index, first);
  if (name == "trap") return trap_builtin(index, first, flow);
  if (name == "exec") return exec_builtin(index, first, flow);
  if (name == "command" || name == "builtin") return wrapped_builtin(name, index, first, flow);
  const bool leaves = name == "return" || name == "break" || name == "continue";
  if (leaves && later_ && *later_ == calls_.size())
    not_understood("a trap that leaves what it interrupts", script_.commands[index].where);
  if (name == "return") {
    ++leaves_;
    if (!calls_.empty() && !calls_.back().returned) calls_.back().returned = state_.moment();
    if (!sourced_.empty() && !sourced_.back()) sourced_.back() = state_.moment();
    return Status::unknown;
  }
  if (name == "let") {
    bool reached = true;  // it ends at the first mistake
    for (std::size_t i = first + 1; i < script_.commands[index].words.size(); ++i) {
      const Field word = script_.commands[index].words[i];
      bool known = false;
      auto evaluate = [&] {
        if (word.known()) {
          known = arithmetic(word.text(), flow, 0).has_value();
        } else {
          run_unknown(word.pieces, flow);
          run_named(known_text(word), flow);
          forget_arithmetic(word.text());
        }
      };
      if (reached)
        evaluate();
      else
        maybe(evaluate);
      reached = reached && known;
    }
    return Status::unknown;
  }
  if (name == "mapfile" || name == "readarray" || name == "getopts" || name == "wait" || name == "enable" ||
      name == "fc" || name == "bind" || name == "complete" || name == "compgen") {
    // enable can load code; fc runs what it finds; the others name variables.
    if (name == "enable" || name == "fc") {
      forget_everything();
    } else {
      callbacks(name, index, first, flow);
      note_descriptor(index, first);
      const Command command = script_.commands[index];
      for (std::size_t i = first + 1; i < command.words.size() && command.input; ++i)
        run_as_number(command.words[i].text(), *command.input, flow);
      unknown_names(index, first);
      for (std::string_view own : {"MAPFILE", "OPTARG", "OPTIND", "COMPREPLY"}) state_.make_unknown(own);
    }
    if (flow.output != nullptr && name != "mapfile" && name != "readarray" && name != "getopts") flow.output->lose();
    return Status::unknown;
  }
  const std::vector<Field>& given = script_.commands[index].words;
  if (name == "history" && given.size() > first + 1 &&
      given[first + 1].text().find_first_of("arswp") != std::string::npos)
    not_understood("a history that is changed or written", script_.commands[index].where);
  if (name == "exit") ++doubts_;
  if (name == "exit" || name == "break" || name == "continue") ++leaves_;
  bool silent = name == "test" || name == "[" || name == "break" || name == "continue" || name == "exit" ||
                name == "hash" || name == "umask" || name == "disown" || name == "kill";
  if (!silent && flow.output != nullptr) flow.output->lose();
  if ((name == "umask" || name == "kill" || name == "hash") && flow.output != nullptr) flow.output->lose();
  return Status::unknown;
}

Status Evaluator::cd_builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field>& words = script_.commands[index].words;
  for (std::string_view own : {"PWD", "OLDPWD"}) state_.make_unknown(own);
  std::optional<std::string>& directory = state_.around.directory;
  std::size_t i = first + 1;
  while (i < words.size() && words[i].known() &&
         (words[i].text() == "-L" || words[i].text() == "-P" || words[i].text() == "--" || words[i].text() == "-e" ||
          words[i].text() == "-@")) {
    ++i;
  }
  std::optional<std::string> target;
  if (i >= words.size()) {
    Looked home = look_up("HOME");
    if (name == "cd" && home.kind == Looked::Kind::set && home.value.known) target = home.value.text;
  } else if (words[i].known()) {
    target = words[i].text();
  }
  bool searched = state_.find("CDPATH") != nullptr || given_.variables.contains("CDPATH");
  bool prints = name != "cd" || searched || (target && *target == "-");
  if (prints && flow.output != nullptr) flow.output->lose();
  bool usual = target && !target->empty() && *target != "-" && name != "popd" &&
               !(name == "pushd" && ((*target)[0] == '+' || (*target)[0] == '-'));
  if (!usual || (searched && (*target)[0] != '/' && (*target)[0] != '.')) {
    directory = std::nullopt;
  } else if ((*target)[0] == '/') {
    directory = *target;
  } else if (directory) {
    *directory += (directory->empty() || directory->ends_with('/') ? "" : "/") + *target;
    if (directory->size() > 4096) directory = std::nullopt;
  }
  return Status::unknown;
}

Status Evaluator::exec_builtin(std::uint32_t index, std::size_t first, const Flow& flow) {
  const Command& command = script_.commands[index];
  if (command.words.size() > first + 1) {
    ++leaves_;
    ++doubts_;
    if (flow.output != nullptr) flow.output->lose();
    return Status::unknown;
  }
  auto scope = std::make_unique<RedirectScope>();
  std::size_t enclosing = lasting_added_;
  std::size_t own = command.redirects.size() >= enclosing ? command.redirects.size() - enclosing : 0;
  scope->redirects.assign(command.redirects.begin(), command.redirects.begin() + static_cast<std::ptrdiff_t>(own));
  for (const Redirect& redirect : scope->redirects) {
    if (flow.output != nullptr && (redirect.fd == 1 || redirect.also_stderr)) flow.output->lose();
    if (flow.input != nullptr && redirect.fd == 0) flow.input->text = std::nullopt;
  }
  scope->outer = lasting_now_;
  lasting_now_ = scope.get();
  lasting_.push_back(std::move(scope));
  return Status::unknown;
}

// command NAME … and builtin NAME …: the builtin runs, a function of that name does not.
Status Evaluator::wrapped_builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  std::size_t i = first + 1;
  for (; i < words.size(); ++i) {
    if (!words[i].known()) {
      forget_everything();
      if (flow.output != nullptr) flow.output->lose();
      return Status::unknown;
    }
    std::string text = words[i].text();
    if (name != "command" && text == "--" && i == first + 1) continue;
    if (name != "command" || text.size() < 2 || text[0] != '-') break;
    if (text != "--" && text.find_first_not_of("pvV", 1) != std::string::npos) {
      // A mistake, with which nothing is run.
      forget_everything();
      return Status::unknown;
    }
    if (text.find_first_of("vV") != std::string::npos) {
      if (flow.output != nullptr) flow.output->lose();
      return Status::unknown;
    }
    if (text == "--") {
      ++i;
      break;
    }
  }
  if (i >= words.size()) return Status::unknown;
  if (!words[i].known()) {
    forget_everything();
    if (flow.output != nullptr) flow.output->lose();
    return Status::unknown;
  }
  std::string inner = words[i].text();
  if (flow.output != nullptr) flow.output->lose();
  if (!is_builtin(inner)) return Status::unknown;
  return builtin(inner, index, i, flow);
}

}  // namespace cordon::shell
