#include "risk/judge.h"

#include <algorithm>
#include <utility>

#include "model/descriptor_name.h"
#include "risk/analyse.h"

namespace cordon::risk {

bool names_a_secret(std::string_view name) {
  for (std::string_view part :
       {"SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "CREDENTIAL", "ACCESS_KEY"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

namespace {

constexpr std::uint32_t max_depth = 24;
constexpr std::size_t max_calls = 400'000;
constexpr std::uint64_t max_nested = std::uint64_t{256} << 20;  // Script::work of all texts inside the text

/// A command's redirects as they take effect: those around it first, the outermost before all; its own last.
std::vector<const Redirect*> in_order(const Command& command) {
  std::vector<const Redirect*> own;
  std::vector<const Redirect*> order;
  for (const Redirect& each : command.redirects) {
    const bool inside = each.where.begin >= command.where.begin && each.where.end <= command.where.end;
    (inside ? own : order).push_back(&each);
  }
  std::reverse(order.begin(), order.end());
  order.insert(order.end(), own.begin(), own.end());
  return order;
}

}  // namespace

Arg Judge::arg_of(const Word& word) {
  Arg arg;
  arg.word = &word;
  arg.where = word.where;
  if (word.pieces.size() == 1 && word.pieces[0].kind == Piece::Kind::literal) {
    arg.text = word.pieces[0].text;
    return arg;
  }
  arg.text = word.pieces.empty() ? std::string_view{} : keep(word.text());
  for (const Piece& piece : word.pieces) {
    if (piece.kind == Piece::Kind::literal) continue;
    arg.known = false;
    if (piece.kind == Piece::Kind::glob) {
      arg.wildcard = true;
      arg.maybe_many = true;
      continue;
    }
    if (piece.kind == Piece::Kind::unknown && !piece.quoted) arg.maybe_many = true;
    if (outs_) {
      for (std::uint32_t index : piece.from) {
        if (index < outs_->size()) arg.flow |= (*outs_)[index];
      }
    }
    if (!piece.variable.empty()) {
      auto found = variables_.find(piece.variable);
      if (found != variables_.end()) arg.flow |= found->second;
      arg.flow.token |= names_a_secret(piece.variable);
    }
  }
  arg.flow.child = names_a_child(word);
  return arg;
}

/// Unlike all else that flows, this makes a word less grave: every part of it must be the id of a child.
bool Judge::names_a_child(const Word& word) const {
  return !word.pieces.empty() && std::all_of(word.pieces.begin(), word.pieces.end(), [&](const Piece& piece) {
    if (piece.kind == Piece::Kind::literal) return false;
    if (piece.variable == "!") return true;
    if (piece.from.empty()) return variable_flow(piece.variable).child;
    return outs_ && std::all_of(piece.from.begin(), piece.from.end(),
                                [&](std::uint32_t index) { return index < outs_->size() && (*outs_)[index].child; });
  });
}

std::vector<Arg> Judge::args_of(std::span<const Word> words) {
  std::vector<Arg> args;
  args.reserve(words.size());
  for (const Word& word : words) args.push_back(arg_of(word));
  return args;
}

Arg Judge::synthetic(std::string text, const Arg& like) {
  Arg arg = like;
  arg.text = keep(std::move(text));
  arg.word = nullptr;
  return arg;
}

std::string_view Judge::marked_text(const Arg& arg) {
  if (arg.known || !arg.word) return arg.text;
  // A value cut out of a word (--eval=…, -c…): only its tail is meant.
  std::string all;
  for (const Piece& piece : arg.word->pieces) {
    if (piece.kind == Piece::Kind::literal || piece.kind == Piece::Kind::glob)
      all += piece.text;
    else if (piece.kind == Piece::Kind::number)
      all += '0';
    else
      all += '\x01';
  }
  const std::string whole = arg.word->text();
  const std::size_t skipped = whole.size() >= arg.text.size() ? whole.size() - arg.text.size() : 0;
  return keep(skipped <= all.size() ? all.substr(skipped) : std::string());
}

void Judge::raise(Run& run, std::string_view rule, Span where) { raise(run, rule_named(rule), where); }

void Judge::raise(Run& run, const Rule& rule, Span where, std::string_view detail) {
  const bool undone =
      run.emulated && (rule.name.view().starts_with("cloud.") || rule.name.view() == "program.destructive_verb");
  // What would be critical is looked at even as a rehearsal.
  const bool shown = run.rehearsal && rule.risk < static_cast<std::uint8_t>(Risk::critical) &&
                     listed("rehearsal_lowers", rule.name.view());
  if (undone || shown) {
    at_least(run, Risk::normal);
    return;
  }
  const Risk risk = static_cast<Risk>(rule.risk);
  run.level = std::max(run.level, risk);
  // At once, not when the call is done: no early return on the way may lose it.
  analysis_.risk = std::max(analysis_.risk, risk);
  if (rule.name.view().starts_with("secret.") && rule.name.view() != "secret.change" &&
      rule.name.view() != "secret.commit")
    run.out.secret = true;
  if (rule.uncoverable && run.uncoverable.empty()) run.uncoverable = std::string(rule.reason.view());
  if (risk == Risk::safe) return;
  // A person reads a few; the gravest are always among them.
  constexpr std::size_t most_findings = 200;
  if (analysis_.findings.size() >= most_findings + (risk == Risk::critical ? 50 : 0)) return;
  std::string reason(rule.reason.view());
  if (!detail.empty()) reason += detail;
  for (const Finding& known : analysis_.findings) {
    if (known.reason == reason) return;
  }
  analysis_.findings.push_back(Finding{.rule = std::string(rule.name.view()),
                                       .risk = risk,
                                       .reason = std::move(reason),
                                       .where = run.frame.where.value_or(where),
                                       .safer = std::string(rule.safer.view())});
}

void Judge::effect(Effect::Kind kind, std::string_view target) {
  if (analysis_.effects.size() >= 200) return;
  for (const Effect& known : analysis_.effects) {
    if (known.kind == kind && known.target == target) return;
  }
  analysis_.effects.push_back({kind, std::string(target)});
}

void Judge::need(Need::Kind kind, std::string_view target) {
  if (analysis_.needs.size() >= 200) return;
  for (const Need& known : analysis_.needs) {
    if (known.kind == kind && known.target == target) return;
  }
  analysis_.needs.push_back({kind, std::string(target)});
}

Flow Judge::variable_flow(std::string_view name) const {
  auto found = variables_.find(name);
  return found == variables_.end() ? Flow{} : found->second;
}

void Judge::mark_variable(std::string_view name, Flow flow) {
  auto found = variables_.find(name);
  if (found == variables_.end()) found = variables_.emplace(std::string(name), Flow{}).first;
  found->second = flow;
}

void Judge::oddities(const Script& script, const Frame& frame) {
  Run whole;
  whole.frame = frame;
  if (!script.understood) {
    analysis_.understood = false;
    raise(whole, rule_named("shell.not_understood"), script.trouble_at,
          script.trouble.empty() ? "" : ": " + script.trouble);
  }
  for (const Oddity& oddity : script.oddities) {
    switch (oddity.kind) {
      case Oddity::Kind::fork_bomb:
        raise(whole, "shell.fork_bomb", oddity.where);
        break;
      case Oddity::Kind::invisible_text:
        raise(whole, rule_named("shell.invisible_text"), oddity.where,
              oddity.detail.empty() ? "" : ": " + oddity.detail);
        break;
      case Oddity::Kind::recursion:
        if (std::any_of(script.commands.begin(), script.commands.end(),
                        [](const Command& each) { return each.background; }))
          raise(whole, "shell.fork_bomb", oddity.where);
        break;
      case Oddity::Kind::filling:
        raise(whole, "system.fill", oddity.where);
        break;
      case Oddity::Kind::too_long:
        raise(whole, "shell.too_long", oddity.where);
        break;
      case Oddity::Kind::limit:
        analysis_.understood = false;
        raise(whole, "shell.limit", oddity.where);
        break;
      default:
        break;
    }
  }
  analysis_.risk = std::max(analysis_.risk, whole.level);
}

Flow Judge::script(const Script& script, const Frame& frame, const Stdin& in) {
  oddities(script, frame);
  for (const Command& each : script.commands) {
    if (!each.words.empty() && called_.size() < 4096) called_.insert(each.words[0].text());
    for (const Redirect& redirect : each.redirects) {
      if (redirect.kind == Redirect::Kind::append && appended_.size() < 4096) appended_.insert(redirect.target.text());
    }
    note_filled(script, each);
  }
  ScriptState state{&script, {}, {}};
  state.outs.resize(script.commands.size());
  state.fed_by.resize(script.commands.size());
  std::vector<bool> late(script.commands.size());
  auto feeds = [&](const Word& word, std::uint32_t owner) {
    for (const Piece& piece : word.pieces) {
      if (piece.kind != Piece::Kind::process_out) continue;
      for (std::uint32_t reader : piece.from) {
        if (reader >= late.size()) continue;
        state.fed_by[reader].push_back(owner);
        late[reader] = reader < owner;
      }
    }
  };
  for (std::uint32_t i = 0; i < script.commands.size(); ++i) {
    for (const Word& word : script.commands[i].words) feeds(word, i);
    for (const Redirect& redirect : script.commands[i].redirects) feeds(redirect.target, i);
  }
  std::vector<Flow>* outer = std::exchange(outs_, &state.outs);
  const Script* outer_script = std::exchange(script_, &script);
  for (std::uint32_t i = 0; i < script.commands.size(); ++i) {
    if (!late[i]) command(state, i, frame, in);
  }
  for (std::uint32_t i = 0; i < script.commands.size(); ++i) {
    if (late[i]) command(state, i, frame, in);
  }
  outs_ = outer;
  script_ = outer_script;
  Flow all;
  for (const Flow& out : state.outs) all |= out;
  return all;
}

/// What a descriptor gives to who reads it after this redirect; `open` is what the others give before it.
Stdin Judge::input_by(const Redirect& redirect, const std::map<int, Stdin>& open) {
  Stdin in;
  in.file = arg_of(redirect.target);
  in.flow = in.file.flow;
  const std::string_view target = in.file.text;
  std::optional<int> same;
  if (redirect.kind == Redirect::Kind::here_text) {
    in.from = Stdin::From::text;
  } else if (redirect.kind == Redirect::Kind::duplicate) {
    if (target == "-") return {};
    in.from = Stdin::From::pipe;  // until it is known to be something else
    same = in.file.known ? descriptor_number(target.substr(0, target.size() - (target.ends_with('-') ? 1 : 0)))
                         : std::nullopt;
  } else {
    in.from = Stdin::From::file;
    same = in.file.known ? descriptor_named(target) : std::nullopt;
  }
  if (!same) return in;
  auto found = open.find(*same);
  if (found != open.end()) return found->second;
  in.from = Stdin::From::pipe;
  return in;
}

Stdin Judge::input_of(ScriptState& state, std::uint32_t index, const Stdin& outer_in) {
  const Command& command = state.script->commands[index];
  Stdin in = outer_in;
  if (!command.piped_from.empty() || !state.fed_by[index].empty() || command.fed) {
    in = {};
    in.from = Stdin::From::pipe;
    for (std::uint32_t from : command.piped_from) {
      if (from < state.outs.size()) in.flow |= state.outs[from];
    }
    for (std::uint32_t from : state.fed_by[index]) in.flow |= state.outs[from];
  }
  std::map<int, Stdin> open{{0, std::move(in)}};
  for (const Redirect* redirect : in_order(command)) open[redirect->fd] = input_by(*redirect, open);
  in = std::move(open[0]);
  if (command.input) in.text = &*command.input;
  return in;
}

void Judge::command(ScriptState& state, std::uint32_t index, const Frame& outer, const Stdin& outer_in) {
  printed_.clear();
  const Command& command = state.script->commands[index];
  Frame frame = outer;
  frame.carried = false;
  if (!command.directory) {
    frame.directory.reset();
  } else if (!command.directory->empty()) {
    const std::string_view changed = *command.directory;
    if (changed.starts_with('/'))
      frame.directory = absolute(changed, "/");
    else if (changed.starts_with('~'))
      frame.directory = risk::locate(changed, std::nullopt, context_).path;
    else if (frame.directory)
      frame.directory = absolute(changed, *frame.directory);
  }
  Run run;
  run.frame = frame;
  run.where = command.where;
  run.in = input_of(state, index, outer_in);
  if (run.in.from == Stdin::From::file && !run.in.file.text.empty()) {
    const Place place = locate(run, run.in.file.text);
    run.in.flow |= file_flow(place.path);
    run.in.flow.secret |= place.credential;
    run.in.flow.suspect |= place.suspect;
    run.in.flow.network |= run.in.file.text.starts_with("/dev/tcp/");
  }
  for (const Assignment& assignment : command.exported) {
    Arg value = arg_of(assignment.value);
    if (!command.words.empty()) environment(run, assignment.name, value);
  }
  assignments(run, command.assignments, command.words.empty());
  lists_.push_back(args_of(command.words));
  const std::vector<Arg>& words = lists_.back();
  run.words = words;
  if (command.kind == Command::Kind::function && !words.empty()) {
    analysis_.invocations.push_back(Invocation{.program = std::string(words[0].text),
                                               .path = std::string(words[0].text),
                                               .words = {std::string(words[0].text)},
                                               .canonical = {std::string(words[0].text)},
                                               .wrapper = true,
                                               .where = command.where});
    run.invocation = analysis_.invocations.size();
  } else if (!words.empty() && command.kind != Command::Kind::compound) {
    run.invocation = analysis_.invocations.size() + 1;
    Flow out = call(words, frame, run.in, command.where);
    run.out |= out;
  } else {
    run.out |= run.in.flow;
  }
  if (command.background && (run.out.endless || run.in.flow.endless)) raise(run, "process.endless", command.where);
  redirects(run, command);
  if (std::exchange(planted_, false) && !frame.away) raise(run, "persist.hook", command.where);
  // What this command does beyond its words (variables, redirects) belongs to its call.
  if (run.invocation > 0 && run.invocation <= analysis_.invocations.size()) {
    Invocation& mine = analysis_.invocations[run.invocation - 1];
    mine.risk = std::max(mine.risk, run.level);
    if (mine.uncoverable.empty()) mine.uncoverable = run.uncoverable;
  } else if (run.level > Risk::safe) {
    analysis_.invocations.push_back(
        Invocation{.risk = run.level, .uncoverable = run.uncoverable, .where = command.where});
  }
  analysis_.risk = std::max(analysis_.risk, run.level);
  state.outs[index] |= run.out;
}

void Judge::assignments(Run& run, const std::vector<Assignment>& list, bool alone) {
  for (const Assignment& assignment : list) {
    Arg value = arg_of(assignment.value);
    if (alone) mark_variable(assignment.name, value.flow);
    environment(run, assignment.name, value);
  }
}

bool Judge::too_deep(Run& run) {
  if (run.frame.depth < max_depth && calls_ < max_calls && nested_ < max_nested) return false;
  analysis_.understood = false;
  raise(run, "shell.limit", run.where);
  return true;
}

/// What is too deep to be followed is still listed: whichever word may name a program, and what could be its arguments.
void Judge::list_calls(std::span<const Arg> words, Span where) {
  constexpr std::size_t reach = 16;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].text.starts_with('-') || (i > reach && !find_program(words[i].text))) continue;
    const std::span<const Arg> rest = words.subspan(i, std::min(reach, words.size() - i));
    Invocation listed;
    listed.program = std::string(rest[0].text.substr(rest[0].text.rfind('/') + 1));
    listed.path = std::string(rest[0].text);
    for (const Arg& word : rest) listed.words.emplace_back(word.text);
    listed.canonical = canonical(listed.words);
    listed.risk = Risk::dangerous;
    listed.where = where;
    analysis_.invocations.push_back(std::move(listed));
  }
}

Flow Judge::call(std::span<const Arg> words, const Frame& frame, const Stdin& in, Span where) {
  Run run;
  run.words = words;
  run.frame = frame;
  run.in = in;
  run.where = where;
  ++calls_;
  if (words.empty()) return in.flow;
  if (too_deep(run)) {
    list_calls(words, where);
    return in.flow;
  }
  run.invocation = analysis_.invocations.size();
  analysis_.invocations.emplace_back();
  const Arg& name = words[0];
  if (!name.known)
    unknown_name(run);
  else if (name.text.find('/') != std::string_view::npos)
    by_path(run, name.text);
  else
    judge_program(run, name.text);
  for (const Arg& word : words) run.out |= Flow{.temporary = word.flow.temporary};
  Invocation& mine = analysis_.invocations[run.invocation];
  if (mine.program.empty() && name.known) mine.program = std::string(name.text.substr(name.text.rfind('/') + 1));
  mine.path = std::string(name.text);
  mine.words.reserve(words.size());
  for (const Arg& word : words) {
    mine.words.emplace_back(word.text);
    mine.exact &= word.known;
  }
  mine.canonical = canonical_of(run.sorted, words);
  mine.risk = std::max(mine.risk, run.level);
  mine.wrapper = run.sorted.node && run.sorted.marked(Mark::wrapper);
  mine.uncoverable = std::move(run.uncoverable);
  mine.where = frame.where.value_or(where);
  analysis_.risk = std::max(analysis_.risk, run.level);
  return run.out;
}

Analysis Judge::finish() {
  std::stable_sort(analysis_.findings.begin(), analysis_.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.risk > b.risk; });
  // Beside a cause for concern the ordinary is noise.
  if (!analysis_.findings.empty() && analysis_.findings.front().risk >= Risk::dangerous) {
    std::erase_if(analysis_.findings, [](const Finding& finding) { return finding.risk < Risk::dangerous; });
  }
  analysis_.work = 64 * calls_ + nested_;
  return std::move(analysis_);
}

}  // namespace cordon::risk
