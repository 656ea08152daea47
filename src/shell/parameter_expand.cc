// ${…} with its operators.
#include <algorithm>

#include "shell/ansi.h"
#include "shell/array_key.h"
#include "shell/builder.h"
#include "shell/characters.h"
#include "shell/parameter.h"
#include "shell/pattern.h"

namespace cordon::shell {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

char list_subscript(const Parameter& parameter) {
  if (parameter.name == "@" || parameter.name == "*") return parameter.name[0];
  if (!parameter.has_subscript || parameter.subscript.size() != 1) return 0;
  const Part& only = parameter.subscript[0];
  if (only.kind != Part::Kind::literal || (only.text != "@" && only.text != "*")) return 0;
  return only.text[0];
}

// Whether a value is certainly empty, certainly not, or either.
Status emptiness(const Value& value) {
  if (value.known) return value.text.empty() ? Status::success : Status::failure;
  for (const Piece& piece : value.pieces) {
    bool something = piece.kind == Piece::Kind::literal ? !piece.text.empty() : piece.kind == Piece::Kind::process_in;
    if (something) return Status::failure;
  }
  return Status::unknown;
}

bool is_conditional(std::string_view op) {
  if (op.starts_with(':')) op.remove_prefix(1);
  return op == "-" || op == "=" || op == "?" || op == "+";
}

}  // namespace

void Evaluator::expand_operand(const Parts& parts, Builder& builder, const Flow& flow) {
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    if (part.kind != Part::Kind::literal || builder.quoted) {
      expand_part(part, builder, flow);
      continue;
    }
    std::string_view text = part.text;
    if (i == 0)
      text = expand_tilde(text, builder, {builder.context() == Context::assignment, false, i + 1 < parts.size()});
    // Unlike text outside, an operand's is split.
    if (!text.empty()) builder.value(Value::of(std::string(text)));
  }
}

// What runs inside the operands runs, whatever becomes of the value.
void Evaluator::side_effects(const Parameter& parameter, const Flow& flow) {
  Flow inner = flow;
  inner.conditional = true;
  maybe([&] {
    if (parameter.op == ":") {
      arithmetic(parameter.first, inner);
      arithmetic(parameter.second, inner);
    } else {
      expand_value(parameter.first, Context::assignment, inner);
      expand_value(parameter.second, Context::assignment, inner);
    }
  });
}

void Evaluator::expand_parameter(const Part& part, Builder& builder, const Flow& flow) {
  const Parameter& parameter = *part.parameter;
  auto give_up = [&] {
    side_effects(parameter, flow);
    builder.unknown_list(
        {.kind = Piece::Kind::unknown, .text = source_of(part), .variable = std::string(parameter.name)});
  };
  if (!parameter.trouble.empty()) note_abort();
  if (!parameter.trouble.empty() || ++depth_ > 1200) {
    if (parameter.trouble.empty()) --depth_;
    return give_up();
  }
  if (parameter.op.starts_with("names")) {
    give_up();
  } else if (parameter.indirect) {
    expand_indirect(part, builder, flow);
  } else if (list_subscript(parameter) != 0) {
    expand_many(parameter, part, builder, flow);
  } else {
    expand_scalar(parameter, part, builder, flow);
  }
  --depth_;
}

void Evaluator::expand_indirect(const Part& part, Builder& builder, const Flow& flow) {
  const Parameter& parameter = *part.parameter;
  auto give_up = [&] {
    side_effects(parameter, flow);
    builder.unknown_list({.kind = Piece::Kind::unknown, .text = source_of(part)});
  };
  if (list_subscript(parameter) != 0) {
    const Variable* variable = state_.find(parameter.name);
    if (variable != nullptr && !afford(variable->size())) return give_up();
    bool known = variable != nullptr && variable->kind == Variable::Kind::indexed && parameter.op.empty() &&
                 parameter.has_subscript && !variable->reference;
    if (!known) return give_up();
    std::vector<Value> keys;
    for (const auto& [key, value] : variable->elements) {
      std::size_t digit = std::min(key.find_first_not_of('0'), key.size() - 1);
      keys.push_back(Value::of(key.substr(digit)));
    }
    return expand_list(keys, list_subscript(parameter), builder);
  }
  Looked name = look_up_parameter(parameter, flow);
  if (name.kind == Looked::Kind::set) run_subscripts(field_of(name.value), flow);
  if (name.kind == Looked::Kind::unknown) run_named(parameter.name, flow);
  if (name.kind != Looked::Kind::set || !name.value.known) return note_abort(), give_up();
  const std::string& target = name.value.text;
  bool digits = !target.empty() && std::all_of(target.begin(), target.end(), is_digit);
  bool list = target == "@" || target == "*";
  const Variable* named = state_.find(parameter.name);
  bool reference = named != nullptr && named->reference;
  if (reference || (!is_name(target) && !digits && !list)) return note_abort(), give_up();
  Parameter direct = parameter;
  direct.indirect = false;
  direct.has_subscript = false;
  direct.subscript.clear();
  direct.name = arena_.copy(target);
  if (list) return expand_many(direct, part, builder, flow);
  expand_scalar(direct, part, builder, flow);
}

std::optional<std::vector<Value>> Evaluator::values_of(const Parameter& parameter) {
  if (!parameter.has_subscript) {
    if (state_.around.positional == nullptr) return std::nullopt;
    std::size_t bytes = 0;
    for (const Value& value : *state_.around.positional) bytes += 16 + value.size();
    if (!afford(bytes)) return std::nullopt;
    return *state_.around.positional;
  }
  bool lost = all_volatile_ || volatile_.contains(parameter.name);
  const Variable* variable = state_.find(parameter.name);
  if (lost || variable == nullptr || variable->reference) return std::nullopt;
  if (!afford(variable->size())) return std::nullopt;
  std::vector<Value> values;
  switch (variable->kind) {
    case Variable::Kind::unset:
      return values;
    case Variable::Kind::scalar:
      return std::vector<Value>{variable->value};
    case Variable::Kind::indexed:
      for (const auto& [key, value] : variable->elements) values.push_back(value);
      return values;
    default:
      break;  // the order of an associative array's values is not known
  }
  if (variable->kind == Variable::Kind::associative && variable->elements.size() == 1) {
    return std::vector<Value>{variable->elements.begin()->second};
  }
  return std::nullopt;
}

void Evaluator::expand_many(const Parameter& parameter, const Part& part, Builder& builder, const Flow& flow) {
  char which = list_subscript(parameter);
  std::optional<std::vector<Value>> values = values_of(parameter);
  auto give_up = [&](Piece::Kind kind) {
    side_effects(parameter, flow);
    Piece piece{.kind = kind, .text = source_of(part), .variable = std::string(parameter.name)};
    which == '@' && kind == Piece::Kind::unknown ? builder.unknown_list(std::move(piece))
                                                 : builder.unknown(std::move(piece));
  };
  const bool prompt = parameter.op == "@" && !parameter.first.empty() && parameter.first[0].text.starts_with('P');
  if (!values && prompt) run_named(parameter.name, flow);
  // A length below nothing is a mistake.
  const bool below = parameter.has_second &&
                     std::any_of(parameter.second.begin(), parameter.second.end(),
                                 [](const Part& each) { return each.text.find('-') != std::string_view::npos; });
  if (!values && below && parameter.op == ":") note_abort();
  if (!values) return give_up(parameter.length ? Piece::Kind::number : Piece::Kind::unknown);
  if (parameter.length) return builder.value(Value::of(std::to_string(values->size())));
  if (parameter.op.empty()) return expand_list(*values, which, builder);
  if (is_conditional(parameter.op)) {
    bool colon = parameter.op[0] == ':';
    bool null = values->empty();
    if (colon && values->size() == 1) {
      Status empty = emptiness((*values)[0]);
      if (empty == Status::unknown) return give_up(Piece::Kind::unknown);
      null = empty == Status::success;
    } else if (colon && !values->empty()) {
      // With several, what counts as null differs between $@ and arrays: not worth being wrong about.
      bool some =
          std::any_of(values->begin(), values->end(), [](const Value& v) { return emptiness(v) == Status::failure; });
      if (!some) return give_up(Piece::Kind::unknown);
    }
    char op = parameter.op.back();
    const bool plain = std::all_of(parameter.first.begin(), parameter.first.end(), [](const Part& each) {
      return each.kind == Part::Kind::literal || (each.kind == Part::Kind::variable && each.text != "@");
    });
    if (builder.quoted && plain && null != (op == '+')) builder.exist();
    if (builder.quoted && null && op == '+' && !values->empty()) return give_up(Piece::Kind::unknown);
    if (op == '+') return null ? void() : expand_operand(parameter.first, builder, flow);
    if (!null) return expand_list(*values, which, builder);
    if (op == '-') return expand_operand(parameter.first, builder, flow);
    return give_up(Piece::Kind::unknown);
  }
  // Changed, they are joined and split otherwise than they are.
  std::string ifs;
  const bool usual = (builder.quoted && builder.context() == Context::word) || (separators(ifs) && ifs == " \t\n");
  if (parameter.op == ":") {
    // Of what is no array, ${x[@]:1} takes characters.
    const Variable* variable = parameter.has_subscript ? state_.find(parameter.name) : nullptr;
    if (variable != nullptr && variable->kind == Variable::Kind::scalar) {
      const Value some = transform(parameter, values->front(), part, flow);
      // Whether nothing is a word then is another matter.
      const bool nothing = some.known && some.text.empty();
      return nothing ? give_up(Piece::Kind::unknown) : builder.value(some);
    }
    std::optional<long long> from = arithmetic(parameter.first, flow);
    std::optional<long long> count = parameter.has_second ? arithmetic(parameter.second, flow) : std::nullopt;
    bool sparse =
        parameter.has_subscript && state_.find(parameter.name) != nullptr &&
        !state_.find(parameter.name)->elements.empty() &&
        state_.find(parameter.name)->elements.rbegin()->first != array_key(static_cast<long long>(values->size()) - 1);
    if (count && *count < 0) note_abort();
    if (!from || *from < 0 || sparse || (parameter.has_second && (!count || *count < 0)))
      return give_up(Piece::Kind::unknown);
    std::vector<Value> all = *values;
    // Counting starts at $0 for parameters.
    if (!parameter.has_subscript) all.insert(all.begin(), state_.around.zero);
    auto begin = std::min<std::size_t>(static_cast<std::size_t>(*from), all.size());
    auto size =
        count ? std::min<std::size_t>(static_cast<std::size_t>(*count), all.size() - begin) : all.size() - begin;
    if (!usual) return give_up(Piece::Kind::unknown);
    all = std::vector<Value>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                             all.begin() + static_cast<std::ptrdiff_t>(begin + size));
    return expand_list(all, which, builder);
  }
  if (parameter.op == "@") {
    for (const Value& value : *values) {
      if (prompt) expand_prompt(known_text(value), flow);
    }
    return give_up(Piece::Kind::unknown);
  }
  std::vector<Value> changed;
  for (const Value& value : *values) changed.push_back(transform(parameter, value, part, flow));
  if (!usual) return give_up(Piece::Kind::unknown);
  expand_list(changed, which, builder);
}

Evaluator::Looked Evaluator::look_up_parameter(const Parameter& parameter, const Flow& flow) {
  if (!parameter.has_subscript) return look_up(parameter.name);
  const Variable* variable = state_.find(parameter.name);
  std::optional<std::string> key;
  // Of what is not set it may not be looked at.
  if (variable == nullptr || variable->kind == Variable::Kind::unset)
    maybe([&] { key = subscript(parameter.subscript, variable, flow); });
  else
    key = subscript(parameter.subscript, variable, flow);
  variable = state_.find(parameter.name);
  Looked unknown{Looked::Kind::unknown,
                 Value::unknown("${" + std::string(parameter.name) + "[…]}", std::string(parameter.name))};
  if (variable == nullptr || variable->reference || all_volatile_ || volatile_.contains(parameter.name)) return unknown;
  switch (variable->kind) {
    case Variable::Kind::unset:
      return {};
    case Variable::Kind::scalar:
      if (key && *key == array_key(0)) return {Looked::Kind::set, variable->value};
      return key ? Looked{} : unknown;
    case Variable::Kind::indexed:
    case Variable::Kind::associative:
      return element(*variable, key, parameter.name);
    default:
      return unknown;
  }
}

void Evaluator::expand_scalar(const Parameter& parameter, const Part& part, Builder& builder, const Flow& flow) {
  Looked looked = look_up_parameter(parameter, flow);
  bool guarded = is_conditional(parameter.op);
  if (looked.kind != Looked::Kind::set && state_.around.nounset && !guarded) note_abort();
  if (looked.kind == Looked::Kind::unknown && parameter.op.empty() && !parameter.length) {
    Piece piece{.kind = Piece::Kind::unknown, .text = source_of(part), .variable = std::string(parameter.name)};
    if (!looked.value.pieces.empty()) piece.one_of = std::move(looked.value.pieces.front().one_of);
    return builder.unknown(std::move(piece));
  }
  if (parameter.length) {
    bool known = looked.kind != Looked::Kind::unknown && looked.value.known && is_ascii(looked.value.text);
    if (known) return builder.value(Value::of(std::to_string(looked.value.text.size())));
    return builder.unknown(
        {.kind = Piece::Kind::number, .text = source_of(part), .variable = std::string(parameter.name)});
  }
  if (is_conditional(parameter.op)) {
    expand_conditional(parameter, looked, part, builder, flow);
    return;
  }
  if (looked.kind == Looked::Kind::unset) {
    side_effects(parameter, flow);
    return;
  }
  if (parameter.op.empty()) return builder.value(looked.value);
  builder.value(transform(parameter, looked.value, part, flow));
}

bool Evaluator::expand_conditional(const Parameter& parameter, const Looked& looked, const Part& part, Builder& builder,
                                   const Flow& flow) {
  bool colon = parameter.op[0] == ':';
  char op = parameter.op.back();
  Status null = looked.kind == Looked::Kind::unset ? Status::success : Status::failure;
  if (looked.kind == Looked::Kind::unknown) null = Status::unknown;
  if (colon && looked.kind == Looked::Kind::set) null = emptiness(looked.value);
  if (null == Status::unknown) {
    if (op == '?') note_abort();
    side_effects(parameter, flow);
    const Variable* variable = op == '=' ? state_.find(parameter.name) : nullptr;
    if (variable != nullptr && variable->integer)
      maybe([&] { run_named(known_text(expand_value(parameter.first, Context::assignment, flow)), flow); });
    if (variable != nullptr && variable->readonly) note_abort();
    if (op == '=') lose(parameter.name);
    builder.unknown({.kind = Piece::Kind::unknown, .text = source_of(part), .variable = std::string(parameter.name)});
    return true;
  }
  bool use_word = (null == Status::success) != (op == '+');
  if (!use_word) {
    if (op != '+') builder.value(looked.value);
    return true;
  }
  if (op == '?') {
    // The shell ends here, and says why.
    side_effects(parameter, flow);
    note_abort();
    builder.unknown({.kind = Piece::Kind::unknown, .text = source_of(part)});
    return true;
  }
  if (op == '=') {
    Value value = expand_value(parameter.first, builder.quoted ? Context::quoted : Context::assignment, flow);
    if (!is_name(parameter.name) || parameter.has_subscript) {
      forget_everything();
    } else {
      store(parameter.name, std::nullopt, value, false);
    }
    builder.value(look_up(parameter.name).value);
    return true;
  }
  expand_operand(parameter.first, builder, flow);
  return true;
}

// Matching may take the cube of a text's length: beyond a measure the result is not computed but unknown.
bool Evaluator::worth(std::size_t steps) const { return steps <= 4'000'000 && afford(steps / 16); }

Value Evaluator::transform(const Parameter& parameter, const Value& value, const Part& part, const Flow& flow) {
  Value unknown = Value::unknown(source_of(part), std::string(parameter.name));
  std::string_view op = parameter.op;
  if (!value.known || value.text.size() > 4096) {
    const bool prompt = op == "@" && !parameter.first.empty() && parameter.first[0].text.starts_with('P');
    if (prompt) run_named(parameter.name, flow);
    side_effects(parameter, flow);
    return unknown;
  }
  const std::string& text = value.text;
  if (op == ":") return substring(parameter, text, part, flow);
  if (op[0] == '/') return replace(parameter, text, part, flow);
  if (op == "@") {
    char letter = parameter.first.empty() ? 0 : parameter.first[0].text[0];
    bool plain = is_ascii(text);
    std::string changed = text;
    auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
    auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    switch (letter) {
      case 'U':
        if (!plain) return unknown;
        std::transform(changed.begin(), changed.end(), changed.begin(), upper);
        return Value::of(changed);
      case 'L':
        if (!plain) return unknown;
        std::transform(changed.begin(), changed.end(), changed.begin(), lower);
        return Value::of(changed);
      case 'u':
        if (!plain) return unknown;
        if (!changed.empty()) changed[0] = upper(changed[0]);
        return Value::of(changed);
      case 'P':
        return expand_prompt(text, flow);
      case 'E':
        return text.find('\\') == std::string::npos ? value : Value::of(decode_ansi(text));
      default:
        return unknown;
    }
  }
  Field field = expand_one(parameter.first, Context::pattern, flow, part.where);
  if (op[0] == '^' || op[0] == ',') {
    if (!field.pieces.empty() || !is_ascii(text)) return unknown;
    std::string changed = text;
    bool up = op[0] == '^';
    for (std::size_t i = 0; i < changed.size() && (op.size() == 2 || i == 0); ++i) {
      char& c = changed[i];
      if (up && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
      if (!up && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    return Value::of(changed);
  }
  std::optional<Pattern> pattern = Pattern::make(field.pieces);
  if (pattern && !worth(pattern->cost(text.size()))) return unknown;
  if (!pattern || op[0] == '~' || (!field.known() && !is_ascii(text))) return unknown;
  bool longest = op.size() == 2;
  if (op[0] == '#') {
    std::optional<std::size_t> length = pattern->prefix(text, longest);
    return Value::of(text.substr(length.value_or(0)));
  }
  std::optional<std::size_t> length = pattern->suffix(text, longest);
  return Value::of(text.substr(0, text.size() - length.value_or(0)));
}

Value Evaluator::substring(const Parameter& parameter, const std::string& text, const Part& part, const Flow& flow) {
  std::optional<long long> from = arithmetic(parameter.first, flow);
  std::optional<long long> count = parameter.has_second ? arithmetic(parameter.second, flow) : std::nullopt;
  if (!from || (parameter.has_second && !count) || !is_ascii(text))
    return Value::unknown(source_of(part), std::string(parameter.name));
  auto size = static_cast<long long>(text.size());
  long long begin = *from < 0 ? size + *from : *from;
  if (begin < 0 || begin > size) return Value::of("");
  long long end = size;
  if (count) end = *count < 0 ? size + *count : std::min(size, begin + *count);
  if (end < begin) return note_abort(), Value::unknown(source_of(part), std::string(parameter.name));
  return Value::of(text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
}

Value Evaluator::replace(const Parameter& parameter, const std::string& text, const Part& part, const Flow& flow) {
  Field field = expand_one(parameter.first, Context::pattern, flow, part.where);
  Field with = expand_one(parameter.second, Context::pattern, flow, part.where);
  Value unknown = Value::unknown(source_of(part), std::string(parameter.name));
  std::optional<Pattern> pattern = Pattern::make(field.pieces);
  // An unquoted & in the replacement stands for the match (patsub_replacement): not told apart here.
  bool plain = true;
  for (const Piece& piece : with.pieces) {
    plain = plain && (piece.kind == Piece::Kind::literal || piece.kind == Piece::Kind::glob) &&
            piece.text.find_first_of("&\\") == std::string::npos;
  }
  if (pattern && !worth(pattern->cost(text.size()) * (text.size() + 1))) return unknown;
  if (!pattern || !plain || state_.around.nocasematch || (!field.known() && !is_ascii(text))) return unknown;
  std::string replacement = with.text();
  std::string_view op = parameter.op;
  if (pattern->empty()) {
    if (op == "/#") return Value::of(replacement + text);
    if (op == "/%") return Value::of(text + replacement);
    return Value::of(text);
  }
  if (op == "/#" || text.empty()) {
    std::optional<std::size_t> length = pattern->prefix(text, true);
    return Value::of(length ? replacement + text.substr(*length) : text);
  }
  if (op == "/%") {
    std::optional<std::size_t> length = pattern->suffix(text, true);
    return Value::of(length ? text.substr(0, text.size() - *length) + replacement : text);
  }
  std::string out;
  std::string_view rest = text;
  bool done = false;
  while (!rest.empty()) {
    std::optional<std::size_t> length = done ? std::nullopt : pattern->prefix(rest, true);
    if (length && *length > 0) {
      out += replacement;
      rest.remove_prefix(*length);
      done = op == "/";
      continue;
    }
    out += rest[0];
    rest.remove_prefix(1);
  }
  return Value::of(out);
}

// ${x@P}: the text as a prompt, and prompts run the substitutions in them.
Value Evaluator::expand_prompt(const std::string& text, const Flow& flow) {
  std::string decoded;
  bool exact = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      decoded += text[i];
      continue;
    }
    exact = false;
    char letter = text[++i];
    if (letter >= '0' && letter <= '7') {
      int value = 0;
      std::size_t end = std::min(i + 3, text.size());
      for (; i < end && text[i] >= '0' && text[i] <= '7'; ++i) value = value * 8 + (text[i] - '0');
      --i;
      decoded += static_cast<char>(value);
    } else if (letter == '\\') {
      decoded += "\\\\";
    } else if (letter == 'n') {
      decoded += '\n';
    }
  }
  Parser inner(arena_.copy(decoded), arena_, limits_, dialect_);
  inner.pin({});
  Parts parts = inner.read_quoted_text(false);
  Value value = expand_value(parts, Context::quoted, flow);
  bool good = exact && !inner.failed() && inner.late_trouble() == nullptr;
  return good ? value : Value::unknown("${…@P}");
}

}  // namespace cordon::shell
