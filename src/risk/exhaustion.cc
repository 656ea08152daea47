#include "risk/exhaustion.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "risk/arguments.h"

namespace cordon::risk {

namespace {

using Tokens = std::vector<Token>;

constexpr double too_many_bytes = 2e9;
constexpr double too_many_rounds = 1e8;
constexpr double many_rounds = 1000;

std::optional<double> number(const Tokens& tokens, std::size_t at) {
  if (at >= tokens.size() || tokens[at].kind == Token::Kind::string) return std::nullopt;
  std::string digits = tokens[at].text;
  // "a"x1e9: perl needs no blank after its operator.
  if (digits.size() > 1 && digits[0] == 'x' && at > 0 && tokens[at - 1].kind == Token::Kind::string) digits.erase(0, 1);
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return std::nullopt;
  std::erase(digits, '_');
  double value = 0;
  if (digits.starts_with("0x")) {
    unsigned long long whole = 0;
    std::from_chars(digits.data() + 2, digits.data() + digits.size(), whole, 16);
    return static_cast<double>(whole);
  }
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool twice(const Tokens& tokens, std::size_t at, std::string_view mark) {
  return is_token(tokens, at, mark) && is_token(tokens, at + 1, mark);
}

/// 10**12, 1<<40, 1024*1024*1024, 1e12: the value, and where it ends.
double product(const Tokens& tokens, std::size_t& at) {
  double value = number(tokens, at++).value_or(0);
  while (at < tokens.size()) {
    if (const auto power = number(tokens, at + 2); power && twice(tokens, at, "*")) {
      value = std::pow(value, *power);
      at += 3;
    } else if (const auto shift = number(tokens, at + 2); shift && twice(tokens, at, "<")) {
      value *= std::pow(2, *shift);
      at += 3;
    } else if (const auto factor = number(tokens, at + 1); factor && is_token(tokens, at, "*")) {
      value *= *factor;
      at += 2;
    } else {
      break;
    }
  }
  return value;
}

/// Calls whose number says how much they take at once.
bool takes_memory(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  constexpr std::string_view calls[] = {
      "bytearray", "bytes",      "alloc",  "allocUnsafe",  "allocUnsafeSlow", "ArrayBuffer",  "SharedArrayBuffer",
      "malloc",    "calloc",     "zeros",  "ones",         "Uint8Array",      "Float64Array", "BigUint64Array",
      "Array",     "str_repeat", "repeat", "array_fill",   "urandom",         "padStart",     "padEnd",
      "ljust",     "rjust",      "rep",    "make",         "with_capacity",   "random_bytes", "randomBytes",
      "mmap",      "full",       "empty",  "SplFixedArray"};
  return std::find(std::begin(calls), std::end(calls), last) != std::end(calls);
}

/// "a" * N, [0] * N, "a" x N, and the call that N is given to.
bool is_amount(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::size_t before = begin;
  while (before > 0 && is_token(tokens, before - 1, "(")) --before;
  auto repeatable = [&](std::size_t at) {
    return at < tokens.size() &&
           (tokens[at].kind == Token::Kind::string || is_token(tokens, at, "]") || is_token(tokens, at, "["));
  };
  const bool times = before > 1 && is_token(tokens, before - 1, "*");
  const bool repeated = before > 1 && is_token(tokens, before - 1, "x");
  if ((times || repeated) && repeatable(before - 2)) return true;
  if (repeated && is_token(tokens, before - 2, ")")) return true;
  if (is_token(tokens, end, "*") && repeatable(end + 1)) return true;
  if (tokens[begin].text.starts_with('x') && begin > 0 && repeatable(begin - 1)) return true;
  if (before < begin && before > 0 && tokens[before - 1].kind == Token::Kind::name)
    return takes_memory(tokens[before - 1].text);
  // str_repeat("x", N), np.zeros((a, N)), malloc(n * N)
  for (std::size_t back = begin; back > 0 && back + 8 > begin; --back) {
    if (is_token(tokens, back, "(") && tokens[back - 1].kind == Token::Kind::name)
      return takes_memory(tokens[back - 1].text);
    if (is_token(tokens, back, ")") || is_token(tokens, back, ";")) return false;
  }
  return false;
}

/// range(N), N.times, i < N in a for: how often.
bool is_rounds(const Tokens& tokens, std::size_t begin, std::size_t end) {
  for (std::size_t back = begin; back > 0 && back + 6 > begin; --back) {
    if (is_token(tokens, back - 1, "range") || is_token(tokens, back - 1, "xrange")) return true;
  }
  if (is_token(tokens, end, ".") && is_token(tokens, end + 1, "times")) return true;
  if (begin > 1 && is_token(tokens, begin - 1, ".") && is_token(tokens, begin - 2, ".")) return true;  // 1..N
  if (begin == 0 || !(is_token(tokens, begin - 1, "<") || is_token(tokens, begin - 1, "="))) return false;
  for (std::size_t back = begin; back > 0 && back + 14 > begin; --back) {
    if (is_token(tokens, back - 1, "for")) return true;
  }
  return false;
}

}  // namespace

Exhaustion exhaustion_of(std::string_view language, const Tokens& tokens) {
  Exhaustion found;
  if (language == "awk" || language == "jq") return found;
  for (std::size_t at = 0; at < tokens.size();) {
    if (!number(tokens, at)) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    const double value = product(tokens, at);
    if (value < many_rounds) continue;
    const bool rounds = is_rounds(tokens, begin, at);
    found.many_loop |= rounds;
    found.long_loop |= rounds && value >= too_many_rounds;
    found.memory |= value >= too_many_bytes && is_amount(tokens, begin, at);
  }
  return found;
}

}  // namespace cordon::risk
