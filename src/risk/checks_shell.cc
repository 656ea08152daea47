#include <algorithm>

#include "risk/checks.h"

namespace cordon::risk::checks {

namespace {

std::uint8_t script_language(const Run& run) {
  for (const rows::RoleRow& role : run.sorted.node->roles()) {
    if (role.kind() == Role::script) return role.language;
  }
  return 0;
}

Arg unknown_like(const Run& run, const Flow& flow) {
  Arg arg;
  arg.text = "$item";
  arg.known = false;
  arg.maybe_many = true;
  arg.flow = flow;
  arg.where = run.where;
  return arg;
}

/// sed -i d x, sed -i -e d x, sed -n -i '' x
bool sed_drops_all(const Sorted& sorted, bool script_is_operand) {
  if (script_is_operand) {
    const std::string_view script = sorted.operands[0].arg.text;
    return sed_leaves_nothing(script) || (sorted.has("-n") && script.empty());
  }
  return std::any_of(sorted.options.begin(), sorted.options.end(), [](const GivenOption& given) {
    return given.name == "-e" && given.has_value && sed_leaves_nothing(given.value.text);
  });
}

/// sed -i s/a/b/ x, where this script wrote x and nothing in a or b has a meaning of its own.
void substituted(Judge& judge, Run& run, std::string_view script, const Arg& file) {
  const std::string path = judge.locate(run, file.text).path;
  const std::string* known = judge.file_text(path);
  if (!known || script.size() < 4 || script[0] != 's' || !judge.may_copy(known->size())) return;
  const char mark = script[1];
  const std::size_t middle = script.find(mark, 2);
  const std::size_t end = middle == std::string_view::npos ? middle : script.find(mark, middle + 1);
  if (end == std::string_view::npos) return;
  const std::string_view from = script.substr(2, middle - 2), to = script.substr(middle + 1, end - middle - 1);
  if (from.empty() || from.find_first_of("\\[]*.^$+?(){}|") != std::string_view::npos ||
      to.find_first_of("\\&") != std::string_view::npos)
    return;
  std::string text = *known;
  constexpr std::size_t most = 1000;
  std::size_t at = 0;
  for (std::size_t n = 0; n < most && (at = text.find(from, at)) != std::string::npos; ++n) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  judge.write_text(path, text, false);
}

/// sed -i s#https://registry.npmjs.org/#http://x.example/# package-lock.json: where packages come from from now on.
void other_source(Judge& judge, Run& run, std::size_t first) {
  const auto& operands = run.sorted.operands;
  std::vector<std::string_view> scripts;
  if (first == 1) scripts.push_back(operands[0].arg.text);
  for (const GivenOption& given : run.sorted.options) {
    if (given.name == "-e" && given.has_value) scripts.push_back(given.value.text);
  }
  const bool locks = std::any_of(
      operands.begin() + static_cast<std::ptrdiff_t>(first), operands.end(),
      [](const Operand& each) { return listed("lock_file", each.arg.text.substr(each.arg.text.rfind('/') + 1)); });
  for (std::string_view script : scripts) {
    const std::size_t address = script.rfind("http");
    if (locks && address != std::string_view::npos && !listed("package_index", host_of(script.substr(address))))
      judge.raise(run, "supply.index", run.where);
  }
}

/// ruby -run -e rm -- -rf src: the code is the name of a utility, the operands are its own.
void shell_utilities(Judge& judge, Run& run, std::span<const Arg> operands) {
  const GivenOption* code = run.sorted.find("-e");
  if (!code || !code->has_value || code->value.text.find_first_of(" (;") != std::string_view::npos) return;
  std::vector<Arg> words{code->value.text == "httpd" ? judge.synthetic("http-server", code->value) : code->value};
  words.insert(words.end(), operands.begin(), operands.end());
  judge.carry(run, words);
}

}  // namespace

void interpreter(Judge& judge, Run& run) {
  const std::uint8_t language = script_language(run);
  const bool shell = language_name(language) == "shell";
  if (shell && run.sorted.has("-n") && !run.sorted.has("-c")) {
    run.level = Risk::safe;
    for (const Operand& operand : run.sorted.operands) judge.reads(run, operand.arg, false);
    run.judged = true;
    return;
  }
  std::vector<Arg> positional;
  for (const Operand& operand : run.sorted.operands) positional.push_back(operand.arg);
  bool code_given = false;
  run.options_judged = true;
  if (shell && run.sorted.has("-c")) {
    run.judged = true;
    // To a shell -c is a flag: the text is the first operand, wherever options end.
    const GivenOption* text = run.sorted.find("-c");
    if (text->has_value)
      judge.shell_text(run, text->value, positional);
    else if (!positional.empty())
      judge.shell_text(run, positional[0], std::span<const Arg>(positional).subspan(1));
    for (const GivenOption& given : run.sorted.options) {
      if (given.option && given.has_value) judge.apply(run, given.option->spec.takes(), 0, given.value);
    }
    return;
  }
  for (const GivenOption& given : run.sorted.options) {
    // ruby -c, node --check, php -l: read, not run.
    if (given.option && given.option->spec.replaces && given.option->spec.level == 0 && !given.has_value &&
        !positional.empty()) {
      run.judged = true;
      return;
    }
  }
  for (const GivenOption& given : run.sorted.options) {
    if (!given.option || !given.has_value) continue;
    const rows::Spec& spec = given.option->spec;
    if (spec.takes() == Role::code) {
      code_given = true;
      if (language_name(spec.language) == "shell")
        judge.shell_text(run, given.value, positional);
      else
        judge.run_code(run, spec.language, given.value);
    } else if (spec.takes() != Role::data && spec.takes() != Role::module) {
      code_given |= spec.takes() == Role::script;
      judge.apply(run, spec.takes(), spec.language, given.value);
    }
    if (spec.rule) judge.raise(run, rows::rule_rows[spec.rule], given.value.where);
  }
  run.judged = true;
  if (const GivenOption* loads = run.sorted.find("-r"); loads && loads->has_value && loads->value.text == "un") {
    shell_utilities(judge, run, positional);
    return;
  }
  if (run.sorted.find("-m") && run.sorted.find("-m")->option &&
      run.sorted.find("-m")->option->spec.takes() == Role::module) {
    run_module(judge, run);
    return;
  }
  if (code_given && (run.sorted.has("-n") || run.sorted.has("-p")) && language_name(language) == "ruby") {
    for (const Arg& file : positional) judge.reads(run, file, false);
  }
  if (code_given) {
    // A shell whose output leaves by a pipe is only of interest when somebody sits at the other end.
    return;
  }
  if (!positional.empty() && !run.sorted.has("-s")) {
    const std::string_view script = positional[0].text.substr(positional[0].text.rfind('/') + 1);
    const bool named = script == "artisan" || script == "manage.py" || script == "setup.py" ||
                       script == "composer.phar" || script == "console" || script == "yii";
    if (named && find_program(script)) {
      std::vector<Arg> call = positional;
      call[0] = judge.synthetic(std::string(script), positional[0]);
      judge.carry(run, call);
    }
    judge.run_script_file(run, positional[0], language);
    return;
  }
  if (run.sorted.has("-s") || positional.empty()) {
    if (run.in.from != Stdin::From::terminal)
      judge.run_stdin(run, language);
    else
      judge.at_least(run, Risk::normal);
    // find -exec sh: a bare shell handed over by another program.
    if (shell && run.frame.carried && run.in.from == Stdin::From::terminal && !run.frame.away)
      judge.raise(run, "exec.bare_shell", run.where);
    if (shell) run.out.shell = true;
  }
}

void run_module(Judge& judge, Run& run) {
  std::span<const Arg> words = run.sorted.carried;
  const GivenOption* module = run.sorted.find("-m");
  if (!module || !module->has_value) return;
  std::vector<Arg> call(words.begin(), words.end());
  if (call.empty() || call[0].text != module->value.text) call.insert(call.begin(), module->value);
  if (!module->value.known) {
    judge.raise(run, "dynamic.program", module->value.where);
    return;
  }
  const std::string name = "python:" + std::string(module->value.text);
  if (find_program(name))
    call[0] = judge.synthetic(name, call[0]);
  else if (!find_program(module->value.text)) {
    judge.at_least(run, Risk::normal);
    const Arg file = judge.synthetic(std::string(module->value.text) + ".py", module->value);
    const std::string path = judge.locate(run, file.text).path;
    if (judge.file_text(path) || judge.file_flow(path).network) judge.run_script_file(run, file, script_language(run));
    return;
  }
  judge.at_least(run, Risk::safe);
  run.level = Risk::safe;
  Frame frame = run.frame;
  frame.depth += 1;
  run.out |= judge.call(std::vector<Arg>(call), frame, run.in, run.where);
}

void arguments_from_input(Judge& judge, Run& run) {
  run.judged = true;
  run.options_judged = true;
  const GivenOption* at_once = run.sorted.find("-P");
  const bool unlimited =
      at_once && at_once->has_value && (at_once->value.text == "0" || at_once->value.text.size() > 3);
  if (run.in.flow.endless || (run.in.flow.many && unlimited)) judge.raise(run, "process.endless", run.where);
  Flow flow = run.in.flow;
  for (const GivenOption& given : run.sorted.options) {
    if (given.name == "-a" && given.has_value) judge.reads(run, given.value, false);
  }
  std::string_view replaced;
  if (const GivenOption* given = run.sorted.find("-I"))
    replaced = given->has_value ? given->value.text : std::string_view("{}");
  if (run.sorted.has("-i") && replaced.empty()) replaced = "{}";
  if (run.sorted.carried.empty()) return;
  judge.mark_variable("CORDON_ITEM", flow);
  std::vector<Arg> words;
  bool used = false;
  for (const Arg& word : run.sorted.carried) {
    Arg copy = word;
    if (!replaced.empty() && word.text.find(replaced) != std::string_view::npos) {
      used = true;
      copy.known = false;
      copy.word = nullptr;
      copy.flow |= flow;
      copy.maybe_many = true;
      const bool part_of_text = word.text.size() > replaced.size() && word.text.find(' ') != std::string_view::npos;
      // An item in the middle of shell text is code; anywhere else it is an operand.
      std::string text(word.text);
      const std::size_t at = text.find(replaced);
      text.replace(at, replaced.size(), "${CORDON_ITEM}");
      copy.known = part_of_text;
      copy.text = judge.keep(text);
    }
    words.push_back(copy);
  }
  // echo .env | xargs cat: the items are known.
  const std::string_view text = run.in.text                        ? std::string_view(*run.in.text)
                                : run.in.from == Stdin::From::text ? run.in.file.text
                                                                   : std::string_view{};
  constexpr std::size_t most_items = 64;
  std::size_t items = 0;
  for (std::size_t at = 0; !used && at < text.size() && items < most_items; ++items) {
    const std::size_t begin = text.find_first_not_of(std::string_view(" \t\n\0", 4), at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(std::string_view(" \t\n\0", 4), begin), text.size());
    Arg item = judge.synthetic(std::string(text.substr(begin, at - begin)), run.words[0]);
    item.flow = flow;
    item.word = nullptr;
    words.push_back(item);
  }
  if (!used && items == 0) words.push_back(unknown_like(run, flow));
  run.in.from = Stdin::From::terminal;
  run.in.text = nullptr;
  Flow from = run.in.flow;
  run.in.flow = {};
  judge.carry(run, words);
  run.out |= Flow{.network = from.network, .secret = from.secret, .suspect = from.suspect};
}

void set_environment(Judge& judge, Run& run) {
  run.judged = true;
  run.options_judged = true;
  for (const Operand& operand : run.sorted.operands) judge.apply(run, Role::assign, 0, operand.arg);
  if (const GivenOption* split = run.sorted.find("-S"); split && split->has_value) {
    // env -S splits without a shell, but what it runs is in the text all the same.
    std::string line(split->value.text);
    for (const Arg& word : run.sorted.carried) {
      line += ' ';
      line += word.text;
    }
    Arg text = judge.synthetic(line, split->value);
    text.word = nullptr;
    text.known = split->value.known;
    if (run.uncoverable.empty()) run.uncoverable = "Splits a text into a command";
    judge.shell_text(run, text, {});
    return;
  }
  if (const GivenOption* directory = run.sorted.find("-C"); directory && directory->has_value) {
    run.frame.directory = judge.locate(run, directory->value.text).path;
  }
  if (!run.sorted.carried.empty()) {
    judge.carry(run, run.sorted.carried);
    return;
  }
  run.out.secret = true;
}

void evaluate(Judge& judge, Run& run) {
  run.judged = true;
  // timeout 5 eval TEXT: no shell reads the text first, but whoever wrote it meant it to run.
  if (run.frame.carried && run.words.size() > 1) judge.shell_line(run, run.words.subspan(1));
  bool network = false, unknown = false;
  for (const Arg& word : run.words.subspan(1)) {
    network |= word.flow.network;
    unknown |= !word.known && !word.wildcard;
  }
  if (network)
    judge.raise(run, "net.run", run.where);
  else if (unknown)
    judge.raise(run, "dynamic.eval", run.where);
}

void source(Judge& judge, Run& run) {
  run.judged = true;
  if (run.sorted.operands.empty()) {
    // fish reads its input then; bash refuses.
    if (run.in.from == Stdin::From::pipe)
      judge.raise(run, run.in.flow.network ? "net.run" : "dynamic.stdin", run.where);
    return;
  }
  judge.run_script_file(run, run.sorted.operands[0].arg, 0);
}

void parallel(Judge& judge, Run& run) {
  run.judged = true;
  if (run.sorted.has("--dry-run")) return;
  if (run.in.flow.endless) judge.raise(run, "process.endless", run.where);
  std::vector<Arg> words;
  bool listed = false;
  Flow flow = run.in.flow;
  for (const Arg& word : run.sorted.carried) {
    if (word.text.starts_with(":::")) {
      listed = true;
      break;
    }
    words.push_back(word);
  }
  if (words.empty()) {
    // Each item is a command line.
    if (flow.network)
      judge.raise(run, "net.run", run.where);
    else if (listed) {
      for (const Arg& word : run.sorted.carried) {
        if (word.text == "::::") {
          judge.raise(run, "dynamic.stdin", word.where);
          break;
        }
        if (!word.text.starts_with(":::")) judge.shell_text(run, word, {});
      }
    } else {
      judge.raise(run, "dynamic.stdin", run.where);
    }
    return;
  }
  Stdin before = std::exchange(run.in, Stdin{});
  bool used = false;
  for (const Arg& word : words)
    used |= word.text.find('{') != std::string_view::npos && word.text.find('}') != std::string_view::npos;
  if (words.size() == 1 && words[0].text.find(' ') != std::string_view::npos) {
    judge.shell_text(run, words[0], {});
  } else {
    if (!used) words.push_back(unknown_like(run, flow));
    for (Arg& word : words) {
      if (word.text == "{}") {
        word.known = false;
        word.flow |= flow;
      }
    }
    judge.carry(run, words);
  }
  run.in = before;
}

void elevate(Judge& judge, Run& run) {
  if (run.sorted.carried.empty() && run.sorted.operands.empty() && !run.sorted.has("-l") && !run.sorted.has("-v") &&
      !run.sorted.has("-k"))
    judge.raise(run, "privilege.shell", run.where);
}

/// sed, awk, jq, perl-like filters: the first operand is the script unless an option gave one.
void filter_script(Judge& judge, Run& run) {
  bool given_script = false;
  for (const GivenOption& given : run.sorted.options) {
    if (!given.option || !given.has_value) continue;
    const Role role = given.option->spec.takes();
    given_script |= role == Role::code || role == Role::script;
    if (role == Role::script) {
      const Place place = judge.locate(run, given.value.text);
      if ((place.area == Area::temporary && !judge.is_whole(place.path)) || place.area == Area::outside)
        judge.raise(run, "exec.outside_code", given.value.where);
      if (given.value.flow.network || judge.file_flow(place.path).network ||
          (given.value.text == "-" && run.in.flow.network))
        judge.raise(run, "net.run", given.value.where);
      const std::string* text = judge.file_text(place.path);
      if (given.value.text == "-" || given.value.text == "/dev/stdin")
        judge.run_stdin(run, given.option->spec.language);
      else if (text)
        judge.run_written(run, given.value.text, *text, given.option->spec.language, given.value);
    }
  }
  std::size_t first = 0;
  const std::uint8_t language =
      run.sorted.node->roles().empty() ? std::uint8_t{0} : run.sorted.node->roles()[0].language;
  if (!given_script && !run.sorted.operands.empty()) {
    judge.run_code(run, language, run.sorted.operands[0].arg);
    first = 1;
  }
  const bool edits = run.sorted.has("-i") && language_name(language) != "jq";
  const bool by_awk = language_name(language) == "awk" && first == 1;
  const bool nothing_left =
      edits && ((language_name(language) == "sed" && sed_drops_all(run.sorted, first == 1)) ||
                (by_awk && run.sorted.operands[0].arg.known && awk_leaves_nothing(run.sorted.operands[0].arg.text)));
  if (edits) judge.at_least(run, Risk::normal);
  if (edits) other_source(judge, run, first);
  for (std::size_t i = first; i < run.sorted.operands.size(); ++i) {
    const Arg& arg = run.sorted.operands[i].arg;
    if (language_name(language) == "awk" && arg.text.find('=') != std::string_view::npos &&
        arg.text.find('/') == std::string_view::npos)
      continue;
    if (nothing_left) judge.empties(run, arg, Emptied::is_there);
    if (edits) {
      judge.writes(run, arg);
      if (first == 1 && language_name(language) == "sed") substituted(judge, run, run.sorted.operands[0].arg.text, arg);
    } else
      judge.reads(run, arg, false);
  }
  run.sorted.operands.clear();
  for (GivenOption& given : run.sorted.options) {
    if (given.option && given.option->spec.takes() == Role::script) given.has_value = false;
  }
}

/// npx, bunx, pnpm dlx, uvx: a package from the registry that runs at once.
void package_runner(Judge& judge, Run& run) {
  std::span<const Arg> words = run.sorted.carried;
  for (const GivenOption& given : run.sorted.options) {
    if (given.name == "-p" && given.has_value) judge.apply(run, Role::package, 0, given.value);
  }
  if (words.empty()) return;
  run.judged = true;
  std::string_view name = words[0].text;
  if (!words[0].known) {
    judge.raise(run, words[0].flow.network ? "net.run" : "dynamic.program", words[0].where);
    return;
  }
  if (name.find("://") != std::string_view::npos || name.starts_with("git+") || name.starts_with("github:") ||
      name.ends_with(".tgz")) {
    judge.raise(run, "net.run_package", words[0].where);
    return;
  }
  if (std::count(name.begin(), name.end(), '/') == 1 && !name.starts_with('@') && !name.starts_with('.'))
    judge.raise(run, "supply.git", words[0].where);
  std::string_view bare = name;
  if (const std::size_t at = bare.find('@', 1); at != std::string_view::npos) bare = bare.substr(0, at);
  if (const std::size_t slash = bare.rfind('/'); bare.starts_with('@') && slash != std::string_view::npos) {
    // @angular/cli is ng, @nestjs/cli is nest …: known by the scope's name where the tables say so.
    if (!find_program(bare)) bare = bare.substr(slash + 1);
  }
  const std::string installed = judge.locate(run, "node_modules/.bin/" + std::string(bare)).path;
  if (const std::string* text = judge.file_text(installed); text && judge.picks_up(installed))
    judge.run_written(run, bare, std::string(*text), 0, words[0]);
  const Node* known = find_program(bare);
  if (!known) {
    std::vector<Arg> rest(words.begin() + 1, words.end());
    std::size_t seen = 0;
    for (const Arg& arg : rest) {
      if (arg.text.starts_with('-')) continue;
      if (++seen > 2) break;
      if (verb_risk(arg.text) == Risk::dangerous) judge.raise(run, "program.destructive_verb", arg.where);
    }
    return;
  }
  std::vector<Arg> call(words.begin(), words.end());
  call[0] = judge.synthetic(std::string(bare), words[0]);
  // npx takes a tool's level but not less than ordinary: it may fetch it first.
  judge.carry(run, call);
}

/// make deploy, npm run publish: the name of a task is all that is known of it.
void task_runner(Judge& judge, Run& run) {
  if (run.sorted.has("-n") || run.sorted.has("--dry-run")) return;
  for (const Arg& word : run.words) {
    if (word.text == "--dry-run") return;
  }
  for (const Operand& operand : run.sorted.operands) {
    const std::string_view name = operand.arg.text;
    for (std::string_view grave : {"deploy", "publish", "release", "destroy", "drop", "uninstall", "nuke", "wipe",
                                   "teardown", "provision", "rollback"}) {
      const std::size_t at = name.find(grave);
      if (at == std::string_view::npos || name.find('=') != std::string_view::npos ||
          name.find('/') != std::string_view::npos)
        continue;
      const bool whole = (at == 0 || name[at - 1] == ':' || name[at - 1] == '-' || name[at - 1] == '_') &&
                         (at + grave.size() == name.size() || name[at + grave.size()] == ':' ||
                          name[at + grave.size()] == '-' || name[at + grave.size()] == '_');
      if (whole && name.find("test") == std::string_view::npos && name.find("dry") == std::string_view::npos &&
          name.find("build") == std::string_view::npos && name.find("mock") == std::string_view::npos &&
          name.find("local") == std::string_view::npos && name.find("check") == std::string_view::npos)
        judge.raise(run, "program.task", operand.arg.where);
    }
    break;
  }
}

}  // namespace cordon::risk::checks
