// Names that inline code gives to texts it states: cmd = ["git", "log"]; run(cmd).
#include <map>
#include <set>

#include "risk/arguments.h"

namespace cordon::risk {

namespace {

using Tokens = std::vector<Token>;

constexpr std::size_t longest_value = 40;    // tokens
constexpr std::size_t most_replaced = 4096;  // tokens put in for names, altogether

bool ends_statement(const Tokens& tokens, std::size_t at) {
  return at >= tokens.size() || tokens[at].kind == Token::Kind::line_end || is_token(tokens, at, ";") ||
         is_token(tokens, at, "}");
}

bool begins_statement(const Tokens& tokens, std::size_t at) {
  if (at == 0 || ends_statement(tokens, at - 1)) return true;
  for (std::string_view before : {"{", "const", "let", "var", "my", "our", "local"}) {
    if (is_token(tokens, at - 1, before)) return true;
  }
  return false;
}

bool is_literal(const Token& token) { return token.kind == Token::Kind::string && !token.unknown; }

/// Where the literal, or the list of literals, that begins at `at` ends; `at` itself when it is neither.
std::size_t end_of_value(const Tokens& tokens, std::size_t at) {
  if (at < tokens.size() && is_literal(tokens[at])) return at + 1;
  if (!is_token(tokens, at, "[")) return at;
  for (std::size_t i = at + 1; i < tokens.size() && i < at + longest_value; ++i) {
    if (is_token(tokens, i, "]")) return i + 1;
    // What runs is stated; what it is given need not be.
    const bool first = i == at + 1;
    const bool own = tokens[i].text == "sys.executable" || tokens[i].text == "process.execPath";
    if (is_token(tokens, i, "[") || is_token(tokens, i, "{") || (first && !is_literal(tokens[i]) && !own)) return at;
  }
  return at;
}

class Constants {
 public:
  explicit Constants(const Tokens& tokens) : tokens_(tokens) {}

  void find() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == Token::Kind::name) name(i);
      if (is_token(tokens_, i, ")") && is_arrow(i + 1)) parameters_before(i);
    }
    for (const std::string& name : changed_) values_.erase(name);
    // A text that is added to may become any other.
    std::erase_if(values_, [&](const auto& each) {
      return grows_.contains(each.first) && !is_token(tokens_, each.second.first, "[");
    });
  }

  bool none() const { return values_.empty(); }

  /// Only a whole argument is replaced: of anything more the sum is not known.
  Tokens replaced() const {
    Tokens out;
    std::size_t put = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      auto value = tokens_[i].kind == Token::Kind::name ? values_.find(tokens_[i].text) : values_.end();
      const bool argument = i > 0 && (is_token(tokens_, i - 1, "(") || is_token(tokens_, i - 1, ",")) &&
                            (is_token(tokens_, i + 1, ")") || is_token(tokens_, i + 1, ","));
      if (value == values_.end() || !argument || put > most_replaced) {
        out.push_back(tokens_[i]);
        continue;
      }
      const auto [begin, end] = value->second;
      put += end - begin;
      out.insert(out.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                 tokens_.begin() + static_cast<std::ptrdiff_t>(end));
      if (!grows_.contains(tokens_[i].text)) continue;
      out.insert(out.end() - 1, {Token{Token::Kind::mark, ","}, Token{Token::Kind::name, "more"}});
    }
    return out;
  }

 private:
  bool is_arrow(std::size_t at) const { return is_token(tokens_, at, "=") && is_token(tokens_, at + 1, ">"); }

  void name(std::size_t i) {
    const std::string& text = tokens_[i].text;
    const std::size_t dot = text.find('.');
    if (dot != std::string::npos) {
      // cmd.append(x), cmd.push(x): no longer what it was. Other methods only look at it.
      const std::string_view method = std::string_view(text).substr(dot + 1);
      for (std::string_view changes : {"insert", "unshift", "splice", "pop", "remove", "shift", "reverse", "sort"}) {
        if (method == changes) changed_.insert(text.substr(0, dot));
      }
      if (method == "append" || method == "extend" || method == "push") grows_.insert(text.substr(0, dot));
      return;
    }
    if (text == "for" || text == "as" || text == "global" || text == "nonlocal") {
      for (std::size_t k = i + 1; k < tokens_.size() && k < i + 6 && tokens_[k].kind == Token::Kind::name; k += 2)
        changed_.insert(tokens_[k].text);
      return;
    }
    if (text == "def" || text == "function" || text == "lambda" || text == "fn") {
      parameters_after(i);
      return;
    }
    if (is_arrow(i + 1)) changed_.insert(text);
    if (is_token(tokens_, i + 1, "+") && is_token(tokens_, i + 2, "=")) {
      grows_.insert(text);
      return;
    }
    for (std::string_view sign : {"-", "*", "|", "<", "[", "."}) {
      if (is_token(tokens_, i + 1, sign) && is_token(tokens_, i + 2, "=")) changed_.insert(text);
    }
    if (is_token(tokens_, i + 1, "[") || is_token(tokens_, i + 1, "<")) changed_.insert(text);  // cmd[0] = x, cmd << x
    if (!is_token(tokens_, i + 1, "=") || is_token(tokens_, i + 2, "=")) return;
    const std::size_t end = end_of_value(tokens_, i + 2);
    const bool constant = begins_statement(tokens_, i) && end > i + 2 && ends_statement(tokens_, end);
    // A named argument is no assignment.
    if (!constant && i > 0 && (is_token(tokens_, i - 1, "(") || is_token(tokens_, i - 1, ","))) return;
    if (!constant || !values_.try_emplace(text, i + 2, end).second) changed_.insert(text);
  }

  void parameters_after(std::size_t i) {
    for (std::size_t k = i + 1; k < tokens_.size() && k < i + 40; ++k) {
      if (is_token(tokens_, k, ")") || is_token(tokens_, k, ":") || is_token(tokens_, k, "{")) return;
      if (tokens_[k].kind == Token::Kind::name) changed_.insert(tokens_[k].text);
    }
  }

  void parameters_before(std::size_t i) {
    for (std::size_t k = i; k > 0 && k + 40 > i && !is_token(tokens_, k, "("); --k) {
      if (tokens_[k].kind == Token::Kind::name) changed_.insert(tokens_[k].text);
    }
  }

  const Tokens& tokens_;
  std::map<std::string, std::pair<std::size_t, std::size_t>> values_;
  std::set<std::string> changed_;
  std::set<std::string> grows_;  // lists to which something is added at their end
};

/// "sys" + "tem", and "sys"."tem" where a dot joins: one text that is written in pieces.
Tokens joined(std::string_view language, Tokens tokens) {
  const std::string_view sign = language == "perl" || language == "php" ? "." : "+";
  Tokens out;
  out.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool joins = is_token(tokens, i, sign) && i + 1 < tokens.size() && is_literal(tokens[i + 1]) &&
                       !out.empty() && is_literal(out.back());
    if (!joins) {
      out.push_back(std::move(tokens[i]));
      continue;
    }
    out.back().text += tokens[i + 1].text;
    ++i;
  }
  return out;
}

}  // namespace

Tokens with_constants(std::string_view language, Tokens tokens) {
  tokens = joined(language, std::move(tokens));
  Constants constants(tokens);
  constants.find();
  return constants.none() ? tokens : constants.replaced();
}

}  // namespace cordon::risk
