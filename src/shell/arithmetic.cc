// Arithmetic on what is known. One unknown makes the result unknown; what the expression assigns is then forgotten too.
#include <algorithm>
#include <limits>
#include <set>

#include "shell/array_key.h"
#include "shell/characters.h"
#include "shell/evaluator.h"

namespace cordon::shell {
namespace {

constexpr std::size_t max_followed = 256;
constexpr std::uint32_t max_naming = 64;

// Tells a Calculation the value of a name and takes assignments.
class Names {
 public:
  virtual std::optional<long long> value(std::string_view name) = 0;
  virtual void assign(std::string_view name, long long value) = 0;

 protected:
  ~Names() = default;
};

// bash's expression grammar by precedence climbing. Anything unknown or malformed ends it with nothing.
class Calculation {
 public:
  Calculation(std::string_view text, Names& names) : text_(text), names_(names) {}

  std::optional<long long> result() {
    skip_blanks();
    if (at_ >= text_.size()) return 0;
    long long value = comma();
    skip_blanks();
    if (!good_ || at_ < text_.size()) return std::nullopt;
    return value;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  // An operator that is not the beginning of a longer one.
  bool take_operator(std::string_view token, std::string_view not_before) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    std::size_t after = at_ + token.size();
    if (after < text_.size() && not_before.find(text_[after]) != std::string_view::npos) return false;
    at_ = after;
    return true;
  }
  static unsigned long long u(long long value) { return static_cast<unsigned long long>(value); }
  static long long s(unsigned long long value) { return static_cast<long long>(value); }

  long long comma() {
    long long value = assignment();
    while (good_ && take(",")) value = assignment();
    return value;
  }

  long long assignment() {
    if (++depth_ > 100) return good_ = false, 0;
    skip_blanks();
    std::size_t begin = at_;
    long long value;
    if (at_ < text_.size() && is_name_start(text_[at_])) {
      std::size_t end = at_;
      while (end < text_.size() && is_name_char(text_[end])) ++end;
      std::string_view name = text_.substr(at_, end - at_);
      at_ = end;
      skip_blanks();
      for (std::string_view op : {"<<=", ">>=", "*=", "/=", "%=", "+=", "-=", "&=", "^=", "|=", "="}) {
        bool plain = op == "=";
        if (!(plain ? take_operator("=", "=") : take(op))) continue;
        const long long left = plain ? 0 : look(name);
        long long right = assignment();
        if (!good_) break;
        value = plain ? right : combine(op.substr(0, op.size() - 1), left, right);
        if (good_ && evaluating_) names_.assign(name, value);
        --depth_;
        return value;
      }
      at_ = begin;
    }
    value = conditional();
    --depth_;
    return value;
  }

  long long conditional() {
    long long test = binary(0);
    if (!good_ || !take("?")) return test;
    bool before = evaluating_;
    evaluating_ = before && test != 0;
    long long yes = assignment();
    if (!take(":")) return good_ = false, 0;
    evaluating_ = before && test == 0;
    // a ? b : c=d assigns to the whole of what stands before, which is an error.
    if (++depth_ > 100) return good_ = false, 0;
    long long no = conditional();
    --depth_;
    evaluating_ = before;
    return test != 0 ? yes : no;
  }

  static constexpr std::string_view levels[10][4] = {
      {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
      {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};

  bool take_binary(std::string_view op) {
    if (op == "|") return take_operator(op, "|=");
    if (op == "&") return take_operator(op, "&=");
    if (op == "<" || op == ">") return take_operator(op, op == "<" ? "<=" : ">=");
    if (op == "*") return take_operator(op, "*=");
    if (op == "==" || op == "!=" || op == "<=" || op == ">=" || op == "||" || op == "&&") return take(op);
    if ((op == "+" || op == "-") && before_name(op)) return good_ = false;
    return take_operator(op, "=");
  }

  // After a number, too, --x is one operator to bash.
  bool before_name(std::string_view op) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(op) || !text_.substr(at_ + 1).starts_with(op)) return false;
    const std::size_t next = text_.find_first_not_of(" \t\n", at_ + 2);
    return next != std::string_view::npos && is_name_start(text_[next]);
  }

  long long binary(std::size_t level) {
    if (level == 10) return power();
    long long left = binary(level + 1);
    while (good_) {
      std::string_view found;
      for (std::string_view op : levels[level]) {
        if (!op.empty() && take_binary(op)) {
          found = op;
          break;
        }
      }
      if (found.empty()) break;
      bool before = evaluating_;
      if (found == "||") evaluating_ = before && left == 0;
      if (found == "&&") evaluating_ = before && left != 0;
      long long right = binary(level + 1);
      evaluating_ = before;
      if (good_) left = combine(found, left, right);
    }
    return left;
  }

  long long power() {
    long long base = unary();
    if (!good_ || !take("**")) return base;
    if (++depth_ > 100) return good_ = false, 0;
    long long exponent = power();
    --depth_;
    if (exponent < 0) return good_ = false, 0;
    unsigned long long value = 1, factor = u(base);
    for (unsigned long long left = u(exponent); left != 0; left >>= 1, factor *= factor) {
      if ((left & 1) != 0) value *= factor;
    }
    return s(value);
  }

  long long unary() {
    if (++depth_ > 100) return good_ = false, 0;
    long long value = unary_inside();
    --depth_;
    return value;
  }

  long long unary_inside() {
    if (take("++") || take("--")) {
      bool up = text_[at_ - 1] == '+';
      skip_blanks();
      std::string_view name = take_name();
      if (name.empty()) return good_ = false, 0;
      long long value = s(u(look(name)) + (up ? 1 : u(-1)));
      if (good_ && evaluating_) names_.assign(name, value);
      return value;
    }
    if (take("!")) return unary() == 0 ? 1 : 0;
    if (take("~")) return ~unary();
    if (take("-")) return s(0 - u(unary()));
    if (take("+")) return unary();
    return primary();
  }

  std::string_view take_name() {
    std::size_t end = at_;
    if (end < text_.size() && is_name_start(text_[end])) {
      while (end < text_.size() && is_name_char(text_[end])) ++end;
    }
    std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    return name;
  }

  long long primary() {
    skip_blanks();
    if (take("(")) {
      long long value = comma();
      if (!take(")")) good_ = false;
      return value;
    }
    if (at_ < text_.size() && is_digit(text_[at_])) return number();
    std::string_view name = take_name();
    if (name.empty() || (at_ < text_.size() && text_[at_] == '[')) return good_ = false, 0;
    long long value = look(name);
    if (take("++") || take("--")) {
      bool up = text_[at_ - 1] == '+';
      if (good_ && evaluating_) names_.assign(name, s(u(value) + (up ? 1 : u(-1))));
    }
    return value;
  }

  long long number() {
    std::size_t begin = at_;
    while (at_ < text_.size() && (is_name_char(text_[at_]) || text_[at_] == '#' || text_[at_] == '@')) ++at_;
    std::string_view token = text_.substr(begin, at_ - begin);
    unsigned long long base = 10, value = 0;
    if (std::size_t hash = token.find('#'); hash != std::string_view::npos) {
      base = 0;
      if (token[0] == '0') return good_ = false, 0;
      for (char c : token.substr(0, hash)) {
        if (!is_digit(c) || base > 64) return good_ = false, 0;
        base = base * 10 + static_cast<unsigned>(c - '0');
      }
      if (base < 2 || base > 64) return good_ = false, 0;
      token.remove_prefix(hash + 1);
      if (token.empty()) return good_ = false, 0;
    } else if (token.starts_with("0x") || token.starts_with("0X")) {
      base = 16;
      token.remove_prefix(2);
    } else if (token.size() > 1 && token[0] == '0') {
      base = 8;
    }
    for (char c : token) {
      unsigned digit;
      if (is_digit(c))
        digit = static_cast<unsigned>(c - '0');
      else if (c >= 'a' && c <= 'z')
        digit = static_cast<unsigned>(c - 'a') + 10;
      else if (c >= 'A' && c <= 'Z')
        digit = static_cast<unsigned>(c - 'A') + (base <= 36 ? 10 : 36);
      else if (c == '@')
        digit = 62;
      else if (c == '_')
        digit = 63;
      else
        return good_ = false, 0;
      if (digit >= base) return good_ = false, 0;
      value = value * base + digit;
    }
    return s(value);
  }

  long long look(std::string_view name) {
    if (!evaluating_) return 1;
    std::optional<long long> value = names_.value(name);
    if (!value) good_ = false;
    return value.value_or(0);
  }

  long long combine(std::string_view op, long long a, long long b) {
    if (!evaluating_) return 1;
    if (op == "||") return a != 0 || b != 0 ? 1 : 0;
    if (op == "&&") return a != 0 && b != 0 ? 1 : 0;
    if (op == "==") return a == b ? 1 : 0;
    if (op == "!=") return a != b ? 1 : 0;
    if (op == "<=") return a <= b ? 1 : 0;
    if (op == ">=") return a >= b ? 1 : 0;
    if (op == "<") return a < b ? 1 : 0;
    if (op == ">") return a > b ? 1 : 0;
    if (op == "<<" || op == ">>") {
      if (b < 0 || b > 63) return good_ = false, 0;
      return op == "<<" ? s(u(a) << b) : a >> b;
    }
    switch (op[0]) {
      case '|':
        return a | b;
      case '^':
        return a ^ b;
      case '&':
        return a & b;
      case '+':
        return s(u(a) + u(b));
      case '-':
        return s(u(a) - u(b));
      case '*':
        return s(u(a) * u(b));
      default:
        break;
    }
    if (b == 0 || (b == -1 && a == std::numeric_limits<long long>::min())) return good_ = false, 0;
    return op[0] == '/' ? a / b : a % b;
  }

  std::string_view text_;
  Names& names_;
  std::size_t at_ = 0;
  bool good_ = true;
  bool evaluating_ = true;
  int depth_ = 0;
};

}  // namespace

std::string known_text(const Field& field) {
  std::string text;
  for (const Piece& piece : field.pieces) {
    const bool as_written = piece.kind == Piece::Kind::literal || piece.kind == Piece::Kind::glob;
    text += as_written ? std::string_view(piece.text) : "0";
  }
  return text;
}

std::string known_text(const Value& value) {
  if (value.known) return value.text;
  Field field;
  field.pieces = value.pieces;
  return known_text(field);
}

std::optional<long long> Evaluator::arithmetic(const Parts& parts, const Flow& flow) {
  Value text = expand_value(parts, Context::quoted, flow);
  if (!text.known) {
    std::string all;
    for (const Piece& piece : text.pieces) all += piece.text;
    run_unknown(text.pieces, flow);
    run_named(known_text(text), flow);
    forget_arithmetic(all);
    note_abort();
    return std::nullopt;
  }
  return arithmetic(text.text, flow, 0);
}

std::optional<long long> Evaluator::arithmetic(std::string_view text, const Flow& flow, int depth) {
  // A subscript is expanded when it is evaluated, commands in it and all: a text that came from a variable runs them.
  if (text.find("$(") != std::string_view::npos || text.find('`') != std::string_view::npos) {
    if (depth == 0) run_named(text, flow);
    forget_arithmetic(text);
    note_abort();
    return std::nullopt;
  }
  if (depth > 10 || text.size() > 4096) {
    forget_arithmetic(text);
    note_abort();
    return std::nullopt;
  }
  class Here final : public Names {
   public:
    Here(Evaluator& evaluator, const Flow& flow, int depth) : evaluator_(evaluator), flow_(flow), depth_(depth) {}
    std::optional<long long> value(std::string_view name) override {
      Looked looked = evaluator_.look_up(name);
      if (looked.kind == Looked::Kind::unset) return 0;
      if (looked.kind == Looked::Kind::unknown || !looked.value.known) return std::nullopt;
      return evaluator_.arithmetic(looked.value.text, flow_, depth_ + 1);
    }
    void assign(std::string_view name, long long value) override {
      evaluator_.store(name, std::nullopt, Value::of(std::to_string(value)), false);
    }

   private:
    Evaluator& evaluator_;
    const Flow& flow_;
    int depth_;
  };
  Here names(*this, flow, depth);
  std::optional<long long> value = Calculation(text, names).result();
  if (!value) {
    if (depth == 0) run_named(text, flow);
    forget_arithmetic(text);
    note_abort();
  }
  return value;
}

Field Evaluator::field_of(const Value& value) {
  Field field;
  field.pieces = value.known ? Field::literal(value.text).pieces : value.pieces;
  return field;
}

void Evaluator::suspect(std::string_view name, std::string_view value) {
  if (value.find("$(") == std::string_view::npos && value.find('`') == std::string_view::npos) return;
  if (!name.empty() && is_digit(name[0])) name = "@";
  auto found = suspects_.find(name);
  if (found == suspects_.end()) found = suspects_.emplace(std::string(name), std::vector<std::string>{}).first;
  if (found->second.size() >= max_followed || !afford(value.size())) return;
  if (std::ranges::find(found->second, value) == found->second.end()) found->second.emplace_back(value);
}

void Evaluator::run_unknown(const std::vector<Piece>& pieces, const Flow& flow) {
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::unknown && !piece.variable.empty()) run_named(piece.variable, flow);
  }
}

void Evaluator::run_subscripts(const Field& name, const Flow& flow) {
  const std::string text = known_text(name);
  const std::size_t open = text.find('[');
  run_unknown(name.pieces, flow);
  if (open == std::string::npos) return;
  const bool runs = text.find("$(") != std::string::npos || text.find('`') != std::string::npos;
  if (runs || (open > 0 && is_name_char(text[open - 1]))) run_named(std::string_view(text).substr(open), flow);
}

void Evaluator::run_as_number(const std::string& name, const std::string& text, const Flow& flow) {
  const Variable* variable = state_.find(name);
  // Where its attributes are open it may be a number, too.
  if (variable != nullptr && (variable->integer || variable->reference)) run_named(text, flow);
}

void Evaluator::run_named(std::string_view text, const Flow& flow) {
  std::set<std::string, std::less<>> seen;
  run_named(text, flow, seen);
}

void Evaluator::run_named(std::string_view text, const Flow& flow, std::set<std::string, std::less<>>& seen) {
  if (seen.size() > max_followed || naming_ > max_naming)
    return odd(Oddity::Kind::limit, "numbers that stand for too much", {});
  if (!afford(16 + text.size())) return;
  ++naming_;
  const bool expands = text.find('$') != std::string_view::npos || text.find('`') != std::string_view::npos;
  std::string again;
  if (expands && seen.insert(std::string(text)).second) {
    Parser inner(arena_.copy(text), arena_, limits_, dialect_);
    inner.pin({});
    again = known_text(expand_value(inner.read_quoted_text(false), Context::quoted, flow));
    if (again != text) run_named(again, flow, seen);
  }
  const bool positional = text == "@" || text == "*" || (!text.empty() && std::ranges::all_of(text, is_digit));
  if (positional) run_suspects("@", flow, seen);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_name_start(text[i]) || (i > 0 && is_name_char(text[i - 1]))) continue;
    std::size_t end = i;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const std::string_view name = text.substr(i, end - i);
    i = end;
    const Variable* variable = state_.find(name);
    if (variable == nullptr || !seen.insert("=" + std::string(name)).second) continue;
    const Variable now = *variable;
    run_named(known_text(now.value), flow, seen);
    for (const auto& [key, value] : now.elements) run_named(known_text(value), flow, seen);
    if (now.kind == Variable::Kind::unknown || !now.value.known) run_suspects(name, flow, seen);
  }
  forget_arithmetic(text);
  --naming_;
}

void Evaluator::run_suspects(std::string_view name, const Flow& flow, std::set<std::string, std::less<>>& seen) {
  auto found = suspects_.find(name);
  if (found == suspects_.end()) return;
  const std::vector<std::string> values = found->second;
  if (values.size() >= max_followed) odd(Oddity::Kind::limit, "more values than are followed", {});
  for (const std::string& value : values) run_named(value, flow, seen);
}

// Every name in it that something might be assigned to.
void Evaluator::forget_arithmetic(std::string_view text) {
  bool assigns = text.find('=') != std::string_view::npos || text.find("++") != std::string_view::npos ||
                 text.find("--") != std::string_view::npos;
  if (!assigns) return;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_name_start(text[i]) || (i > 0 && is_name_char(text[i - 1]))) continue;
    std::size_t end = i;
    while (end < text.size() && is_name_char(text[end])) ++end;
    lose(text.substr(i, end - i));
    i = end;
  }
}

}  // namespace cordon::shell
