// The walk over inline code: one token after the other, then what they come to together.
#include "risk/code.h"

#include <algorithm>
#include <utility>

#include "risk/code_judge.h"
#include "risk/exhaustion.h"

namespace cordon::risk {

namespace {

/// std.popen, ffi.C.system, sys-system: a call that no row names may still say that it runs what it is given.
bool sounds_like_running(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  auto any = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return lower.find(part) != std::string::npos; });
  };
  if (any({"test", "check", "classif", "pars", "is_", "assert", "judge", "valid", "lint", "quote", "escape", "split"}))
    return false;
  const std::string_view last = std::string_view(lower).substr(lower.find_last_of(".:/-") + 1);
  return any({"exec", "system", "shell", "spawn", "popen", "subprocess"}) || last == "run" || last == "sh" ||
         last == "cmd" || last == "call" || last == "command" || last == "process" || last == "bash";
}

}  // namespace

void CodeJudge::code(std::string_view text, int depth) {
  std::vector<Token> tokens = with_constants(name_, lex(name_, text));
  aliases(tokens);
  loops(tokens);
  const Exhaustion asked = exhaustion_of(name_, tokens);
  seen_.memory |= asked.memory;
  seen_.endless_loop |= asked.long_loop;
  seen_.many_loop |= asked.many_loop;
  told_.merge(note_files(judge_, run_, name_, tokens, arg_));
  for (const std::string& path : joined_paths(name_, tokens)) literal_path(path);
  if (name_ == "generic") bare_paths(text);
  // Code inside code has places of its own.
  const auto places = std::exchange(inside_helper_, {});
  const auto choices = std::exchange(choices_, {});
  const auto helpers = helpers_;
  const Functions functions(name_, tokens);
  if (!functions.none()) find_helpers(functions, tokens);
  choices_ = loop_choices(functions, tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) token(tokens, i, depth);
  inside_helper_ = places;
  choices_ = choices;
  helpers_ = helpers;
}

void CodeJudge::sum_up() {
  if (seen_.socket && (seen_.shell_io || seen_.shell_started)) judge_.raise(run_, "net.reverse_shell", arg_.where);
  if (seen_.evaluates && (seen_.network || seen_.socket)) judge_.raise(run_, "net.run", arg_.where);
  if ((seen_.environment || seen_.secret) && (seen_.network || seen_.socket))
    judge_.raise(run_, "net.exfiltrates", arg_.where);
  if (seen_.socket && seen_.unknown_run) judge_.raise(run_, "net.reverse_shell", arg_.where);
  if (seen_.network && (seen_.shell_started || seen_.unknown_run)) judge_.raise(run_, "net.run", arg_.where);
  if (seen_.endless_loop && (seen_.forks || seen_.runs)) judge_.raise(run_, "process.endless", arg_.where);
  if (seen_.many_loop && seen_.forks) judge_.raise(run_, "process.endless", arg_.where);
  if (seen_.endless_loop && seen_.threads && !seen_.leaves) judge_.raise(run_, "process.endless", arg_.where);
  if (seen_.memory) judge_.raise(run_, "system.fill", arg_.where);
  if (seen_.walks_home && seen_.reads) judge_.raise(run_, "secret.tree", arg_.where);
  if (seen_.endless_loop && seen_.grows && !seen_.leaves) judge_.raise(run_, "system.fill", arg_.where);
  seen_.startup_file |= seen_.start_place && seen_.start_name;
  if (seen_.computed_call && seen_.unhides) judge_.raise(run_, "dynamic.code", arg_.where);
  if (seen_.asks_names && (seen_.token || seen_.secret)) judge_.raise(run_, "net.exfiltrates", arg_.where);
  if (seen_.startup_file && seen_.writes) judge_.raise(run_, "persist.startup", arg_.where);
  if (seen_.network) {
    for (const std::string& path : seen_.written)
      judge_.mark_file(judge_.locate(run_, path).path, Flow{.network = true});
  }
  if (seen_.network || seen_.socket) run_.out.network = true;
  if (seen_.environment || seen_.secret) run_.out.secret = true;
}

/// while true, for(;;), loop, iter(int, 1): loops that nothing inside them ends.
void CodeJudge::loops(const Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& word = tokens[i].text;
    if (is(tokens, i, "+") && is(tokens, i + 1, "=")) seen_.grows = true;
    if (is(tokens, i, "+=") || is(tokens, i, "<<") || is(tokens, i, ".=")) seen_.grows = true;
    if (tokens[i].kind != Token::Kind::name) continue;
    const std::string_view last = std::string_view(word).substr(word.rfind('.') + 1);
    for (std::string_view adds :
         {"append", "push", "extend", "concat", "alloc", "allocUnsafe", "malloc", "unshift", "Array"})
      seen_.grows |= last == adds;
    for (std::string_view ends : {"break", "return", "exit", "last",   "sleep", "usleep",   "wait", "raise", "throw",
                                  "die",   "input",  "recv", "accept", "read",  "readline", "gets", "get",   "await",
                                  "yield", "select", "poll", "shift",  "pop",   "fetch",    "quit", "close"})
      seen_.leaves |= last == ends;
    if (word == "while" || word == "until") {
      const std::size_t next = is(tokens, i + 1, "(") ? i + 2 : i + 1;
      for (std::string_view always : {"true", "True", "1", "fork"}) seen_.endless_loop |= is(tokens, next, always);
    }
    if (word == "for" && is(tokens, i + 1, "(") && is(tokens, i + 2, ";") && is(tokens, i + 3, ";"))
      seen_.endless_loop = true;
    if ((word == "loop" && name_ == "ruby") || word == "itertools.count" ||
        (word == "iter" && is(tokens, i + 1, "(") && is(tokens, i + 2, "int")))
      seen_.endless_loop = true;
  }
}

void CodeJudge::token(const Tokens& tokens, std::size_t i, int depth) {
  const Token& token = tokens[i];
  if (token.unknown && token.kind == Token::Kind::mark) {
    judge_.raise(run_, "dynamic.code", arg_.where);
    return;
  }
  if (token.kind == Token::Kind::shell) {
    judge_.at_least(run_, Risk::normal);
    run_shell(token.text, !token.unknown);
    return;
  }
  if (token.kind == Token::Kind::string) {
    string_token(tokens, i, depth);
    return;
  }
  if (is(tokens, i, "]") && is(tokens, i + 1, "(") && i > 0 && tokens[i - 1].kind != Token::Kind::string)
    seen_.computed_call = true;
  if (token.kind != Token::Kind::name) return;
  const std::string name = full_name(tokens, i);
  notice(name, tokens, i);
  std::string_view what = find_call(language_, name);
  for (const std::string& module : whole_modules_) {
    if (what.empty()) what = find_call(language_, module + "." + name);
  }
  if (name_ == "awk" && is(tokens, i + 1, "|") &&
      (is(tokens, i + 2, "getline") || (is(tokens, i + 2, "&") && is(tokens, i + 3, "getline"))))
    judge_.raise(run_, "exec.inline", arg_.where);
  if (name_ == "awk" && token.text == "load" && i > 0 && is(tokens, i - 1, "@"))
    judge_.raise(run_, "exec.library", arg_.where);
  if (name_ == "awk" && token.text == "@load") judge_.raise(run_, "exec.library", arg_.where);
  if (name_ == "awk" && (token.text == "print" || token.text == "printf")) awk_output(tokens, i);
  // (0, cp.execSync)("…"): the name stands in brackets of its own.
  const bool bracketed = is(tokens, i + 1, ")") && is(tokens, i + 2, "(") && i > 0 &&
                         (is(tokens, i - 1, "(") || is(tokens, i - 1, ",") || is(tokens, i - 1, "."));
  if (bracketed) i += 1;
  const bool called = is(tokens, i + 1, "(");
  // new DeleteBucketCommand({…})
  if (called && name_ == "javascript" && what.empty() && name.ends_with("Command") &&
      (name.starts_with("Delete") || name.starts_with("Terminate") || name.find(".Delete") != std::string::npos))
    judge_.raise(run_, "cloud.delete", arg_.where);
  if (called && what.empty() && module_call(name, tokens, i)) return;
  if (what.empty() && name_ == "generic") {
    // clojure.java.shell/sh, shutil.rmtree: by the last part.
    const std::size_t cut = name.find_last_of(".:/");
    if (cut != std::string::npos) what = find_call(language_, std::string_view(name).substr(cut + 1));
  }
  const bool defined = i > 0 && (is(tokens, i - 1, "def") || is(tokens, i - 1, "function"));
  if (auto helper = helpers_.find(name); what.empty() && called && !defined && helper != helpers_.end())
    what = helper->second;
  if (inside_helper_.contains(i)) {
    judge_.at_least(run_, Risk::normal);
    return;
  }
  if (what.empty()) {
    const bool given = called || (i + 1 < tokens.size() && tokens[i + 1].kind == Token::Kind::string);
    if (given && sounds_like_running(name)) may_run(tokens, i);
    return;
  }
  if (what == "eval" && !called && name_ == "javascript") {
    seen_.evaluates = true;  // .then(eval)
    return;
  }
  if (what == "thread" && called && name_ == "javascript") {
    const Arguments args = arguments_of(name_, tokens, i + 1);
    const bool text = std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(args.begin),
                                  tokens.begin() + static_cast<std::ptrdiff_t>(std::min(args.end, tokens.size())),
                                  [](const Token& each) { return each.text == "eval"; });
    if (text) evaluate(args, !args.strings.empty() && args.literal[0] && !args.unknown, depth);
  }
  if (what == "fork" || what == "thread") {
    (what == "fork" ? seen_.forks : seen_.threads) = true;
    judge_.at_least(run_, Risk::normal);
    return;
  }
  if (what == "environment_jq" || what == "environment_call") {
    seen_.environment = true;
    return;
  }
  if (what == "shell_io_maybe") return;
  if (what == "eval_block" && (is(tokens, i + 1, "{") || i + 1 >= tokens.size())) return;
  if (what == "eval_block" && token.text == "do") what = "include";
  if (what == "environment") {
    if (!is(tokens, i + 1, "[") && !is(tokens, i + 1, ".") && !called) seen_.environment = true;
    return;
  }
  const bool bare_ok = name_ == "perl" || name_ == "ruby" || name_ == "php" || name_ == "powershell" ||
                       name_ == "tcl" || name_ == "lua" || name_ == "elixir" ||
                       (name_ == "generic" && !run_.only_certain);
  if (!called && !bare_ok && handed_on(what, tokens, i)) return;
  if (!called && !bare_ok && what != "network" && what != "socket" && what != "shell_io") return;
  act(what, tokens, i, depth);
}

/// What matters only together with something else in the code.
void CodeJudge::notice(const std::string& name, const Tokens& tokens, std::size_t i) {
  const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
  seen_.unhides |= listed("code_unhides", last);
  if (listed("code_discards", last)) judge_.raise(run_, "git.discard", arg_.where);
  // repo.head.reset(index=True, working_tree=True)
  if (name.ends_with("head.reset")) {
    const Arguments args = arguments_of(name_, tokens, i + 1);
    for (std::size_t k = args.begin; k < std::min(args.end, tokens.size()); ++k) {
      if (is(tokens, k, "working_tree")) judge_.raise(run_, "git.discard", arg_.where);
    }
  }
  seen_.start_place |= last.find("sitepackages") != std::string_view::npos || last == "USER_SITE" ||
                       last == "getuserbase" || last == "get_path" || last == "get_paths";
  // Buffer.from(x, "base64")
  if (name.ends_with("Buffer.from")) {
    const Arguments args = arguments_of(name_, tokens, i + 1);
    seen_.unhides |= std::any_of(args.deep.begin(), args.deep.end(),
                                 [](const std::string& each) { return each == "base64" || each == "hex"; });
  }
  const bool called = is(tokens, i + 1, "(");
  const bool loads = name == "require" || name == "import" || last == "send" || last == "public_send" ||
                     last == "__send__" || last == "_load";
  if (called && loads) {
    const Arguments args = arguments_of(name_, tokens, i + 1);
    seen_.computed_call |= args.unknown || args.strings.empty() || !args.literal[0] || args.list;
  }
  seen_.computed_call |= called && name_ == "php" && name.starts_with('$') && name.find('.') == std::string::npos;
  if (name.find("env.") != std::string::npos || name.find("ENV") != std::string::npos)
    seen_.token |= names_a_secret(name);
  if (last == "getenv" || last == "environ" || last == "ENV" || last == "get") {
    const std::size_t value = i + 2;
    if (value < tokens.size() && tokens[value].kind == Token::Kind::string)
      seen_.token |= names_a_secret(tokens[value].text);
  }
}

void judge_code(Judge& judge, Run& run, std::uint8_t language, std::string_view text, const Arg& arg) {
  if (const std::string_view name = language_name(language);
      text.starts_with('!') && (name == "python" || name == "generic")) {
    // ipython, gnuplot and their like hand such a line to a shell.
    judge.raise(run, "exec.inline", arg.where);
    Arg line = judge.synthetic(std::string(text.substr(1)), arg);
    line.known = true;
    judge.shell_text(run, line, {});
    return;
  }
  CodeJudge code(judge, run, language, arg);
  code.code(text, 0);
  code.sum_up();
}

}  // namespace cordon::risk
