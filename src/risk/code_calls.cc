// What a call in inline code does, by the word that data/programs/languages.json5 has for it.
#include "risk/code_judge.h"

#include <algorithm>
#include <utility>

namespace cordon::risk {

void CodeJudge::act(std::string_view what, const Tokens& tokens, std::size_t i, int depth) {
  Arguments args = arguments_of(name_, tokens, i + 1);
  const bool literal = !args.strings.empty() && args.literal[0] && !args.unknown;
  const bool certain = literal && std::all_of(args.literal.begin(), args.literal.end(), [](bool each) { return each; });
  if (run_.only_certain && !certain && listed("code_uncertain", what)) {
    judge_.at_least(run_, Risk::normal);
    seen_.evaluates |= what == "eval" && ++evaluations_ < 1000 && fetches(tokens, args);  // exec(urlopen(…).read())
    return;
  }
  if (what == "shell" || what == "argv") {
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
    if ((name_ == "javascript" || name_ == "r") && what == "argv" && args.deep.size() > args.strings.size()) {
      args.strings = args.deep;
      args.literal.assign(args.deep.size(), true);
    }
    // (clojure.java.shell/sh "rm" "-rf" "src")
    const bool apart = name_ == "generic" && args.strings.size() > 1 && args.literal[0] &&
                       args.strings[0].find(' ') == std::string::npos;
    const bool words = args.list || apart || (what == "argv" && args.strings.size() > 1 && name_ != "python");
    if (one_of(tokens, args)) return;
    // execFileSync("git", a), where a is one of few
    if (name_ == "javascript" && literal && is(tokens, args.begin + 1, ",") && args.begin + 2 < tokens.size()) {
      if (auto rest = choices_.find(tokens[args.begin + 2].text); rest != choices_.end()) {
        for (const std::vector<std::string>& choice : rest->second) {
          Arguments each = args;
          each.strings.resize(1);
          each.strings.insert(each.strings.end(), choice.begin(), choice.end());
          each.literal.assign(each.strings.size(), true);
          run_words(each);
        }
        return;
      }
    }
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
  } else if (what == "delete" || what == "delete_tree") {
    seen_.deletes = true;
    if (what == "delete_tree") judge_.raise(run_, "fs.delete.recursive", arg_.where);
    const bool home = args.home || std::any_of(args.deep.begin(), args.deep.end(),
                                               [](const std::string& each) { return each == "~" || each == "~/"; });
    if (home && what == "delete_tree") judge_.raise(run_, "fs.delete.vital", arg_.where);
    const bool before = std::exchange(run_.recursive, what == "delete_tree" || run_.recursive);
    if (args.strings.empty())
      judge_.raise(run_, what == "delete_tree" ? "fs.delete.recursive" : "fs.delete.unknown", arg_.where);
    for (std::size_t k = 0; k < args.strings.size() && k < 1 + (name_ == "perl" || name_ == "r" ? 50u : 0u); ++k) {
      judge_.deletes(run_, path_arg(args.strings[k], args.literal[k] && !args.unknown && !args.strings[k].empty()));
    }
    run_.recursive = before;
  } else if (what == "delete_options") {  // fs.rmSync(path, {recursive: true})
    const bool tree = std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(args.begin),
                                  tokens.begin() + static_cast<std::ptrdiff_t>(std::min(args.end + 1, tokens.size())),
                                  [](const Token& token) { return token.text == "recursive"; });
    // shelljs.rm("-rf", "x")
    const bool options = literal && args.strings[0].starts_with('-');
    const bool before = std::exchange(run_.recursive, tree || options);
    if (options) args.strings.erase(args.strings.begin());
    if (tree && args.home) judge_.raise(run_, "fs.delete.vital", arg_.where);
    judge_.deletes(run_, path_arg(args.strings.empty() ? std::string("$path") : args.strings[0], literal));
    run_.recursive = before;
  } else if (what == "include") {
    const bool remote = std::any_of(args.deep.begin(), args.deep.end(), [](const std::string& each) {
      return each.starts_with("http://") || each.starts_with("https://");
    });
    if (remote)
      judge_.raise(run_, "net.run", arg_.where);
    else if (!args.strings.empty() && args.literal[0])
      include(args.strings[0]);
  } else if (what == "install") {
    const bool remote = std::any_of(args.deep.begin(), args.deep.end(), [](const std::string& each) {
      return each.starts_with("http://") || each.starts_with("https://");
    });
    judge_.raise(run_, remote ? "supply.url" : "packages.install", arg_.where);
  } else if (what == "getattr_module") {
    const bool choice = args.begin < tokens.size() && choices_.contains(tokens[args.begin].text);
    if (!choice && !stated(tokens, args.begin)) judge_.raise(run_, "dynamic.code", arg_.where);
  } else if (what == "callbacks") {
    for (const std::string& name : args.deep) {
      if (name == "unlink" || name == "rmdir" || name == "system" || name == "exec" || name == "passthru" ||
          name == "shell_exec" || name == "assert")
        judge_.raise(run_, "dynamic.code", arg_.where);
    }
  } else if (what == "tcl_file") {
    if (is(tokens, i + 1, "delete")) judge_.raise(run_, "fs.delete.recursive", arg_.where);
  } else if (what == "getattr") {
    attribute(tokens, args, depth);
  } else if (what == "update_rows") {
    if (is(tokens, i + 2, "{") && is(tokens, i + 3, "}")) judge_.raise(run_, "db.update_rows", arg_.where);
    judge_.at_least(run_, Risk::normal);
  } else if (what == "delete_many") {
    if (is(tokens, i + 2, "{") && is(tokens, i + 3, "}")) judge_.raise(run_, "db.delete_rows", arg_.where);
    judge_.at_least(run_, Risk::normal);
  } else if (what == "schedule") {
    judge_.raise(run_, "persist.schedule", arg_.where);
  } else if (what == "write") {
    seen_.writes = true;
    judge_.at_least(run_, Risk::normal);
    if (!args.strings.empty() && args.literal[0]) {
      seen_.written.push_back(args.strings[0]);
      judge_.writes(run_, path_arg(args.strings[0], true));
    }
  } else if (what == "walk") {
    walk(args, tokens, i);
  } else if (what == "chain") {
    // Command::new("rm").arg("-rf"): the words follow up to the end of the statement.
    while (args.end < tokens.size() && !is(tokens, args.end, ";")) ++args.end;
    args.strings.clear();
    for (std::size_t k = args.begin; k < args.end; ++k) {
      if (tokens[k].kind == Token::Kind::string) args.strings.push_back(tokens[k].text);
    }
    args.literal.assign(args.strings.size(), true);
    run_words(args);
  } else if (what == "read") {
    seen_.reads = true;
    if (!args.strings.empty() && args.literal[0]) read_path(args.strings[0]);
  } else if (what == "open") {
    open(args);
  } else if (what == "network" || what == "send") {
    network(args, what == "send");
  } else if (what == "asks_names") {
    seen_.asks_names |= args.unknown || args.strings.empty() || !args.literal[0];
    judge_.at_least(run_, Risk::normal);
  } else if (what == "socket") {
    seen_.socket = true;
    judge_.at_least(run_, Risk::normal);
  } else if (what == "shell_io") {
    seen_.shell_io = true;
    if (!args.strings.empty() && !args.strings[0].empty()) {
      seen_.shell_started = true;
      judge_.raise(run_, "exec.bare_shell", arg_.where);
    }
    if (args.list) run_words(args);
  } else if (what == "eval" || what == "eval_block") {
    evaluate(args, literal && (name_ != "python" || stated(tokens, args.begin)), depth);
  } else if (what == "eval_text") {  // timeit("code"), timeit(function)
    if (literal && !args.strings[0].empty()) evaluate(args, literal, depth);
    judge_.at_least(run_, Risk::normal);
  } else if (what == "dynamic") {
    judge_.raise(run_, "dynamic.code", arg_.where);
  } else if (what == "load") {
    judge_.raise(run_, "exec.library", arg_.where);
  } else if (what == "chmod") {
    judge_.raise(run_, args.setid ? "perm.setid" : args.everyone ? "perm.everyone" : "perm.change_inline", arg_.where);
    if (!args.strings.empty() && args.literal[0]) judge_.writes(run_, path_arg(args.strings[0], true));
  } else if (what == "truncate") {
    judge_.raise(run_, "fs.truncate", arg_.where);
  } else if (what == "reveals") {
    judge_.raise(run_, "secret.service", arg_.where);
    seen_.secret = true;
  } else if (what == "privilege") {
    judge_.raise(run_, "privilege.root", arg_.where);
  } else if (what == "chown") {
    judge_.raise(run_, "perm.owner", arg_.where);
  } else if (what == "kill") {
    judge_.raise(run_, "process.kill", arg_.where);
  } else if (what == "drop") {
    judge_.raise(run_, "db.drop", arg_.where);
  } else if (what == "delete_rows") {
    judge_.raise(run_, "db.delete_rows", arg_.where);
  } else if (what == "move") {
    judge_.at_least(run_, Risk::normal);
    seen_.writes = true;
    if (args.strings.size() > 1 && args.strings[0].starts_with("http")) {
      seen_.network = true;
      judge_.mark_file(judge_.locate(run_, args.strings[1]).path, Flow{.network = true});
    }
    for (std::size_t k = 0; k < args.strings.size() && k < 2; ++k) {
      if (args.strings[k].starts_with("http")) continue;
      if (args.literal[k]) judge_.writes(run_, path_arg(args.strings[k], true));
    }
  } else if (what == "sql") {
    const bool wrapped = !args.strings.empty() && !args.literal[0];  // execute(text("…"))
    for (const std::string& text : wrapped ? args.deep : args.strings) judge_.sql(run_, text, arg_.where);
  } else if (what == "writes") {
    seen_.writes = true;
    judge_.at_least(run_, Risk::normal);
  } else if (what == "normal") {
    judge_.at_least(run_, Risk::normal);
  }
}

/// Is the argument that begins there a literal, and nothing else?
bool CodeJudge::stated(const Tokens& tokens, std::size_t at) {
  if (at + 1 < tokens.size() && tokens[at].kind == Token::Kind::name && tokens[at].text.size() == 1) ++at;  // f"…"
  if (at >= tokens.size() || tokens[at].kind != Token::Kind::string || tokens[at].unknown) return false;
  return at + 1 >= tokens.size() || is(tokens, at + 1, ")") || is(tokens, at + 1, ",") || is(tokens, at + 1, ";") ||
         tokens[at + 1].kind == Token::Kind::line_end;
}

/// getattr(os, "system")("…"): a name like any other, when it is stated.
void CodeJudge::attribute(const Tokens& tokens, const Arguments& args, int depth) {
  std::size_t second = args.begin;
  for (int open = 0; second < args.end; ++second) {
    if (is(tokens, second, "(") || is(tokens, second, "[")) ++open;
    if (is(tokens, second, ")") || is(tokens, second, "]")) --open;
    if (open == 0 && is(tokens, second, ",")) break;
  }
  if (!stated(tokens, second + 1)) {
    judge_.raise(run_, "dynamic.code", arg_.where);
    return;
  }
  const std::string& name = tokens[second + 1].text;
  const bool plain = second == args.begin + 1 && tokens[args.begin].kind == Token::Kind::name;
  std::string_view what = plain ? find_call(language_, full_name(tokens, args.begin) + "." + name) : std::string_view{};
  for (std::string_view module :
       {"", "os.", "subprocess.", "shutil.", "builtins.", "urllib.request.", "socket.", "pty."}) {
    if (what.empty()) what = find_call(language_, std::string(module) + name);
  }
  if (what.empty()) return;
  if (is(tokens, args.end + 1, "("))
    act(what, tokens, args.end, depth);
  else if (listed("code_uncertain", what))
    judge_.raise(run_, "dynamic.code", arg_.where);
}

}  // namespace cordon::risk
