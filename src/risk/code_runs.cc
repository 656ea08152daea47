// What inline code runs: commands of a shell, programs with their words, and code it holds as text.
#include "risk/code_judge.h"

#include <algorithm>
#include <utility>

namespace cordon::risk {

namespace {

constexpr int max_evaluations = 8;

std::string quoted(std::string_view word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

void CodeJudge::run_call(std::string_view what, const Tokens& tokens, std::size_t i, Arguments args) {
  judge_.at_least(run_, Risk::normal);
  judge_.raise(run_, "exec.inline_run", arg_.where);
  if ((name_ == "python" || (name_ == "c" && tokens[i].text.starts_with("exec"))) && what == "argv" && !args.list &&
      args.strings.size() > 1 && args.deep.size() > 1) {
    // os.execvp("rm", ["rm", "-rf", "x"]), execlp("rm", "rm", "-rf", "x", NULL): the words follow the file.
    args.strings.erase(args.strings.begin());
    args.literal.erase(args.literal.begin());
    run_words(args);
    return;
  }
  const bool literal = !args.strings.empty() && args.literal[0] && !args.unknown;
  if ((name_ == "javascript" || name_ == "r") && what == "argv" && args.deep.size() > args.strings.size()) {
    args.strings = args.deep;
    args.literal.assign(args.deep.size(), true);
  }
  // (clojure.java.shell/sh "rm" "-rf" "src")
  const bool apart = name_ == "generic" && args.strings.size() > 1 && args.literal[0] &&
                     args.strings[0].find(' ') == std::string::npos;
  const bool words = args.list || apart || (what == "argv" && args.strings.size() > 1 && name_ != "python");
  if (one_of(tokens, args)) return;
  if (name_ == "javascript" && literal && with_choices(tokens, args)) return;
  // A tool that is no interpreter must not be a way to run things, whatever is run.
  const bool interpreter = run_.sorted.program && run_.sorted.program->base.has(Mark::stdin_code);
  if (!interpreter && !run_.own_code) judge_.raise(run_, "exec.inline", arg_.where);
  // system "r"."m -rf x"
  if (words && args.unknown && name_ == "perl") judge_.raise(run_, "dynamic.code", arg_.where);
  if (words)
    run_words(args);
  else if (args.strings.empty())
    run_shell({}, false);
  else if (name_ == "python" && literal)
    run_python_text(tokens, args);
  else
    run_shell(args.strings[0], literal);
}

/// Open3.pipeline("find src", ["xargs", "rm"]): one command each, joined as by the shell.
void CodeJudge::run_pipeline(const Tokens& tokens, const Arguments& args) {
  judge_.at_least(run_, Risk::normal);
  judge_.raise(run_, "exec.inline_run", arg_.where);
  std::string line;
  bool literal = !args.unknown, in_list = false;
  for (std::size_t k = args.begin; k < std::min(args.end, tokens.size()); ++k) {
    const Token& token = tokens[k];
    if (is(tokens, k, "[") || is(tokens, k, "]")) in_list = is(tokens, k, "[");
    if (token.kind != Token::Kind::string) continue;
    literal &= !token.unknown;
    const bool first = !in_list || is(tokens, k - 1, "[");
    if (!line.empty()) line += first ? " | " : " ";
    line += in_list ? quoted(token.text) : token.text;
  }
  run_shell(line, literal && !line.empty());
}

/// execFileSync("git", a), where a is one of few
bool CodeJudge::with_choices(const Tokens& tokens, const Arguments& args) {
  if (!is(tokens, args.begin + 1, ",") || args.begin + 2 >= tokens.size()) return false;
  const auto rest = choices_.find(tokens[args.begin + 2].text);
  if (rest == choices_.end()) return false;
  for (const std::vector<std::string>& choice : rest->second) {
    Arguments each = args;
    each.strings.resize(1);
    each.strings.insert(each.strings.end(), choice.begin(), choice.end());
    each.literal.assign(each.strings.size(), true);
    run_words(each);
  }
  return true;
}

/// Command::new("rm").arg("-rf"): the words follow up to the end of the statement.
void CodeJudge::chain(const Tokens& tokens, Arguments args) {
  while (args.end < tokens.size() && !is(tokens, args.end, ";")) ++args.end;
  args.strings.clear();
  args.literal.clear();
  for (std::size_t k = args.begin; k < args.end; ++k) {
    if (tokens[k].kind != Token::Kind::string) continue;
    args.strings.push_back(tokens[k].text);
    args.literal.push_back(!tokens[k].unknown);
  }
  run_words(args);
}

void CodeJudge::run_shell(const std::string& text, bool literal) {
  Arg arg = judge_.synthetic(text, arg_);
  arg.known = true;
  arg.flow = {};
  const std::string_view bare = text;
  if (bare == "sh" || bare == "bash" || bare.starts_with("/bin/sh") || bare.starts_with("/bin/bash") ||
      bare.starts_with("bash -i") || bare.starts_with("sh -i") || bare == "cmd.exe" || bare == "zsh" ||
      bare == "/bin/zsh") {
    seen_.shell_started = true;
  }
  seen_.runs = true;
  if (!literal) {
    seen_.unknown_run = true;
    judge_.raise(run_, "dynamic.code", arg_.where);
    if (text.find("/bin/sh") != std::string::npos || text.find("/bin/bash") != std::string::npos)
      seen_.shell_started = true;
  }
  if (text.empty() || !literal) return;
  Stdin before = std::exchange(run_.in, Stdin{});
  judge_.shell_text(run_, arg, {});
  run_.in = before;
}

void CodeJudge::run_words(const Arguments& args) {
  std::vector<Arg> words;
  for (std::size_t i = 0; i < args.strings.size(); ++i) words.push_back(path_arg(args.strings[i], args.literal[i]));
  if (words.empty()) return;
  if (args.more) words.push_back(path_arg({}, false));
  for (Arg& word : words) word.wildcard = false;
  const std::string_view first = words[0].text;
  seen_.runs = true;
  seen_.unknown_run |= !args.literal[0];
  if (first.ends_with("/sh") || first == "sh" || first == "bash" || first.ends_with("/bash"))
    seen_.shell_started = true;
  Stdin before = std::exchange(run_.in, Stdin{});
  judge_.carry(run_, words);
  run_.in = before;
}

/// map(os.unlink, names), Process(target=os.system, args=("rm -rf x",)): called by whoever it is handed to.
bool CodeJudge::handed_on(std::string_view what, const Tokens& tokens, std::size_t i) {
  const bool runs = what == "shell" || what == "argv";
  if (!runs && !what.starts_with("delete")) return false;
  if (i == 0 || !(is(tokens, i + 1, ",") || is(tokens, i + 1, ")"))) return false;
  int depth = 0;
  std::size_t open = i;
  while (open > 0 && i - open < 60 && depth < 1) {
    --open;
    if (is(tokens, open, ")")) --depth;
    if (is(tokens, open, "(")) ++depth;
  }
  if (depth < 1 || open == 0 || tokens[open - 1].kind != Token::Kind::name) return false;
  const std::string& caller = tokens[open - 1].text;
  if (!listed("code_calls_back", std::string_view(caller).substr(caller.rfind('.') + 1))) return false;
  judge_.at_least(run_, Risk::normal);
  if (!runs) {
    judge_.raise(run_, "fs.delete.unknown", arg_.where);
    return true;
  }
  Arguments args = arguments_of(name_, tokens, open);
  if (args.deep.empty()) {
    run_shell({}, false);
  } else if (args.deep.size() == 1) {
    run_shell(args.deep[0], true);
  } else {
    args.strings = args.deep;
    args.literal.assign(args.deep.size(), true);
    run_words(args);
  }
  return true;
}

/// sh.rm("-rf", "x"), repo.git.reset("--hard"): modules whose functions are programs.
bool CodeJudge::module_call(const std::string& name, const Tokens& tokens, std::size_t i) {
  const std::size_t git = ("." + name).find(".git.");
  const bool shell = name_ == "python" && name.starts_with("sh.");
  if (name_ != "python" || (!shell && git == std::string::npos)) return false;
  Arguments args = arguments_of(name_, tokens, i + 1);
  std::vector<std::string> words{shell ? name.substr(3) : "git"};
  if (!shell) words.push_back(name.substr(git + 4));
  args.strings.insert(args.strings.begin(), words.begin(), words.end());
  args.literal.insert(args.literal.begin(), words.size(), true);
  run_words(args);
  return true;
}

void CodeJudge::may_run(const Tokens& tokens, std::size_t i) {
  Arguments args = arguments_of(name_, tokens, i + 1);
  if (args.deep.empty()) return;
  std::string_view line = args.deep[0];
  if (begins_a_command(line)) {
    judge_.raise(run_, "exec.inline", arg_.where);
    run_shell(std::string(line), true);
  } else if (args.deep.size() > 1 && listed("carried_program", args.deep[0])) {
    judge_.raise(run_, "exec.inline", arg_.where);
    args.strings = args.deep;
    args.literal.assign(args.deep.size(), true);
    run_words(args);
  }
}

/// f"git log {n}", "git log {}".format(n), " ".join(["git", "log"]): a text with something done to it.
void CodeJudge::run_python_text(const Tokens& tokens, Arguments args) {
  std::size_t at = args.begin;
  while (at < args.end && tokens[at].kind != Token::Kind::string) ++at;
  const bool formatted = at > 0 && at > args.begin && is(tokens, at - 1, "f");
  const bool method = is(tokens, at + 1, ".") && at + 2 < tokens.size();
  const std::string_view name = method ? std::string_view(tokens[at + 2].text) : std::string_view{};
  if (name == "join") {
    if (!args.deep.empty()) args.deep.erase(args.deep.begin());
    args.strings = args.deep;
    args.literal.assign(args.deep.size(), true);
    if (args.deep.empty())
      run_shell({}, false);
    else
      run_words(args);
    return;
  }
  const bool turned = is(tokens, at + 1, "[");
  const bool plain = name.empty() || name == "format" || name == "split" || name == "strip" || name == "encode" ||
                     name == "lstrip" || name == "rstrip" || name == "lower";
  std::string text = args.strings[0];
  if (formatted || name == "format") {
    // Whatever is put in is a variable to whoever reads the command.
    for (std::size_t open = 0; (open = text.find('{', open)) != std::string::npos;) {
      const std::size_t close = text.find('}', open);
      if (close == std::string::npos) break;
      text.replace(open, close - open + 1, "${value}");
      open += 8;
    }
  }
  run_shell(text, plain && !turned);
}

/// for c in ["git fetch", "git pull"]: run(c): each of them.
bool CodeJudge::one_of(const Tokens& tokens, Arguments args) {
  if (args.begin >= tokens.size() || tokens[args.begin].kind != Token::Kind::name) return false;
  std::string name = tokens[args.begin].text;
  if (name == "shlex.split" && args.begin + 2 < tokens.size()) name = tokens[args.begin + 2].text;
  if (name.ends_with(".split")) name.resize(name.size() - 6);
  auto choices = choices_.find(name);
  if (choices == choices_.end()) return false;
  judge_.at_least(run_, Risk::normal);
  for (const std::vector<std::string>& choice : choices->second) {
    if (choice.size() == 1) {
      run_shell(choice[0], true);
      continue;
    }
    args.strings = choice;
    args.literal.assign(choice.size(), true);
    run_words(args);
  }
  return true;
}

bool CodeJudge::fetches(const Tokens& tokens, const Arguments& args) const {
  for (std::size_t i = args.begin; i < std::min(args.end, tokens.size()); ++i) {
    if (tokens[i].kind == Token::Kind::name && find_call(language_, full_name(tokens, i)) == "network") return true;
  }
  return false;
}

void CodeJudge::evaluate(const Arguments& args, bool literal, int depth) {
  // new Function("a", "b", "code")
  if (name_ == "javascript" && literal && args.strings.size() > 1 && depth < max_evaluations) {
    for (std::size_t i = 0; i < args.strings.size(); ++i) {
      if (args.literal[i]) code(args.strings[i], depth + 1);
    }
    return;
  }
  if (literal && !args.list && depth < max_evaluations) {
    code(args.strings[0], depth + 1);
    return;
  }
  seen_.evaluates = true;
  judge_.raise(run_, "dynamic.code", arg_.where);
}

}  // namespace cordon::risk
