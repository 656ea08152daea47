// Scripts of expect: the programs they start, and what they type at shells.
#include <algorithm>

#include "risk/code.h"

namespace cordon::risk {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r{}");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The first word; what follows it stays in `rest`.
std::string_view take_word(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest = trimmed(rest.substr(end));
  return word;
}

/// Tcl's {…} around a word is what quotes are to a shell.
std::string as_shell(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '{', '\'');
  std::replace(line.begin(), line.end(), '}', '\'');
  return line;
}

/// "ls -l\r" as it is typed: without the quotes, and a line for each return.
std::string typed(std::string_view text) {
  while (text.starts_with('"') || text.starts_with('{')) text.remove_prefix(1);
  while (text.ends_with('"') || text.ends_with('}')) text.remove_suffix(1);
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      line += text[i];
      continue;
    }
    ++i;
    line += text[i] == 'r' || text[i] == 'n' ? '\n' : text[i];
  }
  return line;
}

class Expect {
 public:
  Expect(Judge& judge, Run& run, const Arg& arg) : judge_(judge), run_(run), arg_(arg) {}

  void walk(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of("\n;"), text.size());
      statement(trimmed(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  void statement(std::string_view rest) {
    const std::string_view name = take_word(rest);
    if (name == "spawn" || name == "exp_spawn" || name == "system" || name == "overlay") spawn(rest);
    if (name == "send" || name == "exp_send") send(rest);
  }

  void spawn(std::string_view rest) {
    while (rest.starts_with('-')) {
      const std::string_view option = take_word(rest);
      if (option == "-ignore") take_word(rest);
    }
    if (rest.empty()) return;
    judge_.at_least(run_, Risk::normal);
    if (rest[0] == '$' || rest[0] == '[') {
      judge_.raise(run_, "dynamic.program", arg_.where);
      return;
    }
    std::string_view words = rest;
    const std::string_view path = take_word(words);
    const Node* program = find_program(path.substr(path.rfind('/') + 1));
    shell_ |= program && (program->base.has(Mark::shell_out) || program->base.has(Mark::away) ||
                          program->base.has(Mark::elevate) || program->base.has(Mark::net));
    run(as_shell(rest));
  }

  /// What is typed at a shell is a command, here or on the other machine.
  void send(std::string_view rest) {
    while (rest.starts_with('-')) take_word(rest);
    if (!shell_ || rest.empty()) return;
    const std::string line = typed(rest);
    if (line.starts_with('$') || line.starts_with('['))
      judge_.raise(run_, "dynamic.stdin", arg_.where);
    else
      run(line);
  }

  void run(std::string line) {
    if (judge_.too_deep(run_)) return;
    Arg text = judge_.synthetic(std::move(line), arg_);
    text.known = true;
    const Stdin before = std::exchange(run_.in, Stdin{});
    judge_.shell_text(run_, text, {});
    run_.in = before;
  }

  Judge& judge_;
  Run& run_;
  const Arg& arg_;
  bool shell_ = false;  // something that takes commands was started
};

}  // namespace

void judge_expect(Judge& judge, Run& run, std::string_view text, const Arg& arg) { Expect(judge, run, arg).walk(text); }

}  // namespace cordon::risk
