// One call: which program it is, what its row in the tables says, what its options and operands make of it.
#include <algorithm>

#include "risk/judge.h"

namespace cordon::risk {

namespace {

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool one_number(std::string_view condition, std::size_t count) {
  const bool more = condition.ends_with('+');
  if (more) condition.remove_suffix(1);
  std::size_t wanted = 0;
  for (char c : condition) wanted = wanted * 10 + static_cast<std::size_t>(c - '0');
  return more ? count >= wanted : count == wanted;
}

}  // namespace

Risk verb_risk(std::string_view word) {
  Risk found = Risk::normal;
  std::size_t at = 0;
  bool first = true;
  while (at <= word.size()) {
    const std::size_t end = std::min(word.find_first_of(":-_.", at), word.size());
    const std::string_view part = word.substr(at, end - at);
    if (listed("verb_dangerous", part)) return Risk::dangerous;
    if (first && listed("verb_safe", part)) found = Risk::safe;
    first = false;
    at = end + 1;
  }
  return found;
}

/// "$pm" install, where branches before left pm as npm, yarn or pnpm: as grave as the gravest of them.
bool Judge::one_of_few(Run& run) {
  const Arg& name = run.words[0];
  if (!name.word || name.word->pieces.size() != 1 || name.word->pieces[0].one_of.empty()) return false;
  if (name.flow.any() || too_deep(run)) return false;
  const Piece& piece = name.word->pieces[0];
  at_least(run, Risk::normal);
  for (const std::string& value : piece.one_of) {
    std::vector<Arg>& words = lists_.emplace_back();
    for (std::size_t at = 0; at < value.size();) {
      const std::size_t end = piece.quoted ? value.size() : std::min(value.find(' ', at), value.size());
      if (end > at) words.push_back(synthetic(value.substr(at, end - at), name));
      if (end > at) words.back().known = true;
      if (end > at) words.back().maybe_many = false;
      at = end + 1;
    }
    words.insert(words.end(), run.words.begin() + 1, run.words.end());
    Frame frame = run.frame;
    frame.depth += 1;
    run.out |= call(words, frame, run.in, run.where);
  }
  return true;
}

/// node=$(command -v node); "$node" app.js: where the program was found, not which it is, is open.
std::string_view Judge::looked_up(const Arg& name) const {
  if (!name.word || !script_ || name.word->pieces.size() != 1 || name.word->pieces[0].from.size() != 1) return {};
  const std::uint32_t index = name.word->pieces[0].from[0];
  if (index >= script_->commands.size()) return {};
  const std::vector<Word>& words = script_->commands[index].words;
  if (words.size() < 2 || words.size() > 3 || !std::all_of(words.begin(), words.end(), [](const Word& word) {
        return word.pieces.size() == 1 && word.known();
      }))
    return {};
  const std::string_view program = words[0].pieces[0].text, found = words.back().pieces[0].text;
  // command -v names a function first, which would then be what runs.
  const bool functions = script_->text.find("()") != std::string::npos ||
                         script_->text.find("function") != std::string::npos ||
                         script_->text.find("eval") != std::string::npos;
  const bool asks = (program == "which" && words.size() == 2) ||
                    (program == "command" && words.size() == 3 && words[1].pieces[0].text == "-v" && !functions) ||
                    (program == "type" && words.size() == 3 && words[1].pieces[0].text == "-P");
  return asks && find_program(found) ? found : std::string_view{};
}

void Judge::unknown_name(Run& run) {
  const Arg& name = run.words[0];
  if (one_of_few(run)) return;
  if (const std::string_view found = looked_up(name); !found.empty()) {
    at_least(run, Risk::normal);
    judge_program(run, found);
    return;
  }
  if (name.flow.network || run.in.flow.network) {
    raise(run, "net.run", name.where);
    return;
  }
  raise(run, "dynamic.program", name.where);
  // /???/rm and "$DIR"/rm still say which program is meant.
  const std::size_t slash = name.text.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == name.text.size()) return;
  const std::string_view last = name.text.substr(slash + 1);
  if (last.find_first_of("*?[$`{") == std::string_view::npos && find_program(last)) judge_program(run, last);
}

void Judge::by_path(Run& run, std::string_view path) {
  const std::string_view name = last_part(path);
  const Place place = locate(run, path);
  analysis_.invocations[run.invocation].program = std::string(name);
  if (auto renamed = renamed_.find(place.path); renamed != renamed_.end()) {
    at_least(run, Risk::normal);
    judge_program(run, renamed->second);
    return;
  }
  const Flow carried = file_flow(place.path);
  if (carried.network || (place.area == Area::unknown && unknown_download()))
    raise(run, "net.download_run", run.words[0].where);
  else if (carried.fetched)
    raise(run, "exec.fetched", run.words[0].where);
  else if (carried.decoded && !file_text(place.path))
    raise(run, "dynamic.script", run.words[0].where);
  const bool tool_directory = place.path.find("/node_modules/.bin/") != std::string::npos ||
                              place.path.find("/venv/bin/") != std::string::npos ||
                              place.path.find("/.venv/bin/") != std::string::npos ||
                              place.path.find("/vendor/bin/") != std::string::npos;
  const std::size_t bin = place.path.rfind("/bin/");
  const bool environment = bin != std::string::npos && environments_.contains(place.path.substr(0, bin)) &&
                           !carried.network && !file_text(place.path);
  if (place.area == Area::system || listed("tool_directory", place.path) || tool_directory || environment ||
      run.frame.away) {
    judge_program(run, name);
    return;
  }
  effect(Effect::Kind::runs, place.path);
  if (place.area == Area::workspace || place.area == Area::unknown) {
    // ./ls is not ls: its name promises nothing, so it is never less than an ordinary program of the workspace.
    at_least(run, Risk::normal);
    if (const std::string* text = file_text(place.path)) {
      run.own_code = true;
      run_written(run, name, *text, 0, run.words[0], std::vector<Arg>(run.words.begin() + 1, run.words.end()));
      run.own_code = false;
    }
    run_compiled(run);
    if (find_program(name))
      judge_program(run, name);
    else
      unknown_program(run, name);
    return;
  }
  if (find_program(name)) judge_program(run, name);
  if (compiled_.contains(place.path)) {
    at_least(run, Risk::normal);
    run_compiled(run);
    return;
  }
  // cat > /tmp/x.sh <<E …; chmod +x /tmp/x.sh; /tmp/x.sh: as known as if it stood on the command line.
  if (const std::string* text = file_text(place.path); text && place.area == Area::temporary && is_whole(place.path)) {
    at_least(run, Risk::normal);
    run.own_code = true;
    run_written(run, name, std::string(*text), 0, run.words[0],
                std::vector<Arg>(run.words.begin() + 1, run.words.end()));
    run.own_code = false;
    return;
  }
  raise(run, place.area == Area::temporary ? "exec.temporary" : "exec.outside", run.words[0].where);
}

void Judge::rename_program(const Run& run, const Arg& from, const Arg& to) {
  const std::string path = locate(run, to.text).path;
  // ln -s "$(command -v rm)" list
  if (const std::string_view found = looked_up(from); !found.empty() && find_program(found)) {
    renamed_[path] = std::string(found);
    return;
  }
  const Place place = locate(run, from.text);
  auto known = renamed_.find(place.path);
  if (known != renamed_.end())
    renamed_[path] = known->second;
  else if (place.area == Area::system && find_program(last_part(place.path)))
    renamed_[path] = std::string(last_part(place.path));
}

void Judge::judge_program(Run& run, std::string_view name) {
  const Node* program = find_program(name);
  if (!program) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (lower != name) program = find_program(lower);
  }
  if (auto alias = aliases_.find(name); alias != aliases_.end() && !too_deep(run)) {
    // A shell that expands aliases runs this instead; whether this one does is not known here.
    std::string line = std::exchange(alias->second, {});
    if (!line.empty()) {
      std::string whole = line;
      for (const Arg& word : run.words.subspan(1)) whole += " " + std::string(word.text);
      shell_text(run, synthetic(std::move(whole), run.words[0]), {});
      aliases_[std::string(name)] = std::move(line);
    }
  }
  if (name.starts_with('!')) raise(run, "dynamic.program", run.words[0].where);
  if (path_changed_ && !written_.empty()) own_program(run, name);
  if (program)
    known_program(run, *program);
  else
    unknown_program(run, name);
}

/// echo 'rm -rf x' > bin/ls; PATH=$PWD/bin:$PATH; ls
void Judge::own_program(Run& run, std::string_view name) {
  if (run.words[0].text.find('/') != std::string_view::npos || run.frame.away) return;
  const std::string ending = "/" + std::string(name);
  std::vector<std::string> texts;  // a copy: what runs may write
  for (const auto& [path, text] : written_) {
    if (path.ends_with(ending) && picks_up(path)) texts.push_back(text);
  }
  for (const std::string& text : texts)
    run_written(run, name, text, 0, run.words[0], std::vector<Arg>(run.words.begin() + 1, run.words.end()));
}

void Judge::verbs(Run& run, std::span<const Arg> words) {
  std::size_t seen = 0;
  for (const Arg& arg : words) {
    if (arg.text.starts_with('-')) continue;
    if (++seen > 3) break;
    const bool file = arg.text.find('/') != std::string_view::npos || listed("file_name", arg.text);
    if (!file && verb_risk(arg.text) == Risk::dangerous) {
      raise(run, "program.destructive_verb", arg.where);
      return;
    }
  }
}

/// The same for a program whose options the tables know: their values are no verbs.
void Judge::operand_verbs(Run& run) {
  std::vector<Arg> words;
  for (const Operand& operand : run.sorted.operands) words.push_back(operand.arg);
  for (std::string_view text : run.sorted.chain_texts) {
    if (words.size() < 4 && text != run.words[0].text)
      words.insert(words.begin(), synthetic(std::string(text), run.words[0]));
  }
  verbs(run, words);
}

bool Judge::holds(const Run& run, std::string_view condition) const {
  std::size_t at = 0;
  while (at < condition.size()) {
    std::size_t end = std::min(condition.find(' ', at), condition.size());
    std::string_view token = condition.substr(at, end - at);
    at = end + 1;
    if (token.empty()) continue;
    const bool negated = token[0] == '!';
    if (negated) token.remove_prefix(1);
    bool is = false;
    const auto& operands = run.sorted.operands;
    if (token[0] == '#') {
      is = one_number(token.substr(1), operands.size());
    } else if (token[0] == '@') {
      is = std::any_of(operands.begin(), operands.end(),
                       [&](const Operand& o) { return matches(token.substr(1), o.arg.text); });
    } else if (token == "stdin") {
      is = run.in.from != Stdin::From::terminal;
    } else if (token == "fetched") {
      is = run.in.flow.network;
    } else if (const std::size_t equals = token.find('=');
               equals != std::string_view::npos && equals + 1 < token.size()) {
      const std::string_view name = token.substr(0, equals);
      is = std::any_of(run.sorted.options.begin(), run.sorted.options.end(), [&](const GivenOption& given) {
        std::string_view its = given.name;
        if (its.ends_with('=')) its.remove_suffix(1);  // make's NAME=
        return its == name && given.has_value && matches(token.substr(equals + 1), given.value.text);
      });
    } else if (token.find('*') != std::string_view::npos) {
      is = std::any_of(run.sorted.options.begin(), run.sorted.options.end(),
                       [&](const GivenOption& given) { return matches(token, given.name); });
    } else {
      is = run.sorted.has(token);
    }
    if (is == negated) return false;
  }
  return true;
}

/// The level of the call before anything raises it, and the rule that says it.
Risk Judge::base_level(Run& run, const Rule*& rule) {
  const rows::Spec* base = &run.sorted.node->base;
  const bool taken_back = takes_back(run);
  auto consider = [&](const rows::Spec& spec) {
    if (spec.replaces && !(taken_back && spec.level < run.sorted.node->base.level)) base = &spec;
  };
  for (const GivenOption& given : run.sorted.options) {
    if (given.option) consider(given.option->spec);
  }
  for (const rows::WhenRow& when : run.sorted.node->whens()) {
    if (when.spec.replaces && holds(run, when.condition.view())) consider(when.spec);
  }
  rule = base->rule ? &rows::rule_rows[base->rule] : nullptr;
  const bool verbs = rule && listed("question_lowers", rule->name.view());
  const bool options = rule && listed("question_option_lowers", rule->name.view());
  const bool grave = base->level >= static_cast<int>(Risk::critical);
  const bool shown = (run.rehearsal && !grave && (!rule || listed("rehearsal_lowers", rule->name.view()))) ||
                     (run.emulated && rule && rule->name.view().starts_with("cloud."));
  if (shown || ((verbs || options) && only_asks(run.sorted, verbs))) {
    rule = nullptr;
    return base->level == 0 ? Risk::safe : Risk::normal;
  }
  return base->level < 0 ? Risk::normal : static_cast<Risk>(base->level);
}

void Judge::known_program(Run& run, const Node& program) {
  run.sorted = sort_words(program, run.words);
  run.rehearsal = rehearses(run);
  run.emulated = is_emulated(run);
  const Sorted& sorted = run.sorted;
  std::string& shown = analysis_.invocations[run.invocation].program;
  if (shown.empty()) shown = std::string(last_part(run.words[0].text));
  if (asks_for_help(run)) return;
  if (!sorted.marked(Mark::wrapper)) effect(Effect::Kind::runs, shown);
  run.recursive = sorted.marked(Mark::recursive);
  const Rule* rule = nullptr;
  const Risk base = base_level(run, rule);
  if (rule) raise(run, *rule, run.where);
  at_least(run, base);
  for (const Node* node : sorted.chain)
    for (const rows::WhenRow& when : node->whens()) {
      if (when.spec.replaces || !holds(run, when.condition.view())) continue;
      if (when.spec.rule)
        raise(run, rows::rule_rows[when.spec.rule], run.where);
      else if (when.spec.level >= 0)
        at_least(run, static_cast<Risk>(when.spec.level));
      if (when.spec.has(Mark::recursive)) run.recursive = true;
      if (when.spec.has(Mark::environment)) run.out.secret = true;
      if (when.spec.has(Mark::endless)) run.out.endless = true;
    }
  const bool any_sub =
      sorted.chain.size() > 1 && sorted.node->name.view() == "*" && sorted.program->base.has(Mark::net);
  if ((!sorted.unknown_sub.empty() || any_sub) && base < Risk::dangerous) operand_verbs(run);
  // git $SUBCOMMAND: which of very different things will happen is not known.
  const bool chosen_later = !sorted.unknown_sub.empty() && !sorted.operands.empty() && !sorted.operands[0].arg.known &&
                            !sorted.operands[0].arg.wildcard;
  if (chosen_later && sorted.node->subs_exact > 3 && sorted.node->roles().empty())
    raise(run, "dynamic.program", sorted.operands[0].arg.where);
  const bool asks = std::any_of(run.words.begin() + 1, run.words.end(), [](const Arg& word) {
    return word.text == "search" || word.text == "info" || word.text == "explain" || word.text == "why";
  });
  if (sorted.node->base.has(Mark::net) && base == Risk::safe && sorted.chain.size() > 1 && !sorted.operands.empty() &&
      !asks && sorted.operands[0].arg.text != "deploy" && listed("verb_dangerous", sorted.operands[0].arg.text))
    raise(run, "program.destructive_verb", sorted.operands[0].arg.where);
  if (sorted.marked(Mark::elevate)) {
    run.frame.elevated = true;
    effect(Effect::Kind::privilege, shown);
    need(Need::Kind::elevation, shown);
  }
  if (sorted.marked(Mark::away)) run.frame.away = true;
  if (!sorted.marked(Mark::opaque) && !sorted.marked(Mark::wrapper)) {
    run.out |= Flow{.network = run.in.flow.network,
                    .secret = run.in.flow.secret,
                    .suspect = run.in.flow.suspect,
                    .endless = run.in.flow.endless,
                    .secret_names = run.in.flow.secret_names,
                    .decoded = run.in.flow.decoded,
                    .child = run.in.flow.child,
                    .many = run.in.flow.many,
                    .found = run.in.flow.found};
    for (const Arg& word : run.words)
      run.out |= Flow{.network = word.flow.network,
                      .secret = word.flow.secret,
                      .token = word.flow.token,
                      .suspect = word.flow.suspect,
                      .secret_names = word.flow.secret_names,
                      .child = word.flow.child};
  }
  if (sorted.marked(Mark::environment)) run.out.secret = true;
  if (sorted.marked(Mark::secret_out)) run.out.secret = true;
  if (sorted.marked(Mark::temporary)) run.out.temporary = true;
  if (sorted.marked(Mark::decodes)) run.out.decoded = true;
  if (sorted.marked(Mark::names)) run.out.found = true;
  if (sorted.marked(Mark::endless)) run.out.endless = true;
  if (sorted.marked(Mark::limits)) run.out.endless = false;
  for (const Node* node : sorted.chain) {
    if (Check check = check_named(rows::check_names[node->check].view())) check(*this, run);
  }
  apply_options(run);
  const bool reads_code = sorted.node->base.has(Mark::stdin_code) && !run.judged && sorted.operands.empty();
  if (reads_code && run.in.from != Stdin::From::terminal && !sorted.node->roles().empty())
    run_stdin(run, sorted.node->roles()[0].language);
  unnamed_options(run, false);
  if (!run.judged) {
    apply_operands(run);
    stray_paths(run);
    stray_command(run);
  }
  lent_stores(run);
  copies_nothing(run);
  apply_net(run);
  implied_files(run);
  // curl … | patch, curl … | git apply: from now on the workspace holds code from the network.
  if (run.in.flow.network && sorted.node->base.has(Mark::patches) && run.frame.directory)
    mark_file(*run.frame.directory + "/", Flow{.network = true});
  if (run.in.flow.network && listed("prompt", last_part(run.words[0].text))) raise(run, "net.run", run.where);
  if (run.in.from == Stdin::From::text && listed("shell_escape", last_part(run.words[0].text))) shell_escapes(run);
  if (rule && rule->name.view() == "packages.install") foreign_source(run);
}

void Judge::apply_options(Run& run) {
  const auto roles = run.sorted.node->roles();
  const bool reads_operands = !run.frame.away && std::any_of(roles.begin(), roles.end(), [](const rows::RoleRow& role) {
    return role.kind() == Role::read || role.kind() == Role::tree;
  });
  for (const GivenOption& given : run.sorted.options) {
    if (!given.option) continue;
    const rows::Spec& spec = given.option->spec;
    const Span where = given.has_value ? given.value.where : run.where;
    // Between two programs of this machine nobody stands who could show a false certificate.
    const bool unneeded = run.local_only && spec.rule && rows::rule_rows[spec.rule].name.view() == "net.insecure";
    if (!spec.replaces && !unneeded) {
      if (spec.rule)
        raise(run, rows::rule_rows[spec.rule], where);
      else if (spec.level >= 0)
        at_least(run, static_cast<Risk>(spec.level));
    }
    if (given.has_value && !run.options_judged) apply(run, spec.takes(), spec.language, given.value);
    // A letter may take a value in one version of a tool and none in another: what it is given may be a file to read.
    if (given.has_value && spec.takes() == Role::data && reads_operands && given.value.text.size() > 3 &&
        given.value.text.find_first_of("/.") != std::string_view::npos && locate(run, given.value.text).credential)
      reads(run, given.value, false);
  }
}

void Judge::apply_operands(Run& run) {
  for (const Operand& operand : run.sorted.operands) {
    apply(run, operand.role.kind(), operand.role.language, operand.arg);
  }
  if (!run.sorted.carried.empty()) carry(run, run.sorted.carried);
  if (!run.sorted.line.empty()) shell_line(run, run.sorted.line);
  for (std::span<const Arg> words : run.sorted.until) carry(run, words);
}

void Judge::apply_net(Run& run) {
  if (!run.sorted.marked(Mark::net)) return;
  run.out.network = true;
  if (run.in.flow.shell) raise(run, "net.reverse_shell", run.where);
  bool secret = run.in.flow.secret || run.in.flow.suspect;
  for (const Arg& word : run.words.subspan(1)) {
    secret |= word.flow.secret || word.flow.suspect;
  }
  if (secret && !run.local_only) raise(run, "net.exfiltrates", run.where);
}

void Judge::carry(Run& run, std::span<const Arg> words) { carry(run, words, run.frame); }

/// A package manager that is handed an address takes code from there instead of its registry.
void Judge::foreign_source(Run& run) {
  for (const Arg& word : run.words.subspan(1)) {
    if (word.text.find("http://") == std::string_view::npos && word.text.find("https://") == std::string_view::npos)
      continue;
    raise(run, "supply.url", word.where);
    return;
  }
}

bool Judge::unknown_download() const {
  auto counts = [](const auto& each) { return each.first.starts_with('$') && each.second.network; };
  return std::any_of(files_.begin(), files_.end(), counts) || std::any_of(trees_.begin(), trees_.end(), counts);
}

void Judge::carry(Run& run, std::span<const Arg> words, Frame frame) {
  if (words.empty()) return;
  if (words.size() > 1 && words[0].text == "-c") {
    // flock FILE -c TEXT, and others that stop reading options early.
    shell_text(run, words[1], words.subspan(2), frame);
    return;
  }
  std::string_view first = words[0].text;
  const bool line = words.size() == 1 ? words[0].text.find(' ') != std::string_view::npos : begins_a_command(first);
  if (words[0].known && line) {
    // yarn exec 'rm -rf x': many runners hand a single word to a shell.
    shell_text(run, words[0], {}, frame);
    return;
  }
  frame.depth += 1;
  frame.carried = true;
  run.out |= call(words, frame, run.in, words[0].where);
}

}  // namespace cordon::risk
