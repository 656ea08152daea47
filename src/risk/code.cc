#include "risk/code.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "risk/arguments.h"
#include "risk/exhaustion.h"
#include "risk/functions.h"

namespace cordon::risk {

namespace {

constexpr int max_evaluations = 8;

/// What was seen in the code as a whole; some dangers are only in the sum.
struct Seen {
  bool network = false;
  bool sends = false;
  bool socket = false;
  bool shell_io = false;
  bool shell_started = false;
  bool evaluates = false;
  bool environment = false;
  bool secret = false;
  bool forks = false;
  bool runs = false;
  bool unknown_run = false;
  bool endless_loop = false;
  bool many_loop = false;
  bool threads = false;
  bool memory = false;  // more than any machine has
  bool walks_home = false;
  bool reads = false;
  bool grows = false;   // something is added to again and again
  bool leaves = false;  // something may end a loop, or slow it down
  bool startup_file = false;
  bool computed_call = false;  // what is called, or loaded, is put together while it runs
  bool unhides = false;        // text is decoded
  bool start_place = false;    // where Python looks for what it runs first …
  bool start_name = false;     // … and a name that it looks for there
  bool asks_names = false;     // a name server, which may be anybody's
  bool token = false;          // a variable whose name says that it is a secret
  bool writes = false;
  bool deletes = false;
  std::vector<std::string> written;
};

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

class CodeJudge {
 public:
  CodeJudge(Judge& judge, Run& run, std::uint8_t language, const Arg& arg)
      : judge_(judge), run_(run), language_(language), name_(language_name(language)), arg_(arg) {}

  void code(std::string_view text, int depth) {
    std::vector<Token> tokens = with_constants(name_, lex(name_, text));
    aliases(tokens);
    loops(tokens);
    const Exhaustion asked = exhaustion_of(name_, tokens);
    seen_.memory |= asked.memory;
    seen_.endless_loop |= asked.long_loop;
    seen_.many_loop |= asked.many_loop;
    note_files(judge_, run_, name_, tokens, arg_);
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

  void sum_up() {
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

 private:
  using Tokens = std::vector<Token>;

  static bool is(const Tokens& tokens, std::size_t at, std::string_view mark) { return is_token(tokens, at, mark); }

  /// import os as o · from os import system · cp = require('child_process') · const {exec} = require(…)
  void aliases(const Tokens& tokens) {
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i].kind != Token::Kind::name) continue;
      const std::string& word = tokens[i].text;
      if (is(tokens, i + 1, "=") && i + 2 < tokens.size() && tokens[i + 2].kind == Token::Kind::name)
        other_name(tokens, i);
      if (word == "import" && tokens[i + 1].kind == Token::Kind::name) import(tokens, i + 1);
      if (word == "from" && i + 3 < tokens.size() && is(tokens, i + 2, "import")) from_import(tokens, i);
      if ((word == "require" || word == "__import__" || word == "importlib.import_module") && is(tokens, i + 1, "(") &&
          i + 2 < tokens.size() && tokens[i + 2].kind == Token::Kind::string) {
        std::string module = tokens[i + 2].text;
        if (module.starts_with("node:")) module = module.substr(5);
        // run = require("child_process").execSync
        const bool part = is(tokens, i + 3, ")") && is(tokens, i + 4, ".") && i + 5 < tokens.size() &&
                          tokens[i + 5].kind == Token::Kind::name && !is(tokens, i + 6, "(");
        if (i >= 2 && is(tokens, i - 1, "=") && tokens[i - 2].kind == Token::Kind::name)
          alias_[tokens[i - 2].text] = part ? module + "." + tokens[i + 5].text : module;
        if (i >= 2 && is(tokens, i - 1, "=") && is(tokens, i - 2, "}")) names_in_braces(tokens, i - 2, module);
      }
      if (word == "from" && i > 0 && is(tokens, i - 1, "}") && tokens[i + 1].kind == Token::Kind::string)
        names_in_braces(tokens, i - 1, tokens[i + 1].text);
    }
  }

  /// def sh(c): subprocess.run(c, shell=True): what it is called with is what runs, and every call is in the code.
  void find_helpers(const Functions& functions, const Tokens& tokens) {
    std::map<const Function*, bool> plain;
    for (std::size_t i = 0; i + 2 < tokens.size() && helpers_.size() < 100; ++i) {
      if (tokens[i].kind != Token::Kind::name || !is(tokens, i + 1, "(")) continue;
      const std::string_view what = find_call(language_, full_name(tokens, i));
      if (what != "shell" && what != "argv") continue;
      const Token& given = tokens[i + 2];
      const bool alone = is(tokens, i + 3, ",") || is(tokens, i + 3, ")");
      const Function* function = given.kind == Token::Kind::name ? functions.around(i) : nullptr;
      if (!function || function->parameters.empty()) continue;
      const std::string& first = function->parameters[0];
      const bool split = given.text == first + ".split";
      const bool split_by = given.text == "shlex.split" && i + 4 < tokens.size() && tokens[i + 4].text == first;
      if (!(alone && given.text == first) && !split && !split_by) continue;
      auto [asked, fresh] = plain.try_emplace(function, false);
      if (fresh) asked->second = Functions::only_called(tokens, *function);
      if (!asked->second) continue;
      helpers_[function->name] = what;
      inside_helper_.insert(i);
    }
  }

  /// f = os.system: from here on f is it.
  void other_name(const Tokens& tokens, std::size_t i) {
    for (std::string_view more : {"(", ".", "["}) {
      if (is(tokens, i + 3, more)) return;
    }
    const std::string name = full_name(tokens, i + 2);
    if (!find_call(language_, name).empty()) alias_[tokens[i].text] = name;
  }

  /// import {execSync as e} from "child_process" · const {exec: e} = require("child_process")
  void names_in_braces(const Tokens& tokens, std::size_t close, std::string module) {
    if (module.starts_with("node:")) module = module.substr(5);
    for (std::size_t i = close; i > 1 && !is(tokens, i, "{"); --i) {
      const bool renamed = is(tokens, i - 1, "as") || is(tokens, i - 1, ":");
      if (renamed && tokens[i].kind == Token::Kind::name) alias_[tokens[i].text] = module + "." + tokens[i - 2].text;
    }
  }

  /// while true, for(;;), loop, iter(int, 1): loops that nothing inside them ends.
  void loops(const Tokens& tokens) {
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

  void import(const Tokens& tokens, std::size_t at) {
    while (at < tokens.size() && tokens[at].kind == Token::Kind::name) {
      const std::string module = tokens[at].text;
      if (is(tokens, at + 1, "as") && at + 2 < tokens.size()) {
        alias_[tokens[at + 2].text] = module;
        at += 2;
      }
      if (is(tokens, at + 1, "from") && at + 2 < tokens.size() && tokens[at + 2].kind == Token::Kind::string) {
        std::string source = tokens[at + 2].text;
        alias_[module] = source.starts_with("node:") ? source.substr(5) : source;
      }
      if (!is(tokens, at + 1, ",")) break;
      at += 2;
    }
  }

  void from_import(const Tokens& tokens, std::size_t at) {
    const std::string module = tokens[at + 1].text;
    std::size_t i = at + 3;
    if (is(tokens, i, "*")) whole_modules_.push_back(module);
    while (i < tokens.size() && tokens[i].kind == Token::Kind::name) {
      const std::string name = tokens[i].text;
      std::string shown = name;
      if (is(tokens, i + 1, "as") && i + 2 < tokens.size()) {
        shown = tokens[i + 2].text;
        i += 2;
      }
      alias_[shown] = module + "." + name;
      if (!is(tokens, i + 1, ",")) break;
      i += 2;
    }
  }

  std::string full_name(const Tokens& tokens, std::size_t at) const {
    std::string name = tokens[at].text;
    // require('fs').rmSync(…): the module is the string two tokens back.
    if (at >= 4 && is(tokens, at - 1, ".") && is(tokens, at - 2, ")") && tokens[at - 3].kind == Token::Kind::string &&
        is(tokens, at - 4, "(")) {
      std::string module = tokens[at - 3].text;
      if (module.starts_with("node:")) module = module.substr(5);
      return module + "." + name;
    }
    if (at >= 1 && is(tokens, at - 1, ".")) return "." + name;
    const std::size_t dot = name.find('.');
    auto found = alias_.find(name.substr(0, dot));
    if (found != alias_.end()) return dot == std::string::npos ? found->second : found->second + name.substr(dot);
    return name;
  }

  Arg path_arg(const std::string& text, bool literal) {
    Arg arg = judge_.synthetic(text.empty() && !literal ? std::string("$value") : homeward(text), arg_);
    arg.known = literal;
    arg.wildcard = text.find_first_of("*?") != std::string::npos;
    arg.flow = {};
    return arg;
  }

  void run_shell(const std::string& text, bool literal) {
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

  void run_words(const Arguments& args) {
    std::vector<Arg> words;
    for (std::size_t i = 0; i < args.strings.size(); ++i) words.push_back(path_arg(args.strings[i], args.literal[i]));
    if (words.empty()) return;
    if (args.more) words.push_back(path_arg({}, false));
    for (Arg& word : words) word.wildcard = false;
    const std::string_view first = words[0].text;
    seen_.runs = true;
    if (first.ends_with("/sh") || first == "sh" || first == "bash" || first.ends_with("/bash"))
      seen_.shell_started = true;
    Stdin before = std::exchange(run_.in, Stdin{});
    judge_.carry(run_, words);
    run_.in = before;
  }

  void token(const Tokens& tokens, std::size_t i, int depth) {
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
  void notice(const std::string& name, const Tokens& tokens, std::size_t i) {
    const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
    seen_.unhides |= listed("code_unhides", last);
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

  /// map(os.unlink, names), Process(target=os.system, args=("rm -rf x",)): called by whoever it is handed to.
  bool handed_on(std::string_view what, const Tokens& tokens, std::size_t i) {
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
  bool module_call(const std::string& name, const Tokens& tokens, std::size_t i) {
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

  void may_run(const Tokens& tokens, std::size_t i) {
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

  /// m["ex"+"ec"]("rm -rf x"), $f("rm -rf x"): what is called is not known, what it is given is.
  void called_by_value(const Tokens& tokens, std::size_t i) {
    if (i < 2 || !is(tokens, i - 1, "(")) return;
    const Token& callee = tokens[i - 2];
    const bool by_value = is(tokens, i - 2, "]") || is(tokens, i - 2, ")") ||
                          (callee.kind == Token::Kind::name && callee.text.starts_with('$') && name_ == "php");
    std::string_view line = tokens[i].text;
    if (!by_value || !begins_a_command(line)) return;
    judge_.raise(run_, "exec.inline", arg_.where);
    run_shell(std::string(line), true);
  }

  /// cp["execSync"]("…"), globals()["exec"]("…"): a member by its name.
  void member(const Tokens& tokens, std::size_t i, int depth) {
    const std::string& text = tokens[i].text;
    const bool module =
        is(tokens, i - 2, ")") && i > 4 && tokens[i - 3].kind == Token::Kind::string && is(tokens, i - 4, "(");
    const std::string owner = module                                    ? tokens[i - 3].text
                              : tokens[i - 2].kind == Token::Kind::name ? full_name(tokens, i - 2)
                                                                        : std::string();
    std::string_view what = find_call(language_, owner + "." + text);
    if (what.empty()) what = find_call(language_, "." + text);
    if (what.empty()) what = find_call(language_, text);
    if (!what.empty()) act(what, tokens, i + 1, depth);
  }

  /// awk runs and writes by strings alone: "cmd" | getline, print | "cmd", print > "file".
  void string_token(const Tokens& tokens, std::size_t i, int depth) {
    literal_path(tokens[i].text);
    seen_.start_name |= tokens[i].text.ends_with(".pth") || tokens[i].text.ends_with("sitecustomize.py") ||
                        tokens[i].text.ends_with("usercustomize.py");
    called_by_value(tokens, i);
    if (i > 1 && is(tokens, i - 1, "[") && is(tokens, i + 1, "]") && is(tokens, i + 2, "(")) member(tokens, i, depth);
    // $`…` of zx and Bun.
    if (name_ == "javascript" && i > 0 && (is(tokens, i - 1, "$") || tokens[i - 1].text.ends_with(".$")))
      run_shell(tokens[i].text, !tokens[i].unknown);
    // set output '|sh' of gnuplot
    if (name_ == "generic" && tokens[i].text.size() > 1 && tokens[i].text[0] == '|' && i > 0 &&
        is(tokens, i - 1, "output")) {
      judge_.raise(run_, "exec.inline", arg_.where);
      run_shell(tokens[i].text.substr(1), true);
    }
    if (name_ == "awk" && i > 0 && tokens[i - 1].text == "@include") include(tokens[i].text);
    if (name_ == "java" && is(tokens, i + 1, ".") && is(tokens, i + 2, "!")) run_shell(tokens[i].text, true);
    if (name_ == "javascript" && i >= 1 && tokens[i].text.starts_with("http") &&
        (is(tokens, i - 1, "import") || is(tokens, i - 1, "from") || (i >= 2 && is(tokens, i - 2, "import"))))
      judge_.raise(run_, "net.run", arg_.where);
    if (name_ != "awk") return;
    const bool from = i >= 1 && is(tokens, i - 1, "|");
    const bool into = is(tokens, i + 1, "|") && is(tokens, i + 2, "getline");
    const bool coprocess = i >= 2 && is(tokens, i - 1, "&") && is(tokens, i - 2, "|");
    if (tokens[i].text.starts_with("/inet/")) {
      judge_.raise(run_, "net.reverse_shell", arg_.where);
      return;
    }
    if (from || into || coprocess) {
      if (!from || !only_filters(tokens[i].text)) judge_.raise(run_, "exec.inline", arg_.where);
      run_shell(tokens[i].text, !tokens[i].unknown);
      return;
    }
    if (i >= 1 && is(tokens, i - 1, ">") && i >= 2 && tokens[i - 2].text != "(") {
      std::size_t back = i;
      bool printed = false;
      while (back > 0 && !is(tokens, back, ";") && !is(tokens, back, "{")) {
        printed |= is(tokens, back, "print") || is(tokens, back, "printf");
        --back;
      }
      printed |= back == 0 && (is(tokens, 0, "print") || is(tokens, 0, "printf"));
      if (printed) judge_.writes(run_, path_arg(tokens[i].text, true));
    }
    if (i >= 1 && is(tokens, i - 1, "<")) judge_.reads(run_, path_arg(tokens[i].text, true), false);
  }

  /// print | "sort -k2": what awk is ever so often told to sort or to show elsewhere.
  static bool only_filters(std::string_view command) {
    const std::string_view program = command.substr(0, command.find(' '));
    const bool aside = command == "cat 1>&2" || command == "cat >&2" || command == "cat > /dev/stderr";
    return aside || ((program == "sort" || program == "uniq" || program == "column" || program == "wc" ||
                      program == "head" || program == "tail") &&
                     command.find_first_of("><|;&`$(") == std::string_view::npos);
  }

  /// print > name: something is written, whatever the name turns out to be.
  void awk_output(const Tokens& tokens, std::size_t i) {
    int depth = 0;
    for (std::size_t k = i + 1; k < tokens.size() && k < i + 60; ++k) {
      if (is(tokens, k, "(")) ++depth;
      if (is(tokens, k, ")")) --depth;
      if (is(tokens, k, ";") || is(tokens, k, "}")) return;
      if (depth == 0 && is(tokens, k, ">")) {
        judge_.at_least(run_, Risk::normal);
        return;
      }
      // print | cmd: what it is called is in a variable.
      const bool pipe = depth == 0 && is(tokens, k, "|") && !is(tokens, k - 1, "|") && !is(tokens, k + 1, "|");
      if (pipe && k + 1 < tokens.size() && tokens[k + 1].kind == Token::Kind::name)
        judge_.raise(run_, "exec.inline", arg_.where);
    }
  }

  /// A path that names a credential store or a startup file counts wherever it stands: how it reaches the call that
  /// opens it (joined, expanded, in a list) cannot be followed here.
  void literal_path(const std::string& written) {
    const std::string text = homeward(written.substr(std::min(written.find_first_not_of("<>"), written.size())));
    if (text.size() < 4 || text.size() > 200 || text.find_first_of(" \n\t(){}<>;,") != std::string::npos) return;
    const bool pathlike = text.find('/') != std::string::npos || text[0] == '.' || text[0] == '~';
    if (!pathlike || text.find("://") != std::string::npos) return;
    // "/.aws/credentials" is the tail of a joined path.
    const Place place = judge_.locate(run_, text.starts_with("/.")                                  ? "~" + text
                                            : text[0] == '.' && text.find('/') == std::string::npos ? "~/" + text
                                                                                                    : text);
    if (place.credential) {
      seen_.secret = true;
      judge_.raise(run_, "secret.read", arg_.where);
    }
    if (place.persistent) seen_.startup_file = true;
    if (place.guarded) judge_.raise(run_, "guard.touched", arg_.where);
  }

  /// builtins.readFile /home/me/.ssh/id_rsa: in Nix and others a path needs no quotes.
  void bare_paths(std::string_view text) {
    constexpr std::string_view ends = " \t\n\"'(){}[];,";
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find_first_of(ends, at), text.size());
      const std::string_view word = text.substr(at, end - at);
      if ((word.starts_with('/') || word.starts_with("~/")) && word.find('/', 2) != std::string_view::npos)
        literal_path(std::string(word));
      at = end + 1;
    }
  }

  void act(std::string_view what, const Tokens& tokens, std::size_t i, int depth) {
    Arguments args = arguments_of(name_, tokens, i + 1);
    const bool literal = !args.strings.empty() && args.literal[0] && !args.unknown;
    const bool certain =
        literal && std::all_of(args.literal.begin(), args.literal.end(), [](bool each) { return each; });
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
      judge_.raise(run_,
                   args.setid      ? "perm.setid"
                   : args.everyone ? "perm.everyone"
                                   : "perm.change_inline",
                   arg_.where);
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

  /// f"git log {n}", "git log {}".format(n), " ".join(["git", "log"]): a text with something done to it.
  void run_python_text(const Tokens& tokens, Arguments args) {
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
  bool one_of(const Tokens& tokens, Arguments args) {
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

  /// Is the argument that begins there a literal, and nothing else?
  static bool stated(const Tokens& tokens, std::size_t at) {
    if (at + 1 < tokens.size() && tokens[at].kind == Token::Kind::name && tokens[at].text.size() == 1) ++at;  // f"…"
    if (at >= tokens.size() || tokens[at].kind != Token::Kind::string || tokens[at].unknown) return false;
    return at + 1 >= tokens.size() || is(tokens, at + 1, ")") || is(tokens, at + 1, ",") || is(tokens, at + 1, ";") ||
           tokens[at + 1].kind == Token::Kind::line_end;
  }

  /// getattr(os, "system")("…"): a name like any other, when it is stated.
  void attribute(const Tokens& tokens, const Arguments& args, int depth) {
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
    std::string_view what =
        plain ? find_call(language_, full_name(tokens, args.begin) + "." + name) : std::string_view{};
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

  bool fetches(const Tokens& tokens, const Arguments& args) const {
    for (std::size_t i = args.begin; i < std::min(args.end, tokens.size()); ++i) {
      if (tokens[i].kind == Token::Kind::name && find_call(language_, full_name(tokens, i)) == "network") return true;
    }
    return false;
  }

  /// os.walk(expanduser("~")), Path.home().rglob(…): harmless for names, not for what the files hold.
  void walk(const Arguments& args, const Tokens& tokens, std::size_t i) {
    bool home = args.home;
    for (std::size_t back = i; back > 0 && back + 12 > i && tokens[back].kind != Token::Kind::line_end; --back)
      home |= tokens[back - 1].text.ends_with("Path.home") || tokens[back - 1].text.ends_with("Dir.home");
    bool wanted = false;
    for (const std::string& each : args.deep) {
      const bool tree = each == "~" || each == "/" || each.find('/') != std::string::npos;
      home |= tree && judge_.locate(run_, each).holds_secrets;
      wanted |= judge_.locate(run_, "~/" + each).credential;
    }
    seen_.walks_home |= home;
    if (home && wanted) judge_.raise(run_, "secret.search", arg_.where);
  }

  void include(const std::string& path) {
    // include "data://text/plain,<?php …"
    if (path.starts_with("data:") || path.starts_with("php://") || path.starts_with("phar://"))
      judge_.raise(run_, "dynamic.code", arg_.where);
    if (path.find('/') == std::string::npos) return;
    read_path(path);
    const Place place = judge_.locate(run_, path);
    if (place.area == Area::temporary || place.area == Area::outside || place.area == Area::home)
      judge_.raise(run_, "exec.outside_code", arg_.where);
  }

  void read_path(const std::string& path) {
    if (path.starts_with("http://") || path.starts_with("https://")) {
      seen_.network = true;
      judge_.at_least(run_, Risk::normal);
      judge_.reaches(run_, path_arg(path, true), host_of(path));
      return;
    }
    const bool before = run_.out.secret;
    run_.out.secret = false;
    judge_.reads(run_, path_arg(path, true), false);
    seen_.secret |= run_.out.secret || run_.out.suspect;
    run_.out.secret |= before;
  }

  void open(Arguments args) {
    // perl names a handle first: open F, "|sh"
    while (name_ == "perl" && args.strings.size() > 1 && !args.literal[0]) {
      args.strings.erase(args.strings.begin());
      args.literal.erase(args.literal.begin());
    }
    seen_.reads = true;
    seen_.writes |= name_ == "perl" && !args.strings.empty() && args.strings[0].starts_with('>');
    if (args.strings.empty() || !args.literal[0] || args.strings[0].empty()) {
      if (args.strings.size() > 1 && args.strings[1].size() <= 3 &&
          args.strings[1].find_first_of("wax+") != std::string::npos) {
        seen_.writes = true;
        judge_.at_least(run_, Risk::normal);
      }
      return;
    }
    std::string path = args.strings[0];
    std::string mode = args.strings.size() > 1 ? args.strings[1] : "";
    if (name_ == "perl" || name_ == "ruby") {
      // perl: open(F, ">x"), open(F, "cmd|"), open(F, ">", "x"), open(F, "-|", "cmd"); ruby: open("|cmd")
      if (path.starts_with('|') || path.ends_with('|')) {
        std::string command = path;
        std::erase(command, '|');
        judge_.raise(run_, "exec.inline_run", arg_.where);
        // What is printed into a shell is code.
        if (path.starts_with('|') &&
            (command == "sh" || command == "bash" || command.ends_with("/sh") || command.ends_with("/bash")))
          judge_.raise(run_, "dynamic.stdin", arg_.where);
        if (!command.empty() && command != "-")
          run_shell(command, true);
        else if (args.strings.size() > 1)
          run_shell(args.strings[1], args.literal[1]);
        return;
      }
      if (path.find("&") != std::string::npos) {
        seen_.shell_io = true;
        return;
      }
      if (path.starts_with('>')) {
        std::erase(path, '>');
        if (path.empty() && args.strings.size() > 1) path = args.strings[1];
        if (!path.empty()) judge_.writes(run_, path_arg(path, true));
        return;
      }
      if (path == "<" && args.strings.size() > 1) path = args.strings[1];
    }
    if (mode.size() <= 3 && mode.find_first_of("wax+") != std::string::npos) {
      seen_.writes = true;
      seen_.written.push_back(path);
      judge_.writes(run_, path_arg(path, true));
    } else
      read_path(path);
  }

  void network(const Arguments& args, bool sends) {
    seen_.network = true;
    seen_.sends |= sends;
    judge_.at_least(run_, Risk::normal);
    for (const std::string& text : args.strings) {
      if (text.find("://") != std::string::npos) judge_.reaches(run_, path_arg(text, true), host_of(text));
    }
    // fetch(…, {method: "DELETE"})
    for (const std::string& text : args.deep) {
      if (text == "DELETE" && !run_.local_only) judge_.raise(run_, "net.deletes", arg_.where);
      sends |= text == "POST" || text == "PUT" || text == "PATCH";
    }
    if (sends && !run_.local_only) judge_.raise(run_, "net.sends", arg_.where);
    // urlretrieve("https://…", "x"): from here on x holds what came.
    const bool saves = args.strings.size() > 1 && args.literal[0] && args.literal[1] &&
                       args.strings[0].find("://") != std::string::npos && !args.strings[1].empty();
    if (saves && !sends) judge_.mark_file(judge_.locate(run_, args.strings[1]).path, Flow{.network = true});
  }

  void evaluate(const Arguments& args, bool literal, int depth) {
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

  Judge& judge_;
  Run& run_;
  std::uint8_t language_;
  std::string_view name_;
  const Arg& arg_;
  Seen seen_;
  int evaluations_ = 0;
  std::map<std::string, std::string> alias_;
  std::map<std::string, std::string_view> helpers_;  // functions of the code that run what they are given
  std::set<std::size_t> inside_helper_;              // where they do
  std::map<std::string, std::vector<std::vector<std::string>>> choices_;
  std::vector<std::string> whole_modules_;  // from M import *
};

}  // namespace

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
