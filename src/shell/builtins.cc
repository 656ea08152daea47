// The builtins that change what later commands mean.
#include <algorithm>

#include "model/descriptor_name.h"
#include "shell/ansi.h"
#include "shell/array_key.h"
#include "shell/builtin_names.h"
#include "shell/characters.h"
#include "shell/evaluator.h"
#include "shell/pure.h"

namespace cordon::shell {
namespace {

// Builtins of which an argument may be the name of a variable. `test` has -v; echo and its like would be data.
bool takes_names(std::string_view name) {
  return name == "read" || name == "unset" || name == "declare" || name == "typeset" || name == "local" ||
         name == "export" || name == "readonly" || name == "printf" || name == "test" || name == "[" ||
         name == "mapfile" || name == "readarray" || name == "getopts" || name == "wait";
}

/// The words of a printf: its last -v counts, and a format may look like one.
struct PrintfWords {
  std::size_t format = 0;
  std::optional<std::string> name;  // empty: not known which
};

PrintfWords printf_words(const std::vector<Field>& words, std::size_t first) {
  const auto said = [&](std::size_t at) { return at < words.size() && words[at].known() ? words[at].text() : ""; };
  PrintfWords found{first + 1, std::nullopt};
  while (said(found.format).starts_with("-v")) {
    const bool apart = said(found.format) == "-v";
    if (apart) ++found.format;
    found.name = apart ? said(found.format) : said(found.format).substr(2);
    ++found.format;
  }
  if (said(found.format) == "--") ++found.format;
  return found;
}

/// printf stores into what follows -v, and into the arguments of %n; its format and the others are text.
bool printf_names(const std::vector<Field>& words, std::size_t first, std::size_t i) {
  const std::size_t format = printf_words(words, first).format;
  if (i < format || format >= words.size() || !words[format].known()) return true;
  const std::string text = words[format].text();
  if (i == format) return false;
  for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) {
    const std::size_t conversion = text.find_first_not_of("-+ #0123456789.*'hljztLq", at + 1);
    if (conversion != std::string::npos && text[conversion] == 'n') return true;
  }
  return false;
}

bool is_option(std::string_view name) {
  constexpr std::string_view names[] = {"allexport",
                                        "braceexpand",
                                        "emacs",
                                        "errexit",
                                        "errtrace",
                                        "functrace",
                                        "hashall",
                                        "histexpand",
                                        "history",
                                        "ignoreeof",
                                        "interactive-comments",
                                        "keyword",
                                        "monitor",
                                        "noclobber",
                                        "noexec",
                                        "noglob",
                                        "nolog",
                                        "notify",
                                        "nounset",
                                        "onecmd",
                                        "physical",
                                        "pipefail",
                                        "posix",
                                        "privileged",
                                        "verbose",
                                        "vi",
                                        "xtrace"};
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace

// Words from `first` on of the command at `index`; `first` itself names the builtin.
Status Evaluator::builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  Status status = effects(name, index, first, flow);
  return status;
}

Status Evaluator::effects(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  if (takes_names(name)) {
    const std::vector<Field> words = script_.commands[index].words;
    for (std::size_t i = first + 1; i < words.size(); ++i) {
      if (name == "printf" && !printf_names(words, first, i)) continue;
      run_subscripts(words[i], flow);
      const std::string text = words[i].text();
      change_special(std::string_view(text).substr(0, text.find_first_of("=[+")), words[i].where);
    }
  }
  if (name == ":" || name == "true") return Status::success;
  if (name == "false") return Status::failure;
  if (name == "echo" || name == "printf") {
    if (name == "printf" && printf_builtin(index, first, flow) == Status::success) return Status::unknown;
    if (first == 0) {
      write_output(index, flow);
    } else if (flow.output != nullptr) {
      flow.output->lose();
    }
    return Status::unknown;
  }
  if (name == "eval") return eval_builtin(index, first, flow);
  if (name == "." || name == "source") return source_builtin(index, first, flow);
  if (name == "declare" || name == "typeset" || name == "local" || name == "export" || name == "readonly") {
    return declare_builtin(name, index, first, flow);
  }
  if (name == "read") return read_builtin(index, first, flow);
  if ((name == "set" || name == "alias" || name == "shopt") && flow.output != nullptr) flow.output->lose();
  if (name == "set") return set_builtin(index, first);
  if (name == "shift") return shift_builtin(index, first);
  if (name == "cd" || name == "pushd" || name == "popd") return cd_builtin(name, index, first, flow);
  if (name == "unset") return unset_builtin(index, first);
  if (name == "alias" || name == "unalias") return alias_builtin(index, first);
  if (name == "shopt") return shopt_builtin(index, first);
  if (name == "trap") return trap_builtin(index, first, flow);
  if (name == "exec") return exec_builtin(index, first, flow);
  if (name == "command" || name == "builtin") return wrapped_builtin(name, index, first, flow);
  const bool leaves = name == "return" || name == "break" || name == "continue";
  if (leaves && later_ && *later_ == calls_.size())
    not_understood("a trap that leaves what it interrupts", script_.commands[index].where);
  if (name == "return") {
    ++leaves_;
    if (!calls_.empty() && !calls_.back().returned) calls_.back().returned = state_.moment();
    if (!sourced_.empty() && !sourced_.back()) sourced_.back() = state_.moment();
    return Status::unknown;
  }
  if (name == "let") {
    bool reached = true;  // it ends at the first mistake
    for (std::size_t i = first + 1; i < script_.commands[index].words.size(); ++i) {
      const Field word = script_.commands[index].words[i];
      bool known = false;
      auto evaluate = [&] {
        if (word.known()) {
          known = arithmetic(word.text(), flow, 0).has_value();
        } else {
          run_unknown(word.pieces, flow);
          run_named(known_text(word), flow);
          forget_arithmetic(word.text());
        }
      };
      if (reached)
        evaluate();
      else
        maybe(evaluate);
      reached = reached && known;
    }
    return Status::unknown;
  }
  if (name == "mapfile" || name == "readarray" || name == "getopts" || name == "wait" || name == "enable" ||
      name == "fc" || name == "bind" || name == "complete" || name == "compgen") {
    // enable can load code; fc runs what it finds; the others name variables.
    if (name == "enable" || name == "fc") {
      forget_everything();
    } else {
      callbacks(name, index, first, flow);
      note_descriptor(index, first);
      const Command command = script_.commands[index];
      for (std::size_t i = first + 1; i < command.words.size() && command.input; ++i)
        run_as_number(command.words[i].text(), *command.input, flow);
      unknown_names(index, first);
      for (std::string_view own : {"MAPFILE", "OPTARG", "OPTIND", "COMPREPLY"}) state_.make_unknown(own);
    }
    if (flow.output != nullptr && name != "mapfile" && name != "readarray" && name != "getopts") flow.output->lose();
    return Status::unknown;
  }
  const std::vector<Field>& given = script_.commands[index].words;
  if (name == "history" && given.size() > first + 1 &&
      given[first + 1].text().find_first_of("arswp") != std::string::npos)
    not_understood("a history that is changed or written", script_.commands[index].where);
  if (name == "exit") ++doubts_;
  if (name == "exit" || name == "break" || name == "continue") ++leaves_;
  bool silent = name == "test" || name == "[" || name == "break" || name == "continue" || name == "exit" ||
                name == "hash" || name == "umask" || name == "disown" || name == "kill";
  if (!silent && flow.output != nullptr) flow.output->lose();
  if ((name == "umask" || name == "kill" || name == "hash") && flow.output != nullptr) flow.output->lose();
  return Status::unknown;
}

void Evaluator::unknown_names(std::uint32_t index, std::size_t first) {
  const std::vector<Field> words = script_.commands[index].words;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    if (!words[i].known()) return forget_everything();
    std::string text = words[i].text();
    std::string name = text.substr(0, text.find_first_of("=["));
    if (is_name(name)) lose(name);
    if (is_name(name) && script_.commands[index].input) suspect(name, *script_.commands[index].input);
    // A name may hang on its option: -vx, -ax.
    if (text.size() > 2 && text[0] == '-' && is_name(std::string_view(text).substr(2)))
      state_.make_unknown(text.substr(2));
  }
}

void Evaluator::lose(std::string_view name) {
  const Variable* variable = state_.find(name);
  if (variable != nullptr && variable->reference) return forget_everything();
  state_.make_unknown(name);
}

/// `declare -g` inside a function that has a local one: what it is when the function ends is open.
bool Evaluator::hides_global(const std::string& name) {
  bool hides = false;
  for (Call& call : calls_) {
    for (State::Change& local : call.locals) {
      if (local.name != name) continue;
      local.value = Variable{.kind = Variable::Kind::function};
      hides = true;
    }
  }
  return hides;
}

/// read -u 3, mapfile -u3
void Evaluator::note_descriptor(std::uint32_t index, std::size_t first) {
  const std::vector<Field>& words = script_.commands[index].words;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    const std::string text = words[i].text();
    const std::size_t letter = text.starts_with('-') ? text.find('u') : std::string::npos;
    if (letter == std::string::npos) continue;
    std::string number = text.substr(letter + 1);
    if (number.empty() && i + 1 < words.size()) number = words[i + 1].text();
    if (!number.empty() && number.size() < 4 && std::ranges::all_of(number, is_digit))
      ++shared_inputs_[std::stoi(number)];
  }
}

/// Names that mean something to bash itself.
void Evaluator::change_special(std::string_view name, Span where) {
  if (name == "BASH_ARGV0") state_.around.zero = Value::unknown("$0", "0");
  for (std::string_view special : {"BASH_ALIASES", "BASH_CMDS", "BASH_COMPAT", "FUNCNEST", "POSIXLY_CORRECT"}) {
    if (name == special) not_understood("a variable that lets bash read or run otherwise: " + std::string(name), where);
  }
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
  run_text(text, flow, where);
  return Status::unknown;
}

Status Evaluator::source_builtin(std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  Span where = script_.commands[index].where;
  std::optional<std::string> text;
  if (words.size() > first + 1) {
    const Field& file = words[first + 1];
    bool substituted =
        file.pieces.size() == 1 && file.pieces[0].kind == Piece::Kind::process_in && !file.pieces[0].from.empty();
    if (substituted) {
      auto found = process_texts_.find(file.pieces[0].from.front());
      if (found != process_texts_.end()) text = found->second;
    }
    if (file.known() && descriptor_named(file.text()) == 0) {
      text = script_.commands[index].input;
    }
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
  run_text(*text, flow, where);
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

Status Evaluator::declare_builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  const std::vector<Declared> declared = declared_;
  // Outside a function it is a mistake without effect.
  if (name == "local" && calls_.empty()) return Status::failure;
  bool local = name == "local" || ((name == "declare" || name == "typeset") && !calls_.empty());
  Variable flags;
  bool prints = words.size() == first + 1, functions = false, indexed = false, associative = false, global = false;
  bool unexport = false, inherits = false, mistaken = false;
  const std::string_view letters = name == "export" || name == "readonly" ? "aAfn" : "aAfFgiIlnrtux";
  Variable taken;
  std::size_t i = first + 1;
  for (; i < words.size(); ++i) {
    if (!words[i].known()) break;
    std::string text = words[i].text();
    bool option = text.size() > 1 && (text[0] == '-' || text[0] == '+') && !text.starts_with("--");
    if (text == "--") {
      ++i;
      break;
    }
    if (!option) break;
    bool on = text[0] == '-';
    for (char c : std::string_view(text).substr(1)) {
      mistaken = mistaken || letters.find(c) == std::string_view::npos;
      switch (c) {
        case 'x':
          flags.exported = on, unexport = !on;
          break;
        case 'i':
          (on ? flags : taken).integer = true;
          break;
        case 'l':
          (on ? flags : taken).lower = true;
          break;
        case 'u':
          (on ? flags : taken).upper = true;
          break;
        case 'r':
          flags.readonly = true;
          break;
        case 'n':
          if (name == "export")
            unexport = true;
          else
            flags.reference = true;
          break;
        case 'a':
          indexed = true;
          break;
        case 'A':
          associative = true;
          break;
        case 'g':
          global = true;
          break;
        case 'I':
          inherits = true;
          break;
        case 'f':
        case 'F':
          functions = true;
          break;
        default:
          prints = true;
          break;
      }
    }
  }
  if (name == "export" && !unexport) flags.exported = true;
  if (name == "readonly") flags.readonly = true;
  if (prints && flow.output != nullptr) flow.output->lose();
  if (functions) {
    // declare -f prints the text of functions; an exported one is called by a child, where this reader does not go.
    if (flow.output != nullptr) flow.output->lose();
    for (std::size_t j = i; flags.readonly && j < words.size(); ++j) fixed_functions_.insert(words[j].text());
    for (; flags.exported && i < words.size(); ++i) {
      if (!words[i].known()) continue;
      const Variable* function = state_.find(State::function_key(words[i].text()));
      if (function != nullptr && function->kind == Variable::Kind::function)
        run_later(words[i].text() + " \"$@\"", flow, script_.commands[index].where, Changes::nothing);
    }
    return Status::unknown;
  }
  for (; i < words.size(); ++i) {
    auto found = std::find_if(declared.begin(), declared.end(), [&](const Declared& d) { return d.word == i; });
    if (found == declared.end() && !words[i].known()) {
      forget_everything();
      continue;
    }
    std::string text = words[i].text();
    std::size_t equals = found == declared.end() ? text.find('=') : std::string::npos;
    Declared entry = found == declared.end() ? Declared{} : *found;
    if (found == declared.end()) {
      entry.name = text.substr(0, equals);
      entry.has_value = equals != std::string::npos;
      if (entry.has_value) entry.value = Value::of(text.substr(equals + 1));
      if (entry.name.ends_with('+')) entry.append = true, entry.name.pop_back();
    }
    // `local -`: when the function ends, the options are what they were.
    if (entry.name == "-") state_.around.options_unknown = true;
    if (!is_name(entry.name)) {
      std::string base = entry.name.substr(0, entry.name.find('['));
      if (is_name(base)) lose(base);
      continue;
    }
    attributed_.insert(entry.name);
    if (flags.reference) run_unknown(entry.value.pieces, flow);
    const Variable* old = state_.find(entry.name);
    const bool shadows = local && !global && old != nullptr && old->readonly;
    if (mistaken || shadows || (global && hides_global(entry.name))) {
      // It is not made, or another one is.
      state_.make_unknown(entry.name);
      continue;
    }
    if (local && !global && !calls_.empty() && (name == "local" || name == "declare" || name == "typeset")) {
      calls_.back().locals.push_back({entry.name, old == nullptr ? Variable{.kind = Variable::Kind::function} : *old});
      state_.set(entry.name, Variable{});
      old = state_.find(entry.name);
    }
    Variable next;
    if (old != nullptr) {
      next = *old;
    } else {
      Looked looked = look_up(entry.name);
      next.kind = looked.kind == Looked::Kind::set ? Variable::Kind::scalar : Variable::Kind::unknown;
      if (looked.kind == Looked::Kind::set) next.value = looked.value;
      if (entry.has_value) next.kind = Variable::Kind::unset;
    }
    next.integer = (next.integer && !taken.integer) || flags.integer;
    next.lower = (next.lower && !taken.lower) || flags.lower;
    next.upper = (next.upper && !taken.upper) || flags.upper;
    next.reference = next.reference || flags.reference;
    next.exported = (next.exported || flags.exported) && !unexport;
    const bool converted =
        associative && old != nullptr && old->kind != Variable::Kind::associative && old->kind != Variable::Kind::unset;
    if (associative && next.kind != Variable::Kind::associative)
      next.kind = Variable::Kind::associative, next.elements.clear();
    if (inherits || converted) next.kind = Variable::Kind::unknown;
    const bool array = indexed || next.kind == Variable::Kind::indexed || next.kind == Variable::Kind::associative;
    if (indexed && next.kind == Variable::Kind::unset) next.kind = Variable::Kind::indexed;
    bool readonly = next.readonly;
    next.readonly = false;
    bool exported = next.exported;
    bool reference = std::exchange(next.reference, false);
    state_.set(entry.name, std::move(next));
    if (readonly) {
      state_.make_unknown(entry.name);
    } else if (entry.keyed) {
      state_.make_unknown(entry.name);
    } else if (array && entry.has_value && entry.value.text.starts_with('(') && entry.value.text.ends_with(')')) {
      // Quoted or not, it is read as a list.
      run_text(entry.name + "=" + entry.value.text, flow, script_.commands[index].where);
      state_.make_unknown(entry.name);
    } else if (array && entry.has_value && !entry.value.known) {
      run_unknown(entry.value.pieces, flow);
      state_.make_unknown(entry.name);
    } else if (entry.array != nullptr) {
      store_array(*entry.array, entry.name, entry.append, flow);
    } else if (entry.has_value) {
      store(entry.name, std::nullopt, entry.value, entry.append);
    }
    if (flags.readonly || readonly || reference) {
      Variable fixed = *state_.find(entry.name);
      fixed.readonly = flags.readonly || readonly;
      fixed.reference = reference;
      state_.set(entry.name, std::move(fixed));
    }
    bool listed = std::find(exported_.begin(), exported_.end(), entry.name) != exported_.end();
    if (exported && !listed) exported_.push_back(entry.name);
  }
  return Status::unknown;
}

Status Evaluator::read_builtin(std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  std::optional<std::string> input = script_.commands[index].input;
  bool raw = false, plain = true;
  std::vector<std::string> names;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    if (!words[i].known()) {
      forget_everything();
      return Status::unknown;
    }
    std::string text = words[i].text();
    if (names.empty() && text == "-r") {
      raw = true;
    } else if (names.empty() && text.starts_with('-')) {
      plain = false;
    } else {
      names.push_back(text);
    }
  }
  std::string ifs;
  bool known = plain && input && separators(ifs) && ifs.find_first_not_of(" \t\n") == std::string::npos;
  if (known && !raw && input->find('\\') != std::string::npos) known = false;
  bool own = std::any_of(script_.commands[index].redirects.begin(), script_.commands[index].redirects.end(),
                         [](const Redirect& r) { return r.fd == 0; });
  std::string line;
  if (input) {
    std::size_t end = input->find('\n');
    line = input->substr(0, end);
    if (!own && flow.input != nullptr) {
      const bool sure = known && !script_.commands[index].conditional;
      flow.input->text = sure ? std::optional(end == std::string::npos ? "" : input->substr(end + 1)) : std::nullopt;
    }
  }
  if (!known) {
    note_descriptor(index, first);
    for (std::size_t i = 0; i < names.size() && input; ++i) run_as_number(names[i], *input, flow);
    unknown_names(index, first);
    state_.make_unknown("REPLY");
    return Status::unknown;
  }
  std::erase(line, '\0');
  if (names.empty()) {
    store("REPLY", std::nullopt, Value::of(line), false);
    return Status::unknown;
  }
  auto is_separator = [&](char c) { return ifs.find(c) != std::string::npos; };
  std::string_view rest = line;
  for (std::size_t i = 0; i < names.size(); ++i) {
    while (!rest.empty() && is_separator(rest.front())) rest.remove_prefix(1);
    std::size_t end = 0;
    if (i + 1 == names.size()) {
      while (!rest.empty() && is_separator(rest.back())) rest.remove_suffix(1);
      end = rest.size();
    } else {
      while (end < rest.size() && !is_separator(rest[end])) ++end;
    }
    if (is_name(names[i])) store(names[i], std::nullopt, Value::of(std::string(rest.substr(0, end))), false);
    rest.remove_prefix(end);
  }
  return Status::unknown;
}

void Evaluator::option(std::string_view name, bool on, Span where) {
  Surroundings& around = state_.around;
  if (name == "noglob") around.noglob = on;
  if (name == "braceexpand") around.no_brace_expansion = !on;
  if (name == "allexport") around.allexport = on;
  if (name == "errexit") around.errexit = on;
  if (name == "nounset") around.nounset = on;
  if (name == "errtrace" || name == "functrace" || name.empty()) traps_follow_ = traps_follow_ || on;
  if (name.empty()) around.options_unknown = true;
  if (on && name == "posix") not_understood("bash's posix mode, in which it reads and assigns otherwise", where);
  if (on && name == "keyword") not_understood("assignments among the arguments (set -k)", where);
}

/// bash then leaves everything as it was, or not: it stops in the middle.
Status Evaluator::mistaken_set() {
  state_.around.options_unknown = true;
  state_.around.positional = nullptr;
  return Status::unknown;
}

Status Evaluator::set_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field>& words = script_.commands[index].words;
  std::size_t i = first + 1;
  bool positional = false;
  for (; i < words.size(); ++i) {
    if (!words[i].known()) {
      positional = true;
      state_.around.options_unknown = true;
      break;
    }
    std::string text = words[i].text();
    if (text == "--" || text == "-") {
      ++i;
      positional = text == "--" || i < words.size();
      break;
    }
    if (text.size() < 2 || (text[0] != '-' && text[0] != '+')) {
      positional = true;
      break;
    }
    bool on = text[0] == '-';
    for (char c : std::string_view(text).substr(1)) {
      const Span where = script_.commands[index].where;
      if (std::string_view("abefhkmnptuvxBCEHPTo").find(c) == std::string_view::npos) return mistaken_set();
      if (c == 'f') option("noglob", on, where);
      if (c == 'B') option("braceexpand", on, where);
      if (c == 'a') option("allexport", on, where);
      if (c == 'e') option("errexit", on, where);
      if (c == 'u') option("nounset", on, where);
      if (c == 'k') option("keyword", on, where);
      if (c == 'E' || c == 'T') option("errtrace", on, where);
      if (c == 'o') {
        if (++i >= words.size()) break;
        const std::string name = words[i].known() ? words[i].text() : "";
        if (!is_option(name)) return mistaken_set();
        option(name, on, where);
      }
    }
  }
  if (!positional) return Status::success;
  auto values = std::make_shared<std::vector<Value>>();
  for (; i < words.size(); ++i) {
    for (const Piece& piece : words[i].pieces) {
      bool one = piece.kind == Piece::Kind::literal || piece.kind == Piece::Kind::number ||
                 (piece.quoted && piece.variable != "@");
      if (!one) {
        state_.around.positional = nullptr;
        return Status::success;
      }
    }
    values->push_back(value_of(words[i]));
    suspect("@", known_text(words[i]));
  }
  state_.around.positional = std::move(values);
  return Status::success;
}

Status Evaluator::shift_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field>& words = script_.commands[index].words;
  if (state_.around.positional == nullptr) return Status::unknown;
  std::size_t count = 1;
  if (words.size() > first + 1) {
    std::string text = words[first + 1].known() ? words[first + 1].text() : "";
    bool digits = !text.empty() && text.size() < 6 && std::all_of(text.begin(), text.end(), is_digit);
    if (!digits) {
      state_.around.positional = nullptr;
      return Status::unknown;
    }
    count = std::stoul(text);
  }
  const std::vector<Value>& now = *state_.around.positional;
  if (count > now.size()) return Status::failure;
  std::size_t bytes = 0;
  for (const Value& value : now) bytes += 16 + value.size();
  if (!afford(bytes)) {
    state_.around.positional = nullptr;
    return Status::unknown;
  }
  state_.around.positional =
      std::make_shared<std::vector<Value>>(now.begin() + static_cast<std::ptrdiff_t>(count), now.end());
  return Status::success;
}

Status Evaluator::cd_builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field>& words = script_.commands[index].words;
  for (std::string_view own : {"PWD", "OLDPWD"}) state_.make_unknown(own);
  std::optional<std::string>& directory = state_.around.directory;
  std::size_t i = first + 1;
  while (i < words.size() && words[i].known() &&
         (words[i].text() == "-L" || words[i].text() == "-P" || words[i].text() == "--" || words[i].text() == "-e" ||
          words[i].text() == "-@")) {
    ++i;
  }
  std::optional<std::string> target;
  if (i >= words.size()) {
    Looked home = look_up("HOME");
    if (name == "cd" && home.kind == Looked::Kind::set && home.value.known) target = home.value.text;
  } else if (words[i].known()) {
    target = words[i].text();
  }
  bool searched = state_.find("CDPATH") != nullptr || given_.variables.contains("CDPATH");
  bool prints = name != "cd" || searched || (target && *target == "-");
  if (prints && flow.output != nullptr) flow.output->lose();
  bool usual = target && !target->empty() && *target != "-" && name != "popd" &&
               !(name == "pushd" && ((*target)[0] == '+' || (*target)[0] == '-'));
  if (!usual || (searched && (*target)[0] != '/' && (*target)[0] != '.')) {
    directory = std::nullopt;
  } else if ((*target)[0] == '/') {
    directory = *target;
  } else if (directory) {
    *directory += (directory->empty() || directory->ends_with('/') ? "" : "/") + *target;
    if (directory->size() > 4096) directory = std::nullopt;
  }
  return Status::unknown;
}

Status Evaluator::unset_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field> words = script_.commands[index].words;
  bool functions = false, variables = false, mistaken = false;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    if (!words[i].known()) {
      forget_everything();
      return Status::unknown;
    }
    std::string text = words[i].text();
    if (text.starts_with('-')) {
      functions = functions || text.find('f') != std::string::npos;
      variables = variables || text.find('v') != std::string::npos;
      if (text.find('n') != std::string::npos) variables = true;
      mistaken = mistaken || text.find_first_not_of("-fvn") != std::string::npos || (functions && variables);
      continue;
    }
    std::string name = text.substr(0, text.find('['));
    const Variable* old = state_.find(name);
    // What it stands for is gone.
    if (!functions && old != nullptr && old->reference) forget_everything();
    if (!functions && name != text) {
      state_.make_unknown(name);
      continue;
    }
    if (mistaken) {
      state_.make_unknown(name);
      state_.make_unknown(State::function_key(name));
      continue;
    }
    old = state_.find(name);
    if (!functions && is_name(name)) {
      // A readonly one stays; a local one lets an outer one through.
      bool certain = old == nullptr || (!old->readonly && !old->reference && calls_.empty());
      if (!certain || old == nullptr) {
        if (old == nullptr && calls_.empty() && !state_.around.environment_unknown && !variables)
          state_.set(name, Variable{});
        else if (old == nullptr && calls_.empty())
          state_.set(name, Variable{});
        else
          state_.make_unknown(name);
      } else {
        state_.set(name, Variable{});
      }
    }
    std::string key = State::function_key(name);
    const Variable* function = state_.find(key);
    if (!variables && function != nullptr && function->kind == Variable::Kind::function) {
      // Without -f the variable goes first, if there is one.
      if (functions && !fixed_functions_.contains(name))
        state_.set(key, Variable{});
      else
        state_.make_unknown(key);
    }
  }
  return Status::unknown;
}

bool Evaluator::holds_for_what_follows(std::uint32_t index) const {
  return subshells_ == 0 && !aborted_ && maybes_ == 0 && leaves_ == unit_leaves_ &&
         !script_.commands[index].conditional && !may_fail(script_.commands[index].redirects);
}

Status Evaluator::alias_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field>& words = script_.commands[index].words;
  // A trap finds what holds when it runs; what an option does with the rest is not followed.
  const bool plain = words.size() <= first + 1 || !words[first + 1].text().starts_with('-') ||
                     words[first + 1].text() == "--" || words[first + 1].text() == "-a";
  const bool certain = holds_for_what_follows(index) && traps_.empty() && plain;
  bool remove = words[first].text() == "unalias";
  if (words.size() > first + 1) ++aliased_;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    std::string text = words[i].text();
    if (remove) {
      unalias(words[i].known() ? text : "-a", certain && words[i].known());
      continue;
    }
    std::size_t equals = text.find('=');
    if (equals == std::string::npos && !words[i].known()) dialect_.every_alias_doubtful = true;
    if (equals == std::string::npos || equals == 0) continue;
    std::string name = text.substr(0, equals);
    odd(Oddity::Kind::alias, name, words[i].where);
    if (certain && words[i].known()) {
      dialect_.aliases[name] = text.substr(equals + 1);
      dialect_.doubtful_aliases.erase(name);
    } else {
      dialect_.doubtful_aliases.insert(name);
    }
  }
  return Status::unknown;
}

void Evaluator::unalias(const std::string& name, bool certain) {
  if (!certain) {
    // What is no alias stays none.
    for (const auto& [alias, value] : dialect_.aliases) {
      if (name == "-a" || name == alias) dialect_.doubtful_aliases.insert(alias);
    }
  } else if (name == "-a") {
    dialect_.aliases.clear();
    dialect_.doubtful_aliases.clear();
    dialect_.every_alias_doubtful = false;
  } else {
    dialect_.aliases.erase(name);
    dialect_.doubtful_aliases.erase(name);
  }
}

void Evaluator::expand_aliases(bool on, std::uint32_t index) {
  if (holds_for_what_follows(index)) {
    dialect_.expand_aliases = on;
    dialect_.expansion_doubtful = false;
  } else if (dialect_.expand_aliases != on) {
    dialect_.expansion_doubtful = true;
  }
}

Status Evaluator::shopt_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field>& words = script_.commands[index].words;
  bool on = false, off = false, shell_options = false;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    if (!words[i].known()) {
      state_.around.options_unknown = true;
      dialect_.expansion_doubtful = true;
      return Status::unknown;
    }
    std::string text = words[i].text();
    if (text.starts_with('-')) {
      on = on || text.find('s') != std::string::npos;
      off = off || text.find('u') != std::string::npos;
      shell_options = shell_options || text.find('o') != std::string::npos;
      continue;
    }
    if (!on && !off) continue;
    if (on && off) {
      state_.around.options_unknown = true;
      dialect_.expansion_doubtful = true;
      continue;
    }
    const bool otherwise = text == "extdebug" || text == "localvar_inherit" || text == "localvar_unset" ||
                           text == "xpg_echo" || text.starts_with("compat");
    if ((otherwise && on) || (text == "extquote" && off))
      not_understood("an option that lets bash read or run otherwise: " + text, words[i].where);
    if (shell_options)
      option(text, on, words[i].where);
    else if (text == "failglob")
      state_.around.failglob = on;
    else if (text == "nocasematch")
      state_.around.nocasematch = on;
    else if (text == "extglob")
      dialect_.extglob = on, extglob_ = extglob_ || on;
    else if (text == "expand_aliases")
      expand_aliases(on, index);
    else if (text == "lastpipe")
      state_.around.lastpipe = on;
  }
  return Status::unknown;
}

Status Evaluator::trap_builtin(std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  Span where = script_.commands[index].where;
  std::size_t i = first + 1;
  if (i < words.size() && words[i].known() && words[i].text() == "--") ++i;
  if (i >= words.size() || (words[i].known() && words[i].text().starts_with("-") && words[i].text().size() > 1)) {
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
    const char letter = option.size() > 1 && option[0] == '-' ? option[1] : ' ';
    if (letter != 'C' && !(completes && (letter == 'F' || letter == 'W'))) continue;
    if (option.size() == 2 && i + 1 < words.size() && !words[i + 1].known()) run_unknown(words[i + 1].pieces, flow);
    if (option.size() == 2 && (i + 1 >= words.size() || !words[i + 1].known())) continue;
    std::string text = option.size() > 2 ? option.substr(2) : words[++i].text();
    if (letter == 'W') {
      if (text.find("$(") == std::string::npos && text.find('`') == std::string::npos) continue;
      text.insert(0, ": ");
    } else if (!completes) {
      text += " \"$MAPFILE_INDEX\" \"$MAPFILE_LINE\"";
    }
    run_later(text, flow, where);
  }
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
  run_text(text, inner, where);
  later_ = outer;
  script_.commands.resize(commands);
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
    run_text(trap.text, flow, trap.where);
  }
}

Status Evaluator::exec_builtin(std::uint32_t index, std::size_t first, const Flow& flow) {
  const Command& command = script_.commands[index];
  if (command.words.size() > first + 1) {
    ++leaves_;
    ++doubts_;
    if (flow.output != nullptr) flow.output->lose();
    return Status::unknown;
  }
  auto scope = std::make_unique<RedirectScope>();
  std::size_t enclosing = lasting_added_;
  std::size_t own = command.redirects.size() >= enclosing ? command.redirects.size() - enclosing : 0;
  scope->redirects.assign(command.redirects.begin(), command.redirects.begin() + static_cast<std::ptrdiff_t>(own));
  for (const Redirect& redirect : scope->redirects) {
    if (flow.output != nullptr && (redirect.fd == 1 || redirect.also_stderr)) flow.output->lose();
    if (flow.input != nullptr && redirect.fd == 0) flow.input->text = std::nullopt;
  }
  scope->outer = lasting_now_;
  lasting_now_ = scope.get();
  lasting_.push_back(std::move(scope));
  return Status::unknown;
}

Status Evaluator::printf_builtin(std::uint32_t index, std::size_t first, const Flow& /*flow*/) {
  const std::vector<Field> words = script_.commands[index].words;
  const PrintfWords parts = printf_words(words, first);
  std::size_t at = parts.format;
  // What cannot be known there may be another -v.
  bool unsure = at < words.size() && !words[at].known() && (words[at].prefix().empty() || words[at].prefix() == "-");
  if (!parts.name) {
    if (unsure) forget_everything();
    return Status::unknown;
  }
  const std::string name = unsure ? "" : *parts.name;
  if (!is_name(name)) {
    std::string base = name.substr(0, name.find('['));
    if (is_name(base))
      lose(base);
    else
      forget_everything();
    return Status::success;
  }
  std::vector<std::string> arguments{"printf"};
  for (std::size_t i = at; i < words.size(); ++i) {
    if (!words[i].known()) {
      state_.make_unknown(name);
      return Status::success;
    }
    arguments.push_back(words[i].text());
  }
  std::optional<std::string> text = pure_output(arguments, std::nullopt);
  if (text) {
    std::string value = text->substr(0, text->find('\0'));
    store(name, std::nullopt, Value::of(value), false);
  } else {
    state_.make_unknown(name);
  }
  return Status::success;
}

// command NAME … and builtin NAME …: the builtin runs, a function of that name does not.
Status Evaluator::wrapped_builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  std::size_t i = first + 1;
  for (; i < words.size(); ++i) {
    if (!words[i].known()) {
      forget_everything();
      if (flow.output != nullptr) flow.output->lose();
      return Status::unknown;
    }
    std::string text = words[i].text();
    if (name != "command" && text == "--") continue;
    if (name != "command" || text.size() < 2 || text[0] != '-') break;
    if (text != "--" && text.find_first_not_of("pvV", 1) != std::string::npos) {
      // A mistake, with which nothing is run.
      forget_everything();
      return Status::unknown;
    }
    if (text.find_first_of("vV") != std::string::npos) {
      if (flow.output != nullptr) flow.output->lose();
      return Status::unknown;
    }
    if (text == "--") {
      ++i;
      break;
    }
  }
  if (i >= words.size()) return Status::unknown;
  for (Declared& declared : declared_) (void)declared;
  if (!words[i].known()) {
    forget_everything();
    if (flow.output != nullptr) flow.output->lose();
    return Status::unknown;
  }
  std::string inner = words[i].text();
  if (flow.output != nullptr) flow.output->lose();
  if (!is_builtin(inner)) return Status::unknown;
  return effects(inner, index, i, flow);
}

}  // namespace cordon::shell
