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
    }
  }

 private:
  void name(std::size_t i) {
    const std::string_view name = tokens_[i].text;
    if (ends_with_any(name, {"open", "Path"}))
      opened(i);
    else if (ends_with_any(name, {"writeFileSync", "writeFile", "appendFileSync", "File.write", "IO.write",
                                  "file_put_contents", "writeTextFileSync", "writeTextFile", "Bun.write"}))
      whole(i);
    else if (ends_with_any(name, {"write", "write_text", "puts", "writelines", "print"}))
      written(i);
    else if (name == "import" || name == "from" || name == "require" || name == "require_relative" || name == "load")
      loaded(i);
  }

  void opened(std::size_t i) {
    const Arguments args = arguments_of(language_, tokens_, i + 1);
    if (args.strings.empty() || !args.literal[0]) return;
    path_ = args.strings[0];
    if (path_ == ">" || path_ == ">>" || path_ == "+>") path_ = args.strings.size() > 1 ? args.strings[1] : "";
    while (path_.starts_with('>')) path_.erase(0, 1);
    appends_ = args.strings.size() > 1 && args.strings[1].starts_with('a');
  }

  void whole(std::size_t i) {
    const Arguments args = arguments_of(language_, tokens_, i + 1);
    if (args.deep.empty() || args.strings.empty() || !args.literal[0]) return;
    keep(args.deep[0], text_given(args, 1), tokens_[i].text.find("append") != std::string::npos,
         decodes(tokens_, args));
  }

  void written(std::size_t i) {
    const Arguments args = arguments_of(language_, tokens_, i + 1);
    if (path_.empty()) return;
    keep(path_, text_given(args, 0), appends_, decodes(tokens_, args));
    appends_ = true;
  }

  void keep(const std::string& path, const std::string& text, bool append, bool hidden) {
    if (path.empty() || path.find("://") != std::string::npos) return;
    if (!hidden && text.empty()) return;
    const std::string place = judge_.locate(run_, path).path;
    if (hidden)
      judge_.mark_file(place, Flow{.decoded = true});
    else
      judge_.write_text(place, text, append);
  }

  /// import x · require("./x"): a file that this script wrote.
  void loaded(std::size_t i) {
    if (!judge_.has_written() || !run_.frame.directory) return;
    const std::size_t next = i + 1 + (is_token(tokens_, i + 1, "(") ? 1 : 0);
    if (next >= tokens_.size()) return;
    std::string module = tokens_[next].text;
    if (language_ == "python") std::replace(module.begin(), module.end(), '.', '/');
    for (std::string_view ending :
         {"", ".py", ".js", ".cjs", ".mjs", ".ts", ".rb", ".php", ".lua", "/__init__.py", "/index.js"}) {
      const std::string path = absolute(module + std::string(ending), *run_.frame.directory);
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

void note_files(Judge& judge, Run& run, std::string_view language, const Tokens& tokens, const Arg& arg) {
  if (!run.frame.away) Files(judge, run, language, tokens, arg).note();
}

}  // namespace cordon::risk
