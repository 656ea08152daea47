// The builtins that assign: declare and its kin, read, printf -v, unset, and others that name variables.
#include <algorithm>
#include <utility>

#include "shell/characters.h"
#include "shell/evaluator.h"
#include "shell/printf_words.h"
#include "shell/pure.h"

namespace cordon::shell {

void Evaluator::unknown_names(std::uint32_t index, std::size_t first) {
  const std::vector<Field> words = script_.commands[index].words;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    if (!words[i].known()) return forget_everything();
    std::string text = words[i].text();
    std::string name = text.substr(0, text.find_first_of("=["));
    if (is_name(name)) lose(name);
    if (is_name(name) && script_.commands[index].input) suspect(name, *script_.commands[index].input);
    // A name may hang on its options: -vx, -rax.
    for (std::size_t at = 2; at < text.size() && text[0] == '-'; ++at) {
      if (is_name(std::string_view(text).substr(at))) lose(text.substr(at));
    }
  }
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

Status Evaluator::declare_builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow) {
  const std::vector<Field> words = script_.commands[index].words;
  const std::vector<Declared> declared = declared_;
  // Outside a function it is a mistake without effect.
  if (name == "local" && calls_.empty()) {
    if (in_trap_)
      not_understood("a trap that makes a variable local to what it interrupts", script_.commands[index].where);
    return Status::failure;
  }
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
  // Without names it lists all that have the attributes.
  if ((prints || i >= words.size()) && flow.output != nullptr) flow.output->lose();
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
      lose_meaning(entry.name);
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
  // It stops at what is no name; before that it may or may not have read.
  if (!std::ranges::all_of(names, [](const std::string& name) { return is_name(name); })) known = false;
  bool own = std::any_of(script_.commands[index].redirects.begin(), script_.commands[index].redirects.end(),
                         [](const Redirect& r) { return r.fd == 0; });
  std::string line;
  if (input) {
    std::size_t end = input->find('\n');
    line = input->substr(0, end);
    if (!own && flow.input != nullptr) {
      const bool sure = known && !script_.commands[index].conditional && maybes_ == 0 && leaves_ == unit_leaves_;
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

Status Evaluator::unset_builtin(std::uint32_t index, std::size_t first) {
  const std::vector<Field> words = script_.commands[index].words;
  bool functions = false, variables = false, mistaken = false, options = true;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    if (!words[i].known()) {
      forget_everything();
      return Status::unknown;
    }
    std::string text = words[i].text();
    if (options && text.size() > 1 && text.starts_with('-')) {
      options = text != "--";
      functions = functions || text.find('f') != std::string::npos;
      variables = variables || text.find('v') != std::string::npos;
      if (text.find('n') != std::string::npos) variables = true;
      mistaken = mistaken || text.find_first_not_of("-fvn") != std::string::npos || (functions && variables);
      continue;
    }
    options = false;
    std::string name = text.substr(0, text.find('['));
    lose_meaning(name);
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
      if (certain && (old != nullptr || calls_.empty()))
        state_.set(name, Variable{});
      else
        state_.make_unknown(name);
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

}  // namespace cordon::shell
