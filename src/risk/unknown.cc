// What can be said of a program that no row describes, and of options that no row names: what they are called, what
// they are handed, and whether they are there at all.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "risk/judge.h"

namespace cordon::risk {

namespace {

namespace fs = std::filesystem;

bool is_shell_like(std::string_view name) {
  const Node* program = find_program(name);
  return program != nullptr && program->base.has(Mark::stdin_code);
}

/// Code that the machine itself runs, whoever loads it.
bool is_library(std::string_view path) {
  for (std::string_view ending : {".so", ".dylib", ".dll", ".jar", ".node", ".ko"}) {
    if (path.ends_with(ending)) return true;
  }
  return path.find(".so.") != std::string_view::npos;
}

std::string_view bare_name(std::string_view option) {
  return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '.'; }

}  // namespace

bool begins_a_command(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of("!|: ");
  const bool escaped =
      begin != std::string_view::npos && text.substr(0, begin).find_first_of("!|") != std::string_view::npos;
  const std::string_view line = escaped ? text.substr(begin) : text;
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || blank == 0) return false;
  const std::string_view name = line.substr(0, blank);
  const std::string_view next = line.substr(blank + 1);
  const bool shell = is_shell_like(name.substr(name.rfind('/') + 1));
  const bool begins = shell ? next.starts_with("-c") || next.starts_with("-e") : listed("carried_program", name);
  if (begins) text = line;
  return begins;
}

namespace {

/// real-time-protection, --disable-firewall, off: the parts of a word, and what they say.
struct Protection {
  bool noun = false, off = false;

  void word(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of("-_:=."), text.size());
      noun |= listed("protection_noun", text.substr(0, end));
      off |= listed("off_word", text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
};

}  // namespace

/// mdatp config real-time-protection --value disabled: a tool that no row names, told to protect no longer.
void Judge::unprotects(Run& run, std::string_view name) {
  Protection said;
  said.noun = listed("protection", name);
  for (const Arg& word : run.words.subspan(1)) said.word(word.text);
  if (said.noun && said.off) raise(run, "protection.off", run.where);
}

void Judge::unknown_program(Run& run, std::string_view name) {
  // ^rm of nushell, &rm of PowerShell, e:rm of elvish: marks of other shells before a program's name.
  std::string_view bare = name.substr(std::min(name.find_first_not_of("^&%"), name.size()));
  if (bare.starts_with("e:")) bare.remove_prefix(2);
  if (bare != name && find_program(bare)) {
    known_program(run, *find_program(bare));
    return;
  }
  unprotects(run, name);
  effect(Effect::Kind::runs, name);
  if (run.words.size() == 2 && (run.words[1].text == "--version" || run.words[1].text == "--help") &&
      run.words[0].text.find('/') == std::string_view::npos)
    return;
  look_up(run, name);
  runs_fetched(run);
  // A filter that no row names may let everything through.
  run.out |= Flow{.network = run.in.flow.network,
                  .secret = run.in.flow.secret,
                  .suspect = run.in.flow.suspect,
                  .decoded = run.in.flow.decoded};
  verbs(run, run.words.subspan(1));
  // somevault secrets get x, sometool show-password
  bool asks = false, secret = listed("password_store", name);
  std::size_t seen = 0;
  for (const Arg& arg : run.words.subspan(1)) {
    if (arg.text.starts_with('-') || arg.text.find('/') != std::string_view::npos) continue;
    if (++seen > 3) break;
    for (std::string_view rest = arg.text; !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of(":-_."), rest.size());
      asks |= listed("verb_reveals", rest.substr(0, end));
      secret |= listed("secret_noun", rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (asks && secret) raise(run, "secret.service", run.where);
  // kafka-delete-records.sh, aws-nuke: a name that says what it does.
  if (run.words[0].text.find('/') == std::string_view::npos && name.find('-') != std::string_view::npos &&
      verb_risk(name) == Risk::dangerous)
    raise(run, "program.destructive_verb", run.words[0].where);
  for (const Arg& arg : run.words.subspan(1)) {
    std::string_view text = arg.text;
    if (const std::size_t equals = text.find('='); text.starts_with('-') && equals != std::string_view::npos)
      text.remove_prefix(equals + 1);
    if (text.starts_with('-') || text.empty()) continue;
    if (text.find('/') == std::string_view::npos && text[0] != '.' && text[0] != '~') continue;
    if (text.starts_with("file://")) text.remove_prefix(7);
    if (text.find("://") != std::string_view::npos) continue;
    const Place place = locate(run, text);
    if (place.credential) {
      Arg path = arg;
      path.text = text;
      reads(run, path, false);
    }
    if (place.guarded) raise(run, "guard.touched", arg.where);
    if (place.area == Area::device) raise(run, "disk.device_argument", arg.where);
    if (place.persistent && &arg == &run.words.back() && run.words.size() > 2) writes(run, arg);
    if (is_library(text) && place.area == Area::temporary) raise(run, "exec.library", arg.where);
  }
  may_carry(run);
  shell_escapes(run);
}

/// Says whether the program is there. One look for each name and directory of PATH.
void Judge::look_up(Run& run, std::string_view name) {
  const Span where = run.words[0].where;
  const bool plain = run.words[0].text.find('/') == std::string_view::npos;
  if (!context_.look_at_files || context_.search_path.empty() || run.frame.away || !plain) {
    raise(run, rule_named("program.unknown"), where, fmt::format(": {}", name));
    return;
  }
  auto [entry, fresh] = found_.try_emplace(std::string(name));
  if (fresh && found_.size() <= 64) {
    for (const std::string& directory : context_.search_path) {
      std::error_code trouble;
      const fs::file_status status = fs::status(fs::path(directory) / std::string(name), trouble);
      const bool runs = !trouble && status.type() == fs::file_type::regular &&
                        (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
      if (!runs) continue;
      entry->second = directory;
      break;
    }
  }
  if (entry->second)
    raise(run, rule_named("program.unknown"), where, fmt::format(": {} (in {})", name, *entry->second));
  else
    raise(run, rule_named("program.missing"), where, fmt::format(": {}", name));
}

/// multitime sh -c '…', pexec 'rm -rf x': a wrapper that no row names carries a command that one can see.
void Judge::may_carry(Run& run) {
  const std::span<const Arg> words = run.words;
  constexpr std::size_t reach = 8;
  // A program of the workspace, or one asked to check or explain, may well be about commands.
  bool about_commands =
      words[0].text.find('/') != std::string_view::npos && locate(run, words[0].text).area != Area::system;
  for (const Arg& word : words.subspan(1, std::min<std::size_t>(words.size() - 1, 3))) {
    for (std::string_view verb :
         {"check", "test", "explain", "classify", "lint", "parse", "analyze", "analyse", "scan", "search", "grep"})
      about_commands |= word.text == verb;
  }
  for (std::size_t i = 1; i < std::min(words.size(), reach); ++i) {
    std::string_view text = words[i].text;
    const bool option = text.starts_with('-');
    if (const std::size_t equals = text.find('='); option && equals != std::string_view::npos)
      text.remove_prefix(equals + 1);
    if (!about_commands && begins_a_command(text)) {
      shell_text(run, synthetic(std::string(text), words[i]), {});
      continue;
    }
    if (option || i + 1 >= words.size()) continue;
    const std::string_view name = text.substr(text.rfind('/') + 1);
    const std::string_view next = words[i + 1].text;
    const bool shell = is_shell_like(name) && (next.starts_with("-c") || next.starts_with("-e"));
    const bool grave = listed("carried_program", name) && (next.starts_with('-') || i > 1);
    if (!shell && !grave) continue;
    carry(run, words.subspan(i));
    return;
  }
  // NAMEsh -c TEXT: shells have names that end so.
  const std::string_view own = words[0].text.substr(words[0].text.rfind('/') + 1);
  if (own.ends_with("sh") && words.size() > 2 && words[1].text == "-c") shell_text(run, words[2], words.subspan(3));
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i].text != "-e") continue;
    if (const auto generic = language_named("generic")) run_code(run, *generic, words[i + 1]);
  }
  unnamed_options(run, about_commands);
}

/// Options that no row names still say by their own names, or by what they are given, that they run or load something.
void Judge::unnamed_options(Run& run, bool about_commands) {
  const Sorted& sorted = run.sorted;
  const Arg* end = !sorted.carried.empty() ? sorted.carried.data() : sorted.line.data();
  std::set<std::string_view> unnamed;
  for (const GivenOption& given : sorted.options) {
    if (!given.option) unnamed.insert(given.name);
  }
  for (std::size_t i = 1; i < run.words.size() && &run.words[i] != end; ++i) {
    const std::string_view word = run.words[i].text;
    if (word == "--") return;
    if (word.size() < 3 || word[0] != '-') continue;
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const bool glued = equals != std::string_view::npos;
    if (sorted.program && !unnamed.contains(name) && !is_glued(sorted, name, glued)) continue;
    Arg value;
    if (equals != std::string_view::npos)
      value = synthetic(std::string(word.substr(equals + 1)), run.words[i]);
    else if (i + 1 < run.words.size() && !run.words[i + 1].text.starts_with('-') && &run.words[i + 1] != end)
      value = run.words[i + 1];
    option_that_runs(run, name, value);
    if (!about_commands && !value.text.empty()) unnamed_option(run, name, value);
  }
}

bool Judge::is_glued(const Sorted& sorted, std::string_view name, bool glued) {
  // -pdflatex=x where the row expects letters.
  const bool word = glued || name.find('-', 1) != std::string_view::npos;
  if (!word || name.starts_with("--")) return false;
  return std::none_of(sorted.chain.begin(), sorted.chain.end(), [&](const Node* node) {
    const Option* letter = find_option(*node, name.substr(0, 2));
    return find_option(*node, name) || (letter && letter->spec.takes() != Role::none);
  });
}

void Judge::unnamed_option(Run& run, std::string_view name, const Arg& value) {
  const std::string_view bare = bare_name(name);
  if (listed("option_text", bare)) return;
  std::string_view command = value.text;
  if (begins_a_command(command)) {
    raise(run, "exec.option", value.where);
    shell_text(run, synthetic(std::string(command), value), {});
    return;
  }
  if (listed("option_code", bare)) {
    if (const auto generic = language_named("generic")) run_code(run, *generic, value);
    return;
  }
  if (listed("option_command", bare)) {
    if (value.known) shell_text(run, value, {});
    return;
  }
  const bool pathlike = value.known && value.text.find('/') != std::string_view::npos;
  if (!pathlike || value.text.find("://") != std::string_view::npos) return;
  // Only a few options are meant to be given credentials.
  if (!listed("option_credential", bare) && !run.frame.away && locate(run, value.text).credential)
    reads(run, value, false);
  // msbuild's -p:NAME=FILE hands the build a file to include.
  const bool property = bare.starts_with("p:") || bare.starts_with("property:");
  const bool library = is_library(value.text) || (property && listed("code_file", value.text));
  if (!library && !listed("option_loads", bare)) return;
  const Place place = locate(run, value.text);
  if (place.area == Area::temporary || place.area == Area::outside || (library && place.area == Area::home))
    raise(run, library ? "exec.library" : "exec.outside_code", value.where);
}

/// opam exec -- rm -rf x, rvm 3.2 do rm -rf x: a tool that is no wrapper to the tables, but plainly carries a command.
void Judge::stray_command(Run& run) {
  const Sorted& sorted = run.sorted;
  if (sorted.node->base.level < static_cast<int>(Risk::normal) || !sorted.carried.empty() || !sorted.line.empty() ||
      !sorted.until.empty() || listed("names_only", sorted.program->name.view()))
    return;
  for (std::size_t i = 2; i + 1 < run.words.size(); ++i) {
    const std::string_view name = run.words[i].text;
    const std::string_view next = run.words[i + 1].text;
    if (!next.starts_with('-') || !listed("carried_program", name)) continue;
    const std::string_view before = run.words[i - 1].text;
    const bool announced = before == "--" || before == "exec" || before == "do" || before == "run" || before == "-e";
    const bool plain = name == "rm" && next.size() > 1 && next.find_first_not_of("-rRf") == std::string_view::npos;
    if (!announced && !plain) continue;
    carry(run, run.words.subspan(i));
    return;
  }
}

/// Words to which the tables give no meaning may be files all the same: espeak -f ~/.netrc, convert x.png ~/.bashrc.
void Judge::stray_paths(Run& run) {
  if (run.frame.away || run.sorted.marked(Mark::wrapper) || listed("names_only", run.sorted.program->name.view()))
    return;
  auto path_of = [&](const Arg& arg) -> std::optional<Place> {
    const bool pathlike = arg.known && arg.text.size() > 3 &&
                          arg.text.find_first_of(" \n:") == std::string_view::npos &&
                          (arg.text[0] == '~' || arg.text[0] == '/' || arg.text.starts_with("../"));
    return pathlike ? std::optional(locate(run, arg.text)) : std::nullopt;
  };
  for (const Operand& operand : run.sorted.operands) {
    if (operand.role.kind() != Role::none && operand.role.kind() != Role::data) continue;
    const std::optional<Place> place = path_of(operand.arg);
    if (!place) continue;
    const bool last = &operand == &run.sorted.operands.back();
    if (place->credential && (!place->persistent || !last)) reads(run, operand.arg, false);
    if (place->persistent && last && run.words.size() > 2) writes(run, operand.arg);
  }
  for (const GivenOption& given : run.sorted.options) {
    if (!given.has_value || (given.option && given.option->spec.takes() != Role::data)) continue;
    const std::string_view bare = bare_name(given.name);
    const std::optional<Place> place = path_of(given.value);
    if (place && place->credential && !place->persistent && !listed("option_credential", bare))
      reads(run, given.value, false);
    // -Dmaven.ext.class.path=/tmp/e.jar, -p:CustomTargets=/tmp/x.targets
    const std::string_view named = given.value.text.substr(given.value.text.rfind('=') + 1);
    if (named.size() == given.value.text.size() || !named.starts_with('/') || !listed("code_file", named)) continue;
    const Area area = locate(run, named).area;
    if (area == Area::temporary || area == Area::outside) raise(run, "exec.outside_code", given.value.where);
  }
}

/// node --env-file ~/.aws/credentials, docker build --secret id=x,src=~/.ssh/id_rsa: made for what belongs to the
/// project, and handed a file out of somebody's store.
void Judge::lent_stores(Run& run) {
  if (run.sorted.marked(Mark::wrapper)) return;
  for (const GivenOption& given : run.sorted.options) {
    if (!given.has_value || !given.value.known || !listed("option_lent", bare_name(given.name))) continue;
    std::string_view path = given.value.text;
    for (std::string_view key : {"src=", "source="}) {
      const std::size_t at = path.find(key);
      if (at == std::string_view::npos || (at > 0 && path[at - 1] != ',')) continue;
      path = path.substr(at + key.size());
      path = path.substr(0, path.find(','));
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos || slash == 0) continue;
    Run here;
    here.frame.directory = run.frame.directory;
    if (!locate(here, path).credential || !locate(here, path.substr(0, slash)).holds_secrets) continue;
    run.out.secret = true;
    raise(run, "secret.read", given.value.where);
  }
}

/// --pager=…, --rsh …, --shell-escape: what such options are given, or let the input say, is run.
void Judge::option_that_runs(Run& run, std::string_view name, const Arg& value) {
  if (!listed("option_runs", name)) return;
  for (std::string_view calm : {"cat", "less", "more", "never", "auto", "always", "off", "no", "false", "none", ""}) {
    if (value.known && value.text == calm && name.find("pager") != std::string_view::npos) return;
  }
  raise(run, "exec.option", value.where);
}

/// Programs with a prompt of their own: a line that begins with ! is handed to a shell.
void Judge::shell_escapes(Run& run) {
  std::string_view text = run.in.text                        ? std::string_view(*run.in.text)
                          : run.in.from == Stdin::From::text ? run.in.file.text
                                                             : std::string_view{};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (line.starts_with(' ') || line.starts_with(':') || line.starts_with('\\')) line.remove_prefix(1);
    if (line.starts_with("@exec ") || line.starts_with("shell ") || line.starts_with("^K!")) {
      raise(run, "exec.inline", run.where);
      return;
    }
    if (!line.starts_with('!')) continue;
    line.remove_prefix(1);
    while (line.starts_with(' ') || line.starts_with('!')) line.remove_prefix(1);
    if (line.empty() || !is_word(line[0])) continue;
    raise(run, "exec.inline", run.where);
    // It does not get the lines before it once more.
    const Stdin given = std::exchange(run.in, {});
    shell_text(run, synthetic(std::string(line), run.words[0]), {});
    run.in = given;
    return;
  }
}

}  // namespace cordon::risk
