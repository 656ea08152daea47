// What a call in inline code does, by the word that data/programs/languages.json5 has for it.
#include "risk/code_judge.h"

#include <algorithm>
#include <utility>

namespace cordon::risk {

namespace {

/// What needs no look at the arguments: calls by their word, and the finding that each is.
constexpr std::pair<std::string_view, std::string_view> plain_findings[] = {
    {"schedule", "persist.schedule"},  {"dynamic", "dynamic.code"},   {"load", "exec.library"},
    {"truncate", "fs.truncate"},       {"reveals", "secret.service"}, {"privilege", "privilege.root"},
    {"chown", "perm.owner"},           {"kill", "process.kill"},      {"drop", "db.drop"},
    {"delete_rows", "db.delete_rows"},
};

bool is_address(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

}  // namespace

void CodeJudge::act(std::string_view what, const Tokens& tokens, std::size_t i, int depth) {
  Arguments args = arguments_of(name_, tokens, i + 1);
  const bool literal = !args.strings.empty() && args.literal[0] && !args.unknown;
  const bool certain = literal && std::all_of(args.literal.begin(), args.literal.end(), [](bool each) { return each; });
  if (run_.only_certain && !certain && listed("code_uncertain", what)) {
    judge_.at_least(run_, Risk::normal);
    seen_.evaluates |= what == "eval" && ++evaluations_ < 1000 && fetches(tokens, args);  // exec(urlopen(…).read())
    return;
  }
  const bool remote = std::any_of(args.deep.begin(), args.deep.end(), is_address);
  for (const auto& [word, rule] : plain_findings) {
    if (what == word) judge_.raise(run_, rule, arg_.where);
  }
  if (what == "shell" || what == "argv") {
    run_call(what, tokens, i, std::move(args));
  } else if (what == "pipeline") {
    run_pipeline(tokens, args);
  } else if (what == "delete" || what == "delete_tree") {
    delete_call(args, what == "delete_tree");
  } else if (what == "delete_options") {
    delete_by_options(tokens, std::move(args));
  } else if (what == "include") {
    if (remote)
      judge_.raise(run_, "net.run", arg_.where);
    else if (!args.strings.empty() && args.literal[0])
      include(args.strings[0]);
  } else if (what == "install") {
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
  } else if (what == "update_rows" || what == "delete_many") {
    const bool all = is(tokens, i + 2, "{") && is(tokens, i + 3, "}");
    if (all) judge_.raise(run_, what == "update_rows" ? "db.update_rows" : "db.delete_rows", arg_.where);
    judge_.at_least(run_, Risk::normal);
  } else if (what == "write") {
    seen_.writes = true;
    judge_.at_least(run_, Risk::normal);
    if (!args.strings.empty() && args.literal[0]) {
      seen_.written.push_back(args.strings[0]);
      writes_to(args.strings[0]);
    }
  } else if (what == "walk") {
    walk(args, tokens, i);
  } else if (what == "chain") {
    chain(tokens, std::move(args));
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
  } else if (what == "chmod") {
    judge_.raise(run_, args.setid ? "perm.setid" : args.everyone ? "perm.everyone" : "perm.change_inline", arg_.where);
    if (!args.strings.empty() && args.literal[0])
      judge_.writes(run_, path_arg(args.strings[0], true), Judge::Text::told);
  } else if (what == "reveals") {
    seen_.secret = true;
  } else if (what == "move") {
    move_call(args);
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

void CodeJudge::delete_call(const Arguments& args, bool tree) {
  if (tree) judge_.raise(run_, "fs.delete.recursive", arg_.where);
  const bool home = args.home || std::any_of(args.deep.begin(), args.deep.end(),
                                             [](const std::string& each) { return each == "~" || each == "~/"; });
  if (home && tree) judge_.raise(run_, "fs.delete.vital", arg_.where);
  const bool before = std::exchange(run_.recursive, tree || run_.recursive);
  if (args.strings.empty()) judge_.raise(run_, tree ? "fs.delete.recursive" : "fs.delete.unknown", arg_.where);
  const std::size_t most = name_ == "perl" || name_ == "r" ? 51 : 1;
  for (std::size_t k = 0; k < args.strings.size() && k < most; ++k) {
    judge_.deletes(run_, path_arg(args.strings[k], args.literal[k] && !args.unknown && !args.strings[k].empty()));
  }
  run_.recursive = before;
}

/// fs.rmSync(path, {recursive: true}), shelljs.rm("-rf", path)
void CodeJudge::delete_by_options(const Tokens& tokens, Arguments args) {
  const auto end = std::min(args.end + 1, tokens.size());
  bool tree = run_.recursive;
  for (std::size_t i = args.begin; i < end; ++i) tree |= tokens[i].text == "recursive";
  if (!args.strings.empty() && args.literal[0] && args.strings[0].starts_with('-')) {
    tree = true;
    args.strings.erase(args.strings.begin());
    args.literal.erase(args.literal.begin());
  }
  const bool before = std::exchange(run_.recursive, tree);
  if (tree && args.home) judge_.raise(run_, "fs.delete.vital", arg_.where);
  if (args.strings.empty())
    judge_.deletes(run_, path_arg("$path", false));
  else
    judge_.deletes(run_, path_arg(args.strings[0], args.literal[0] && !args.unknown));
  run_.recursive = before;
}

void CodeJudge::move_call(const Arguments& args) {
  judge_.at_least(run_, Risk::normal);
  seen_.writes = true;
  if (args.strings.size() > 1 && args.strings[0].starts_with("http")) {
    seen_.network = true;
    judge_.mark_file(judge_.locate(run_, args.strings[1]).path, Flow{.network = true});
  }
  for (std::size_t k = 0; k < args.strings.size() && k < 2; ++k) {
    if (args.strings[k].starts_with("http")) continue;
    if (args.strings[k] == "/dev/null") judge_.raise(run_, "fs.delete.unknown", arg_.where);
    if (args.literal[k]) writes_to(args.strings[k]);
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
