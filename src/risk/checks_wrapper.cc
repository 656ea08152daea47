// Programs that carry another command in a way of their own.
#include <algorithm>

#include "risk/checks.h"

namespace cordon::risk::checks {

/// fd -x: like find -exec, but the placeholder is added when it is not written.
void found_operands(Judge& judge, Run& run) {
  if (run.sorted.carried.empty()) return;
  std::vector<Arg> words;
  bool used = false;
  Flow found;
  found.found = true;
  for (const Operand& operand : run.sorted.operands)
    found.secret_names |= judge.locate(run, judge.keep("~/.ssh/" + std::string(operand.arg.text))).credential &&
                          judge.locate(run, judge.keep("~/" + std::string(operand.arg.text))).credential;
  for (const Arg& word : run.sorted.carried) {
    if (word.text == ";" || word.text == "\\;") break;
    Arg copy = word;
    if (word.text.find('{') != std::string_view::npos && word.text.find('}') != std::string_view::npos) {
      copy.known = false;
      copy.flow |= found;
      used = true;
    }
    words.push_back(copy);
  }
  if (!used) {
    Arg item;
    item.flow = found;
    item.text = "$item";
    item.known = false;
    item.where = run.where;
    words.push_back(item);
  }
  run.sorted.carried = {};
  judge.carry(run, words);
}

/// grep: with -e or -f every operand is a file; rg --files has no pattern.
void pattern_operands(Judge& judge, Run& run) {
  (void)judge;
  if (run.sorted.operands.empty()) return;
  if (run.sorted.has("-e") || run.sorted.has("-f") || run.sorted.has("--files")) {
    run.sorted.operands[0].role.role = static_cast<std::uint8_t>(Role::read);
  }
}

void after_dashes(Judge& judge, Run& run) {
  if (!run.sorted.dashes) return;
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    if (run.words[i].text != "--") continue;
    std::vector<Arg> words(run.words.begin() + static_cast<std::ptrdiff_t>(i) + 1, run.words.end());
    if (words.size() == 1)
      judge.shell_text(run, words[0], {});
    else
      judge.carry(run, words);
    run.judged = true;
    return;
  }
}

void shell_operands(Judge& judge, Run& run) {
  // tmux new rm -rf x: the words are one command.
  if (run.sorted.operands.size() > 1 && listed("carried_program", run.sorted.operands[0].arg.text)) {
    std::vector<Arg> words;
    for (const Operand& operand : run.sorted.operands) words.push_back(operand.arg);
    judge.carry(run, words);
  }
  for (const Operand& operand : run.sorted.operands) judge.shell_text(run, operand.arg, {});
  run.judged = true;
}

/// script >(nc …): all that is typed and shown goes there.
void recorded_session(Judge& judge, Run& run) {
  (void)judge;
  if (!run.sorted.has("-c")) run.out.shell = true;
}

void switch_user(Judge& judge, Run& run) {
  if (!run.sorted.has("-c") && !run.sorted.has("--session-command")) judge.raise(run, "privilege.shell", run.where);
}

void terminal_multiplexer(Judge& judge, Run& run) {
  for (const Operand& operand : run.sorted.operands) {
    if (operand.arg.text.find(' ') != std::string_view::npos) judge.shell_text(run, operand.arg, {});
  }
  run.judged = true;
}

void command_builtin(Judge& judge, Run& run) {
  (void)judge;
  if (run.sorted.has("-v") || run.sorted.has("-V")) run.judged = true;
}

void rerun_on_change(Judge& judge, Run& run) {
  if (!run.sorted.has("-s")) return;
  run.judged = true;
  if (!run.sorted.carried.empty()) judge.shell_text(run, run.sorted.carried[0], run.sorted.carried.subspan(1));
}

/// python3 -m venv /tmp/v
void makes_environment(Judge& judge, Run& run) {
  for (const Operand& operand : run.sorted.operands) {
    if (operand.arg.known) judge.make_environment(judge.locate(run, operand.arg.text).path);
  }
}

/// nvm exec 18 node x, pyenv exec python x, mise exec -- cmd
void version_manager(Judge& judge, Run& run) {
  std::span<const Arg> words = run.sorted.carried;
  const std::span<const Arg> all = words;
  // A version or a tool@version may stand first; an unknown program may stand alone.
  while (!words.empty() && !find_program(words[0].text) && words[0].text.find('/') == std::string_view::npos)
    words = words.subspan(1);
  if (words.empty() && !all.empty() && !all[0].known) words = all;
  judge.carry(run, words);
  run.judged = true;
}

/// uv run script.py, uv run pytest: a file of the workspace or a program.
void run_in_project(Judge& judge, Run& run) {
  if (const GivenOption* module = run.sorted.find("-m"); module && module->has_value) {
    run.judged = true;
    run_module(judge, run);
    return;
  }
  if (run.sorted.carried.empty()) return;
  const std::string_view name = run.sorted.carried[0].text;
  if (name == "-" || name == "/dev/stdin") {
    run.judged = true;
    judge.run_stdin(run, language_named("python").value_or(0));
    return;
  }
  if (!name.ends_with(".py") && name.find("://") == std::string_view::npos) return;
  run.judged = true;
  judge.run_script_file(run, run.sorted.carried[0], 0);
}

void npm_setting(Judge& judge, Run& run) {
  std::string_view key, value;
  if (!run.sorted.operands.empty()) {
    key = run.sorted.operands[0].arg.text;
    if (const std::size_t equals = key.find('='); equals != std::string_view::npos) {
      value = key.substr(equals + 1);
      key = key.substr(0, equals);
    } else if (run.sorted.operands.size() > 1) {
      value = run.sorted.operands[1].arg.text;
    }
  }
  if (key == "strict-ssl" || key == "enableStrictSsl") {
    if (value == "false") judge.raise(run, "protection.tls", run.where);
  } else if (key == "registry" || key.ends_with(":registry") || key == "npmRegistryServer" || key == "proxy" ||
             key == "https-proxy" || key == "cafile") {
    judge.raise(run, "supply.index", run.where);
  } else if (key == "script-shell" || key == "shell" || key == "node-options" || key == "git" || key == "editor" ||
             key == "viewer" || key == "prefix" || key == "globalconfig" || key == "userconfig" || key == "yarnPath" ||
             key == "init-module" || key == "onload-script") {
    judge.raise(run, "supply.setting", run.where);
  } else if (key.find("_auth") != std::string_view::npos || key.find("token") != std::string_view::npos ||
             key.find("password") != std::string_view::npos) {
    judge.raise(run, "secret.change", run.where);
  }
}

/// go run example.com/tool@latest fetches and runs it.
/// locate id_rsa: the names it prints are those of secrets.
void locate_names(Judge& judge, Run& run) {
  (void)judge;
  for (const Operand& operand : run.sorted.operands) {
    for (std::string_view part :
         {"id_rsa", "id_ed25519", ".pem", ".kdbx", "credentials", ".netrc", ".env", ".aws", "shadow"})
      run.out.secret_names |= operand.arg.text.find(part) != std::string_view::npos;
  }
}

void alias(Judge& judge, Run& run) {
  for (const Operand& operand : run.sorted.operands) {
    const std::size_t equals = operand.arg.text.find('=');
    if (equals == std::string_view::npos || !operand.arg.known) continue;
    judge.set_alias(operand.arg.text.substr(0, equals), operand.arg.text.substr(equals + 1));
  }
}

/// taskset -p 42 asks about a running process, taskset -p 1 42 changes it.
void of_process(Judge& judge, Run& run) {
  if (!run.sorted.has("-p")) return;
  const bool sets = std::any_of(run.sorted.options.begin(), run.sorted.options.end(), [](const GivenOption& given) {
    return given.has_value && given.name != "-p" && given.name != "-o";
  });
  if (!run.sorted.carried.empty() || sets) judge.raise(run, "exec.debugger", run.where);
  run.judged = true;
}

void go_package(Judge& judge, Run& run) {
  if (run.sorted.node->name.view() != "run") return;
  for (const Operand& operand : run.sorted.operands) {
    const std::string_view text = operand.arg.text;
    if (text.find('@') != std::string_view::npos && text.find('.') != std::string_view::npos)
      judge.raise(run, "supply.git", operand.arg.where);
    const bool piped = operand.arg.word && operand.arg.word->has(Piece::Kind::process_in);
    if (piped || text.ends_with(".go")) judge.run_script_file(run, operand.arg, 0);
    break;
  }
}

/// With -n or -p the operands are data; with -i they are edited.
/// ed, ftp, sftp, bc, m4: a line of the input may run a command.
void lines_that_run(Judge& judge, Run& run) {
  const std::string_view program = run.sorted.program->name.view();
  auto line = [&](std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    // 1,$!sort: lines of the text go through a command.
    const std::size_t after_range = text.find_first_not_of("0123456789,;.$%+-");
    if (program == "ed" || program == "vi") {
      if (after_range != std::string_view::npos && text[after_range] == '!') text.remove_prefix(after_range);
    }
    const bool bang =
        text.starts_with('!') || text.starts_with("e !") || text.starts_with("r !") || text.starts_with("w !");
    if (program != "m4" && bang) {
      judge.raise(run, "exec.inline", run.where);
      Arg inner;
      inner.text = judge.keep(std::string(text.substr(text.find('!') + 1)));
      inner.where = run.where;
      if (!inner.text.empty()) judge.shell_text(run, inner, {});
    }
    if ((program == "ed" || program == "vi") &&
        vim_deletes_all(text.starts_with(',') ? judge.keep("%" + std::string(text.substr(1))) : text)) {
      for (const Operand& operand : run.sorted.operands) judge.empties(run, operand.arg, Emptied::is_there);
    }
    if (program == "ed" && text.starts_with("w ") && !bang) {
      Arg path;
      path.text = judge.keep(std::string(text.substr(2)));
      path.where = run.where;
      judge.writes(run, path);
    }
    if (program == "m4" && text.find("syscmd(") != std::string_view::npos) judge.raise(run, "exec.inline", run.where);
    if (run.sorted.marked(Mark::net) && (text.starts_with("get ") || text.starts_with("mget "))) {
      const std::string_view name = text.substr(text.rfind(' ') + 1);
      judge.mark_file(judge.locate(run, name.substr(name.rfind('/') + 1)).path, Flow{.network = true});
    }
    if (run.sorted.marked(Mark::net) && (text.starts_with("put ") || text.starts_with("mput "))) {
      Arg path;
      const std::string_view rest = text.substr(text.find(' ') + 1);
      path.text = judge.keep(std::string(rest.substr(0, rest.find(' '))));
      path.where = run.where;
      judge.apply(run, Role::upload, 0, path);
    }
  };
  auto lines = [&](std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(run.sorted.marked(Mark::net) ? "\n;" : "\n"), text.size());
      line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  };
  for (const GivenOption& given : run.sorted.options) {
    if (given.has_value && (given.name == "-e" || given.name == "-D" || given.name == "-c")) lines(given.value.text);
  }
  if (program == "m4") {
    for (const Operand& operand : run.sorted.operands) {
      if (const std::string* text = judge.file_text(judge.locate(run, operand.arg.text).path))
        lines(std::string(*text));
    }
  }
  if (run.in.text)
    lines(*run.in.text);
  else if (run.in.from == Stdin::From::text)
    lines(run.in.file.text);
  else if (run.in.flow.network)
    judge.raise(run, "net.run", run.where);
}

void later_job(Judge& judge, Run& run) {
  const auto shell = language_named("shell");
  if (run.in.from != Stdin::From::terminal && shell) judge.run_stdin(run, *shell);
}

/// Sizes that no ordinary work needs.
void big_sizes(Judge& judge, Run& run) {
  auto bytes = [](std::string_view text) {
    double value = 0;
    std::size_t i = 0;
    while (i < text.size() && (text[i] < '0' || text[i] > '9')) ++i;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) value = value * 10 + (text[i] - '0');
    const char unit = i < text.size() ? static_cast<char>(text[i] | 32) : ' ';
    for (char each : std::string_view("kmgtpe")) {
      value *= unit == ' ' ? 1 : 1024;
      if (each == unit) return value;
    }
    return i < text.size() && std::string_view("kmgtpe").find(unit) == std::string_view::npos ? value / 1e18 : value;
  };
  constexpr double limit = 200e9;
  double size = 0, block = 512, count = -1;
  for (const GivenOption& given : run.sorted.options) {
    if (!given.has_value || !given.value.known) continue;
    if (given.name == "-l" || given.name == "-s" || given.name == "-c") size = std::max(size, bytes(given.value.text));
    if (given.name == "bs=") block = bytes(given.value.text);
    if (given.name == "count=") count = bytes(given.value.text);
  }
  if (count >= 0) size = std::max(size, block * count);
  if (size > limit) judge.raise(run, "system.fill", run.where);
  const GivenOption* from = run.sorted.find("if=");
  const GivenOption* to = run.sorted.find("of=");
  // dd if=/bin/rm of=x
  if (from && to && from->has_value && to->has_value) judge.rename_program(run, from->value, to->value);
  // dd of=x count=0 opens x and has nothing to put there.
  if (count == 0 && to && to->has_value && !run.sorted.has("seek=")) judge.empties(run, to->value, Emptied::may_be_new);
  // fallocate --punch-hole, --zero-range, --collapse-range
  const bool holes = run.sorted.has("-p") || run.sorted.has("-c");  // in what is there: neither makes a file
  if (holes || run.sorted.has("-z")) {
    for (const Operand& operand : run.sorted.operands) {
      if (operand.role.kind() != Role::write) continue;
      judge.empties(run, operand.arg, holes ? Emptied::is_there : Emptied::may_be_new);
    }
  }
  if (!from || !from->has_value) return;
  const bool source =
      from->value.text == "/dev/zero" || from->value.text == "/dev/urandom" || from->value.text == "/dev/random";
  if (!to || !to->has_value) return;
  const Place place = judge.locate(run, to->value.text);
  if (source && count < 0 && place.kept() && place.area != Area::device) judge.raise(run, "system.fill", run.where);
  if (source) judge.empties(run, to->value, Emptied::may_be_new);
  const GivenOption* how = run.sorted.find("conv=");
  // notrunc: written over, so it was there before.
  if (source && how && how->has_value && how->value.text.find("notrunc") != std::string_view::npos)
    judge.empties(run, to->value, Emptied::is_there);
}

/// Values of options that hold NAME=value, some of which load code.
void directory_listing_server(Judge& judge, Run& run) {
  for (const GivenOption& given : run.sorted.options) {
    if (given.has_value && (given.name == "-d" || given.name == "-t")) judge.reads(run, given.value, true);
  }
  // cd ~ && python3 -m http.server
  if (!run.sorted.has("-d") && !run.sorted.has("-t")) judge.reads(run, judge.synthetic(".", run.words[0]), true);
}

namespace {

/// perl -i -ne CODE: what the code does not print is gone.
bool prints_no_line(const Sorted& sorted) {
  return std::none_of(sorted.options.begin(), sorted.options.end(), [](const GivenOption& given) {
    const bool code = given.has_value && (given.name == "-e" || given.name == "-E");
    if (!code) return false;
    return !given.value.known || given.value.text.find("print") != std::string_view::npos ||
           given.value.text.find("say") != std::string_view::npos ||
           given.value.text.find("write") != std::string_view::npos;
  });
}

}  // namespace

void perl(Judge& judge, Run& run) {
  const bool loops = run.sorted.has("-n") || run.sorted.has("-p");
  const bool edits = run.sorted.has("-i");
  if (run.sorted.has("-c") && !run.sorted.has("-e")) {
    run.level = Risk::safe;
    run.judged = true;
    return;
  }
  const Risk before = run.level;
  interpreter(judge, run);
  for (const GivenOption& given : run.sorted.options) {
    if (given.name == "-M" && given.has_value && given.value.text.find("=") != std::string_view::npos &&
        given.value.text.find_first_of("(;{") != std::string_view::npos)
      judge.raise(run, "exec.library", given.value.where);
  }
  if (!run.sorted.has("-e") && !run.sorted.has("-E")) return;
  (void)before;
  if (!loops && !edits) return;
  const bool drops = edits && !run.sorted.has("-p") && prints_no_line(run.sorted);
  for (const Operand& operand : run.sorted.operands) {
    if (drops) judge.empties(run, operand.arg, Emptied::is_there);
    if (edits)
      judge.writes(run, operand.arg);
    else
      judge.reads(run, operand.arg, false);
  }
}

}  // namespace cordon::risk::checks
