// Files that inline code writes, and modules that it loads: what one program of a script leaves for the next.
#include <algorithm>
#include <utility>

#include "risk/arguments.h"

namespace cordon::risk {

namespace {

using Tokens = std::vector<Token>;

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view each) { return name.ends_with(each); });
}

/// The text that a call is given after `skip` literals; nothing when a part of it is not a literal.
std::string text_given(const Arguments& args, std::size_t skip) {
  std::string text;
  for (std::size_t i = skip; i < args.deep.size(); ++i) text += args.deep[i];
  return text;
}

/// Text that an encoding hides is code that nobody has read.
bool decodes(const Tokens& tokens, const Arguments& args) {
  for (std::size_t i = args.begin; i < std::min(args.end, tokens.size()); ++i) {
    if (tokens[i].kind != Token::Kind::name) continue;
    if (ends_with_any(tokens[i].text, {"decode", "fromhex", "unhexlify", "decompress", "atob", "unpack", "decode64"}))
      return true;
  }
  return false;
}

class Files {
 public:
  Files(Judge& judge, Run& run, std::string_view language, const Tokens& tokens, const Arg& arg)
      : judge_(judge), run_(run), language_(language), tokens_(tokens), arg_(arg) {}

  void note() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == Token::Kind::name) name(i);
      if (tokens_[i].kind == Token::Kind::string && i > 1 && is_token(tokens_, i - 1, "=")) package_script(i);
      if (tokens_[i].text.ends_with("scripts") && is_token(tokens_, i + 1, "=") && is_token(tokens_, i + 2, "{"))
        package_scripts(i);
    }
  }

  std::set<std::string> told() { return std::move(told_); }

 private:
  void name(std::size_t i) {
    const std::string_view name = tokens_[i].text;
    if (ends_with_any(name, {"open", "Path"}))
      opened(i);
    else if (ends_with_any(name, {"writeFileSync", "writeFile", "appendFileSync", "File.write", "IO.write",
                                  "file_put_contents", "writeTextFileSync", "writeTextFile", "Bun.write"}))
      whole(i);
    else if (ends_with_any(name, {"write", "write_text", "puts", "writelines", "print", "console.log", "echo", "say"}))
      written(i);
    else if (name == "import" || name == "from" || name == "require" || name == "require_relative" || name == "load")
      loaded(i);
  }

  /// p.scripts = {...p.scripts, prepare: "…"}
  void package_scripts(std::size_t i) {
    for (std::size_t k = i + 3; k + 1 < tokens_.size() && k < i + 60 && !is_token(tokens_, k, "}"); ++k) {
      if (tokens_[k].kind != Token::Kind::string || !is_token(tokens_, k - 1, ":")) continue;
      judge_.package_script(run_, tokens_[k - 2].text, tokens_[k].text, arg_);
    }
  }

  /// .scripts.postinstall = "…", p["scripts"]["test"] = "…": what npm will find, by whatever way it gets there.
  void package_script(std::size_t i) {
    std::string script;
    std::size_t owner = i - 2;
    if (is_token(tokens_, i - 2, "]") && i > 4 && tokens_[i - 3].kind == Token::Kind::string) {
      script = tokens_[i - 3].text;
      owner = i - 5;
      const bool quoted = is_token(tokens_, owner, "]") && owner > 0 && tokens_[owner - 1].text == "scripts";
      if (!quoted && !tokens_[owner].text.ends_with("scripts")) return;
    } else {
      const std::string& name = tokens_[owner].text;
      const std::size_t at = name.find("scripts.");
      if (tokens_[owner].kind != Token::Kind::name || at == std::string::npos || (at > 0 && name[at - 1] != '.'))
        return;
      script = name.substr(at + 8);
    }
    judge_.package_script(run_, script, tokens_[i].text, arg_);
  }

  void opened(std::size_t i) {
    Arguments args = arguments_of(language_, tokens_, i + 1);
    if (language_ == "perl" && args.strings.size() > 1 && !args.literal[0]) {  // a handle comes first
      args.strings.erase(args.strings.begin());
      args.literal.erase(args.literal.begin());
    }
    if (args.strings.empty()) return;
    if (!args.literal[0]) {
      if (for_writing(args) && is_dropped(i, args.end)) emptied_if_found();
      return;
    }
    path_ = args.strings[0];
    if (path_ == ">" || path_ == ">>" || path_ == "+>") path_ = args.strings.size() > 1 ? args.strings[1] : "";
    while (path_.starts_with('>')) path_.erase(0, 1);
    appends_ = args.strings.size() > 1 && args.strings[1].starts_with('a');
    if (for_writing(args) && is_dropped(i, args.end)) emptied(path_);
  }

  static bool for_writing(const Arguments& args) {
    const bool mode = args.strings.size() > 1 && args.literal[1] && args.strings[1].starts_with('w');
    return mode || (args.strings[0].starts_with('>') && !args.strings[0].starts_with(">>"));
  }

  /// open("x", "w").close(), with open("x", "w"): pass; where a handle has a name, whatever knows it may write to it.
  bool is_dropped(std::size_t open, std::size_t close) {
    if (open > 0 && is_token(tokens_, open - 1, "=")) return false;
    std::size_t next = is_token(tokens_, close, ")") ? close + 1 : close;
    const bool statement =
        next >= tokens_.size() || tokens_[next].kind == Token::Kind::line_end || is_token(tokens_, next, ";");
    if (statement) return !prints();
    if (is_token(tokens_, next, "as")) next += 2;
    if (is_token(tokens_, next, ":") && is_token(tokens_, next + 1, "pass")) return true;
    const bool method = is_token(tokens_, next, ".") || is_token(tokens_, next, ":");
    return method && (is_token(tokens_, next + 1, "close") || is_token(tokens_, next + 1, "truncate"));
  }

  /// Perl's handles are names that any print may use. Asked once: code may open many files.
  bool prints() {
    if (!prints_) {
      prints_ = std::any_of(tokens_.begin(), tokens_.end(), [](const Token& token) {
        return token.kind == Token::Kind::name &&
               ends_with_any(token.text, {"print", "printf", "say", "write", "puts"});
      });
    }
    return *prints_;
  }

  void emptied(const std::string& path) {
    if (path.empty()) return;
    Arg file = judge_.synthetic(homeward(path), arg_);
    file.known = true;
    file.wildcard = file.maybe_many = false;
    judge_.empties(run_, file, Emptied::may_be_new);
  }

  /// for f in glob("src/*.py"): open(f, "w").close(): which file it is, is open; that a search found it is not.
  void emptied_if_found() {
    if (!searches_) {
      searches_ = std::any_of(tokens_.begin(), tokens_.end(), [](const Token& token) {
        return token.kind == Token::Kind::name &&
               ends_with_any(token.text, {"Dir", "glob", "globSync", "walk", "readdir", "readdirSync", "listdir",
                                          "scandir", "iterdir", "Dir.children", "Dir.entries", "Find.find"});
      });
    }
    if (!*searches_) return;
    Arg file = judge_.synthetic("$found", arg_);
    file.known = false;
    file.flow.found = true;
    judge_.empties(run_, file, Emptied::is_there);
  }

  /// write(""), write_text(''): one literal, and nothing in it.
  static bool is_nothing(const Arguments& args, std::size_t skip) {
    return !args.unknown && args.strings.size() == skip + 1 && args.deep.size() == skip + 1 && args.literal[skip] &&
           args.deep[skip].empty();
  }

  void whole(std::size_t i) {
    const Arguments args = arguments_of(language_, tokens_, i + 1);
    const bool ends_in_nothing = !args.deep.empty() && !args.strings.empty() && args.deep.back().empty() &&
                                 args.strings.back().empty() && args.literal.back();
    const bool some_file = args.unknown || args.strings.empty() || !args.literal[0];
    if (ends_in_nothing && some_file) emptied_if_found();
    if (args.deep.empty() || args.strings.empty() || !args.literal[0]) return;
    if (is_nothing(args, 1) && tokens_[i].text.find("append") == std::string::npos) emptied(args.deep[0]);
    keep(args.deep[0], text_given(args, 1), tokens_[i].text.find("append") != std::string::npos,
         decodes(tokens_, args));
  }

  void written(std::size_t i) {
    const Arguments args = arguments_of(language_, tokens_, i + 1);
    const bool whole_file = ends_with_any(tokens_[i].text, {"write", "write_text"});
    if (ends_with_any(tokens_[i].text, {"write_text"}) && is_nothing(args, 0)) emptied_if_found();
    if (path_.empty() && !args.deep.empty()) judge_.prints(text_given(args, 0));
    if (path_.empty()) return;
    if (whole_file && !appends_ && is_nothing(args, 0)) emptied(path_);
    if (whole_file && args.deep.empty()) pieces(path_);
    keep(path_, text_given(args, 0), appends_, decodes(tokens_, args));
    appends_ = true;
  }

  /// s = s.replace("test:", "test:\n\tcurl … | sh"); open("Makefile", "w").write(s): what is written is not known, but
  /// which texts of the code may be in it is. Only those count that look like commands.
  void pieces(const std::string& path) {
    if (pieced_) return;
    pieced_ = true;
    std::string text;
    for (const Token& token : tokens_) {
      if (token.kind != Token::Kind::string || token.unknown) continue;
      for (std::string_view command : {"curl ", "wget ", "rm -", "| sh", "|sh", "| bash"}) {
        if (token.text.find(command) == std::string::npos) continue;
        text += token.text + "\n";
        break;
      }
    }
    // A target that only deletes is not the first of its makefile.
    const bool fetches = text.find("curl ") != std::string::npos || text.find("wget ") != std::string::npos;
    if (!fetches && !text.empty()) text = "all:\n" + text;
    keep(path, text, true, false);
  }

  void keep(const std::string& path, const std::string& text, bool append, bool hidden) {
    if (path.empty() || path.find("://") != std::string::npos) return;
    if (!hidden && text.empty()) return;
    const std::string place = judge_.locate(run_, path).path;
    if (hidden)
      judge_.mark_file(place, Flow{.decoded = true});
    else
      judge_.write_text(place, text, append);
    told_.insert(place);
  }

  /// import x · require("./x"): a file that this script wrote.
  void loaded(std::size_t i) {
    if ((!judge_.has_written() && !judge_.has_fetched()) || !run_.frame.directory) return;
    const std::size_t next = i + 1 + (is_token(tokens_, i + 1, "(") ? 1 : 0);
    if (next >= tokens_.size()) return;
    std::string module = tokens_[next].text;
    if (language_ == "python") std::replace(module.begin(), module.end(), '.', '/');
    for (std::string_view ending :
         {"", ".py", ".js", ".cjs", ".mjs", ".ts", ".rb", ".php", ".lua", "/__init__.py", "/index.js"}) {
      const std::string path = absolute(module + std::string(ending), *run_.frame.directory);
      if (judge_.file_flow(path).network) judge_.raise(run_, "net.download_run", arg_.where);
      const std::string* text = judge_.file_text(path);
      if (!text || !judge_.picks_up(path)) continue;
      // Of a module only what stands outside its functions surely runs; which part that is, is not told apart here.
      const bool certain = std::exchange(run_.only_certain, true);
      judge_.run_written(run_, path, *text, *language_named(language_), arg_);
      run_.only_certain = certain;
      return;
    }
  }

  Judge& judge_;
  Run& run_;
  std::string_view language_;
  const Tokens& tokens_;
  const Arg& arg_;
  std::string path_;
  bool appends_ = false;
  bool pieced_ = false;
  std::optional<bool> prints_;
  std::optional<bool> searches_;
  std::set<std::string> told_;
};

}  // namespace

std::vector<std::string> joined_paths(std::string_view language, const Tokens& tokens) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    std::string path;
    if (tokens[i].kind == Token::Kind::name && ends_with_any(tokens[i].text, {"join", "Join", "resolve", "joinpath"})) {
      const Arguments args = arguments_of(language, tokens, i + 1);
      for (const std::string& part : args.deep) path += part.starts_with('~') ? "" : "/" + part;
    }
    const bool chain = tokens[i].kind == Token::Kind::string &&
                       !(i > 1 && is_token(tokens, i - 1, "/") && tokens[i - 2].kind == Token::Kind::string);
    for (std::size_t k = i; chain && k + 2 < tokens.size() && is_token(tokens, k + 1, "/"); k += 2) {
      if (tokens[k + 2].kind != Token::Kind::string) break;
      path += (k == i ? "/" + tokens[k].text : "") + "/" + tokens[k + 2].text;
    }
    if (!path.empty()) paths.push_back(std::move(path));
  }
  return paths;
}

std::string homeward(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || (text[0] != '$' && !text.starts_with("#{"))) return text;
  const std::string_view before = std::string_view(text).substr(0, slash);
  const bool home = before.find("HOME") != std::string_view::npos || before.find("home") != std::string_view::npos;
  return home ? "~" + text.substr(slash) : text;
}

std::set<std::string> note_files(Judge& judge, Run& run, std::string_view language, const Tokens& tokens,
                                 const Arg& arg) {
  if (run.frame.away) return {};
  Files files(judge, run, language, tokens, arg);
  files.note();
  return files.told();
}

}  // namespace cordon::risk
