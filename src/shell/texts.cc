// Texts that are read as shell while the script runs: eval, source, traps, callbacks.
#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "model/descriptor_name.h"
#include "shell/evaluator.h"

namespace cordon::shell {

// Text that is not read again is still listed, for deny rules: its words, without the evals before them.
void Evaluator::list_words(std::string_view text, const Flow& flow, Span where) {
  constexpr std::size_t most_words = 256;
  Command command;
  command.where = where;
  while (!text.empty() && command.words.size() < most_words) {
    const std::size_t end = std::min(text.find_first_of(" \t\n;&|"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty() || (command.words.empty() && word == "eval")) continue;
    command.words.push_back(Field::literal(std::string(word), where));
  }
  if (!command.words.empty()) emit(std::move(command), flow);
}

// Text that the shell reads while it runs: eval, source, a trap.
void Evaluator::run_text(std::string_view text, const Flow& flow, Span where) {
  if (texts_ >= 16 || depth_ > max_eval_depth / 2 || (text_bytes_ += text.size()) > (std::size_t{4} << 20)) {
    odd(Oddity::Kind::limit, "text that is read as shell again and again", where);
    list_words(text, flow, where);
    forget_everything();
    return;
  }
  ++texts_;
  ++repeating_;
  Parser parser(arena_.copy(text), arena_, limits_, dialect_);
  parser.pin(where);
  const std::uint64_t outer_aliased = unit_aliased_;
  while (List* unit = parser.next_unit()) {
    unit_aliased_ = aliased_;
    as_unit([&] { list(*unit, flow); });
  }
  unit_aliased_ = outer_aliased;
  if (parser.failed() || parser.late_trouble() != nullptr) {
    const Trouble& trouble = parser.failed() ? parser.trouble() : *parser.late_trouble();
    if (script_.understood) {
      script_.understood = false;
      script_.trouble = trouble.what;
      script_.trouble_at = where;
    }
  }
  --repeating_;
  --texts_;
}

Status Evaluator::eval_builtin(std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  Span where = script_.commands[index].where;
  std::string text;
  bool known = true;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    if (i == first + 1 && words[i].known() && words[i].text() == "--") continue;
    if (!text.empty()) text += ' ';
    text += words[i].text();
    known = known && words[i].known();
  }
  if (!known) {
    forget_everything();
    if (flow.output != nullptr) flow.output->lose();
    return Status::unknown;
  }
  // By itself it reads nothing.
  const std::optional<std::string> input = script_.commands[index].input;
  if (!own_input_ && flow.input != nullptr && input) flow.input->text = input;
  redirected(index, flow, [&](const Flow& inner) { run_text(text, inner, where); });
  return Status::unknown;
}

Status Evaluator::source_builtin(std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  Span where = script_.commands[index].where;
  std::optional<std::string> text;
  bool from_stdin = false;
  if (words.size() > first + 1) {
    const Field& file = words[first + 1];
    bool substituted =
        file.pieces.size() == 1 && file.pieces[0].kind == Piece::Kind::process_in && !file.pieces[0].from.empty();
    if (substituted) {
      auto found = process_texts_.find(file.pieces[0].from.front());
      if (found != process_texts_.end()) text = found->second;
    }
    from_stdin = file.known() && descriptor_named(file.text()) == 0;
    if (from_stdin) text = script_.commands[index].input;
  }
  if (!text) {
    forget_everything();
    if (flow.output != nullptr) flow.output->lose();
    return Status::unknown;
  }
  const bool arguments = words.size() > first + 2;
  const Surroundings outer = state_.around;
  const auto given = arguments_of(index, first + 2);
  if (arguments) state_.around.positional = given;
  sourced_.emplace_back();
  redirected(index, flow, [&](const Flow& inner) {
    // Of a pipe it has left nothing, of a file everything.
    if (from_stdin && inner.input != nullptr) inner.input->text = std::nullopt;
    run_text(*text, inner, where);
  });
  const std::optional<std::uint64_t> returned = sourced_.back();
  sourced_.pop_back();
  // What `set` makes them inside they stay.
  const bool kept = given != nullptr && state_.around.positional == given;
  if (returned) {
    for (const std::string& changed : state_.changed_since(*returned)) state_.make_unknown(changed);
    merge(outer);
    if (flow.output != nullptr) flow.output->lose();
  }
  if (arguments) state_.around.positional = kept ? outer.positional : nullptr;
  return Status::unknown;
}

Status Evaluator::trap_builtin(std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  Span where = script_.commands[index].where;
  std::size_t i = first + 1;
  // After it, what looks like an option is text.
  const bool ended = i < words.size() && words[i].known() && words[i].text() == "--";
  if (ended) ++i;
  const bool option = !ended && i < words.size() && words[i].known() && words[i].text().starts_with("-");
  if (i >= words.size() || (option && words[i].text().size() > 1)) {
    if (flow.output != nullptr) flow.output->lose();
    return Status::unknown;
  }
  if (i + 1 >= words.size()) return Status::unknown;
  if (!words[i].known()) {
    all_volatile_ = true;
    return Status::unknown;
  }
  std::string text = words[i].text();
  if (text.empty() || text == "-") return Status::unknown;
  const auto signals = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
  const bool at_the_end = std::all_of(signals, words.end(), [](const Field& signal) {
    return signal.known() && (signal.text() == "EXIT" || signal.text() == "0");
  });
  if (flow.output != nullptr) flow.output->lose();
  traps_print_ =
      traps_print_ || std::any_of(signals, words.end(), [](const Field& signal) {
        std::string which = signal.text();
        std::ranges::transform(which, which.begin(), [](char c) { return static_cast<char>(toupper(c)); });
        return !signal.known() || which.ends_with("DEBUG") || which.ends_with("ERR") || which.ends_with("RETURN");
      });
  run_later(text, flow, where, at_the_end ? Changes::nothing : Changes::this_shell);
  return Status::unknown;
}

// mapfile -C TEXT, compgen -C TEXT, compgen -F FUNCTION, compgen -W '$(…)': read as shell by the builtin itself.
void Evaluator::callbacks(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  const bool completes = name == "compgen";
  if (!completes && name != "mapfile" && name != "readarray") return;
  const std::vector<Field> words = script_.commands[index].words;
  const Span where = script_.commands[index].where;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    if (!words[i].known()) continue;
    const std::string option = words[i].text();
    if (option.size() < 2 || option[0] != '-') continue;
    // The first letter that takes a value ends a cluster.
    const std::size_t at = option.find_first_of(completes ? "oAGWFCXPS" : "dnOsuCc", 1);
    if (at == std::string::npos) continue;
    const char letter = option[at];
    if (letter != 'C' && !(completes && (letter == 'F' || letter == 'W'))) continue;
    const bool apart = at + 1 == option.size();
    if (apart && i + 1 < words.size() && !words[i + 1].known()) run_unknown(words[i + 1].pieces, flow);
    if (apart && (i + 1 >= words.size() || !words[i + 1].known())) continue;
    std::string text = apart ? words[++i].text() : option.substr(at + 1);
    if (letter == 'W') {
      if (text.find("$(") == std::string::npos && text.find('`') == std::string::npos) continue;
      text.insert(0, ": ");
    } else if (!completes) {
      text += " \"$MAPFILE_INDEX\" \"$MAPFILE_LINE\"";
    }
    run_later(text, flow, where);
  }
}

static bool writes_files(const std::vector<Command>& commands, std::size_t first) {
  return std::any_of(commands.begin() + static_cast<std::ptrdiff_t>(first), commands.end(), [](const Command& command) {
    for (std::string_view writer : {"tee", "dd", "cp", "mv", "ln", "install", "sed", "sort"}) {
      if (!command.words.empty() && command.words[0].text() == writer) return true;
    }
    return std::ranges::any_of(command.redirects, [](const Redirect& redirect) {
      const bool opens = redirect.kind == Redirect::Kind::write || redirect.kind == Redirect::Kind::append ||
                         redirect.kind == Redirect::Kind::read_write;
      return opens && !names_descriptor(redirect) && redirect.target.text() != "/dev/null";
    });
  });
}

// Text that may run at any time from now on: a trap, a callback, an exported function.
void Evaluator::run_later(const std::string& text, const Flow& flow, Span where, Changes what) {
  if (what == Changes::nothing) return traps_.push_back({text, where, state_.now()});
  // What it assigns may change at any time.
  std::size_t mark = state_.mark();
  Surroundings around = state_.around;
  const auto some = std::make_shared<std::vector<Value>>(9, Value::unknown("$1"));
  state_.around.positional = some;
  std::size_t commands = script_.commands.size();
  Flow inner = flow;
  inner.conditional = true;
  Output scrap;
  inner.output = &scrap;
  const std::optional<std::size_t> outer = std::exchange(later_, calls_.size());
  const bool outer_trap = std::exchange(in_trap_, true);
  run_text(text, inner, where);
  in_trap_ = outer_trap;
  later_ = outer;
  // What it writes may be there whenever something is run afterwards; the rest is listed where it runs at the latest.
  if (!writes_files(script_.commands, commands)) script_.commands.resize(commands);
  if (state_.around.environment_unknown && !around.environment_unknown) all_volatile_ = true;
  const Surroundings& after = state_.around;
  const bool changed = after.positional != some || after.noglob != around.noglob || after.lastpipe != around.lastpipe ||
                       after.no_brace_expansion != around.no_brace_expansion;
  if (changed && !after.environment_unknown) not_understood("a trap that changes the arguments or options", where);
  for (const State::Change& change : state_.take_back(mark)) {
    volatile_.insert(change.name);
    if (change.name.starts_with("()") && change.value.certain) not_understood("a trap that defines functions", where);
  }
  state_.around = around;
  traps_.push_back({text, where, state_.now()});
}

// Traps run at the end at the latest. By then only what did not change since they were set is still known.
void Evaluator::run_traps() {
  std::vector<Trap> traps = std::exchange(traps_, {});
  for (const Trap& trap : traps) {
    if (!afford(64 * (state_.names() + 1))) return;
    for (const std::string& name : state_.set_after(trap.when)) {
      if (!name.starts_with("()")) state_.make_unknown(name);
    }
    for (const std::string& key : state_.changing_functions()) state_.make_unknown(key);
    state_.around.directory = std::nullopt;
    state_.around.positional = nullptr;
    Flow flow;
    flow.conditional = true;
    const bool outer = std::exchange(in_trap_, true);
    run_text(trap.text, flow, trap.where);
    in_trap_ = outer;
  }
}

}  // namespace cordon::shell
