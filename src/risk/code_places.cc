// Files and hosts that inline code names: what it reads, writes, walks over and reaches.
#include "risk/code_judge.h"

#include <algorithm>

namespace cordon::risk {

Arg CodeJudge::path_arg(const std::string& text, bool literal) {
  Arg arg = judge_.synthetic(text.empty() && !literal ? std::string("$value") : homeward(text), arg_);
  arg.known = literal;
  arg.wildcard = text.find_first_of("*?") != std::string::npos;
  arg.flow = {};
  return arg;
}

/// A path that names a credential store or a startup file counts wherever it stands: how it reaches the call that
/// opens it (joined, expanded, in a list) cannot be followed here.
void CodeJudge::writes_to(const std::string& path) {
  const bool told = told_.contains(judge_.locate(run_, path).path);
  judge_.writes(run_, path_arg(path, true), told ? Judge::Text::told : Judge::Text::unknown);
}

void CodeJudge::literal_path(const std::string& written) {
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
void CodeJudge::bare_paths(std::string_view text) {
  constexpr std::string_view ends = " \t\n\"'(){}[];,";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(ends, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if ((word.starts_with('/') || word.starts_with("~/")) && word.find('/', 2) != std::string_view::npos)
      literal_path(std::string(word));
    at = end + 1;
  }
}

/// os.walk(expanduser("~")), Path.home().rglob(…): harmless for names, not for what the files hold.
void CodeJudge::walk(const Arguments& args, const Tokens& tokens, std::size_t i) {
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

void CodeJudge::include(const std::string& path) {
  // include "data://text/plain,<?php …"
  if (path.starts_with("data:") || path.starts_with("php://") || path.starts_with("phar://"))
    judge_.raise(run_, "dynamic.code", arg_.where);
  if (path.find('/') == std::string::npos) return;
  read_path(path);
  const Place place = judge_.locate(run_, path);
  if (place.area == Area::temporary || place.area == Area::outside || place.area == Area::home)
    judge_.raise(run_, "exec.outside_code", arg_.where);
}

void CodeJudge::read_path(const std::string& path) {
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

void CodeJudge::open(Arguments args) {
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
      if (!path.empty()) writes_to(path);
      return;
    }
    if (path == "<" && args.strings.size() > 1) path = args.strings[1];
  }
  if (mode.size() <= 3 && mode.find_first_of("wax+") != std::string::npos) {
    seen_.writes = true;
    seen_.written.push_back(path);
    writes_to(path);
  } else
    read_path(path);
}

void CodeJudge::network(const Arguments& args, bool sends) {
  seen_.network = true;
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

}  // namespace cordon::risk
