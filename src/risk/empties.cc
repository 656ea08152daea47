// Files that lose all they hold, whatever does it: nothing is copied, printed or read into them.
#include <algorithm>

#include "risk/judge.h"

namespace cordon::risk {

namespace {

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

/// Its output is nothing: true > x, : > x, head -c0 y > x.
bool prints_nothing(const Command& command) {
  if (command.words.empty()) return true;
  const std::string name = command.words[0].text();
  if (name == ":" || name == "true" || name == "false") return true;
  return (name == "head" || name == "tail") && command.words.size() > 1 &&
         (command.words[1].text() == "-c0" || command.words[1].text() == "-n0" ||
          (command.words.size() > 2 && command.words[2].text() == "0" &&
           (command.words[1].text() == "-c" || command.words[1].text() == "-n")));
}

/// The words of a call that are read and written, by the roles that the tables give them.
struct Copying {
  bool reads = false;
  bool reads_something = false;
  std::vector<Arg> written;

  void add(Role role, const Arg& arg) {
    if (role == Role::read || role == Role::tree) {
      reads = true;
      reads_something |= arg.text != "/dev/null";
    } else if (role == Role::write) {
      written.push_back(arg);
    }
  }
};

}  // namespace

bool Judge::gets_nothing(const Run& run) {
  if (run.in.text) return is_blank(*run.in.text);
  if (run.in.from == Stdin::From::text) return run.in.file.known && is_blank(run.in.file.text);
  return run.in.from == Stdin::From::file && run.in.file.text == "/dev/null";
}

/// What is made again or is meant to be empty is no loss. A name that may be new is one only where it says that
/// somebody wrote the file.
void Judge::empties(Run& run, const Arg& arg, Emptied file) {
  const Place place = locate(run, arg.text);
  const bool here = place.area == Area::workspace && !run.frame.away;
  const std::string_view below = here && place.path.starts_with(context_.workspace)
                                     ? std::string_view(place.path).substr(context_.workspace.size())
                                     : std::string_view(place.path);
  if (here && listed("throwaway", below)) return;
  const bool lost = here && (file == Emptied::is_there || listed("work", below));
  if (arg.wildcard || arg.maybe_many || arg.flow.found || lost) raise(run, "fs.truncate", arg.where);
}

/// cp /dev/null x, sort -o x /dev/null, tee x < /dev/null
void Judge::copies_nothing(Run& run) {
  Copying seen;
  for (const Operand& operand : run.sorted.operands) seen.add(operand.role.kind(), operand.arg);
  for (const GivenOption& given : run.sorted.options) {
    if (given.option && given.has_value) seen.add(given.option->spec.takes(), given.value);
  }
  if (seen.written.empty() || seen.reads_something) return;
  const bool appends = run.sorted.has("-a") || run.sorted.has("--append");
  const bool input = listed("copies_input", run.sorted.program->name.view()) && gets_nothing(run) && !appends;
  if (!seen.reads && !input) return;
  for (const Arg& target : seen.written) empties(run, target, Emptied::may_be_new);
}

/// gunzip -c /dev/null, sed s/a/b/ /dev/null
bool Judge::prints_only_null(const Command& command) {
  if (command.words.size() < 2 || !listed("prints_operands", command.words[0].text())) return false;
  bool null = false;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string word = command.words[i].text();
    const bool file = word == "/dev/null";
    if (null && !file && !word.starts_with('-')) return false;
    null |= file;
  }
  return null;
}

bool Judge::says_nothing(const Run& run, const Command& command) {
  if (command.output) return is_blank(*command.output);
  if (command.words.size() == 1 && command.words[0].text() == "cat") return gets_nothing(run);
  if (prints_only_null(command)) return true;
  return command.kind != Command::Kind::compound && prints_nothing(command);
}

/// { echo title; echo; } > x: what a group prints is all that its commands print, and one of them is enough.
void Judge::note_filled(const Script& script, const Command& command) {
  if (command.kind == Command::Kind::compound || command.kind == Command::Kind::function) return;
  if (command.output ? is_blank(*command.output) : prints_nothing(command)) return;
  for (const Redirect& each : command.redirects) {
    if (each.fd != 1 && !each.also_stderr) continue;
    if (each.kind == Redirect::Kind::write && filled_.size() < 4096) filled_.emplace(&script, each.where.begin);
    return;  // the innermost takes it all
  }
}

/// A redirect that opens a file for a command which has nothing to put there, or reads what is gone by then.
void Judge::redirect_empties(Run& run, Arg target, const Redirect& redirect, const Streams& streams) {
  target.maybe_many = false;                    // a redirect has one target, or fails
  if (appended_.contains(target.text)) return;  // > x; … >> x: made anew, as `… > x` would
  const bool own = redirect.where.begin >= streams.command.begin && redirect.where.end <= streams.command.end;
  const bool filled = !own && filled_.contains({script_, redirect.where.begin});
  if (streams.silent && !filled) empties(run, target, Emptied::may_be_new);
  // sort x > x: the shell has emptied it before sort begins.
  if (target.known && streams.read.contains(target.text)) empties(run, target, Emptied::is_there);
}

bool sed_leaves_nothing(std::string_view script) {
  std::string bare;
  for (char c : script) {
    if (c != ' ' && c != '\t' && c != ';' && c != '\n' && c != '{' && c != '}') bare += c;
  }
  for (std::string_view all : {"d", "D", "1,$d", "1,$D", "0~1d", "1~1d", "Q", "1Q", "/.*/d", "/^/d", "/$/d", "/./d",
                               "s/.*//", "s/.*//g", "s/^.*$//", "z", "$!d$d", "1d2,$d"}) {
    if (bare == all) return true;
  }
  return false;
}

bool awk_leaves_nothing(std::string_view script) {
  std::string bare;
  for (char c : script) {
    if (c != ' ' && c != '\t' && c != ';' && c != '\n') bare += c;
  }
  for (std::string_view none : {"", "0", "!1", "\"\"", "{}", "{next}", "{exit}", "NR<0", "NR==0", "NR<1", "1==0",
                                "1{next}", "1{}", "BEGIN{exit}"}) {
    if (bare == none) return true;
  }
  return false;
}

bool vim_deletes_all(std::string_view command) {
  while (command.starts_with(':') || command.starts_with(' ')) command.remove_prefix(1);
  for (std::string_view range : {"%", "1,$", "0,$", "g/^/", "g/.*/", "g/./"}) {
    if (!command.starts_with(range)) continue;
    std::string_view verb = command.substr(range.size());
    while (verb.starts_with(' ')) verb.remove_prefix(1);
    verb = verb.substr(0, verb.find_first_of("|! _"));
    if (verb == "d" || verb == "de" || verb == "del" || verb == "delete") return true;
  }
  const bool keys = command.starts_with("norm");
  return keys && (command.find("ggdG") != std::string_view::npos || command.find("ggVGd") != std::string_view::npos ||
                  command.find(":%d") != std::string_view::npos);
}

}  // namespace cordon::risk
