// Functions that inline code defines, and the names that its loops give to texts it states.
#include "risk/functions.h"

#include <algorithm>

#include "risk/arguments.h"

namespace cordon::risk {

namespace {

using Tokens = std::vector<Token>;

bool is_name(const Tokens& tokens, std::size_t at) {
  return at < tokens.size() && tokens[at].kind == Token::Kind::name;
}

/// After the bracket that closes the one at `open`.
std::size_t after_bracket(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (is_token(tokens, i, "(") || is_token(tokens, i, "[") || is_token(tokens, i, "{")) ++depth;
    if (is_token(tokens, i, ")") || is_token(tokens, i, "]") || is_token(tokens, i, "}")) --depth;
    if (depth == 0) return i + 1;
  }
  return tokens.size();
}

/// Names that stand first after a bracket or a comma: c: str = "x", d → c, d.
std::vector<std::string> parameters_of(const Tokens& tokens, std::size_t open, std::size_t end) {
  std::vector<std::string> names;
  for (std::size_t i = open + 1; i < end; ++i) {
    if (is_name(tokens, i) && (is_token(tokens, i - 1, "(") || is_token(tokens, i - 1, ",")))
      names.push_back(tokens[i].text);
  }
  return names;
}

/// A body by its indentation: up to the first line that begins no further right than its head.
std::size_t end_of_block(const Tokens& tokens, std::size_t head, std::size_t body) {
  std::uint32_t indent = 0;
  for (std::size_t i = head; i > 0; --i) {
    if (tokens[i - 1].kind != Token::Kind::line_end) continue;
    indent = tokens[i - 1].indent;
    break;
  }
  for (std::size_t i = body; i < tokens.size(); ++i) {
    const bool line =
        tokens[i].kind == Token::Kind::line_end && i + 1 < tokens.size() && tokens[i + 1].kind != Token::Kind::line_end;
    if (line && tokens[i].indent <= indent) return i;
  }
  return tokens.size();
}

std::size_t end_of_expression(const Tokens& tokens, std::size_t at) {
  if (is_token(tokens, at, "{")) return after_bracket(tokens, at);
  int depth = 0;
  for (std::size_t i = at; i < tokens.size(); ++i) {
    if (is_token(tokens, i, "(") || is_token(tokens, i, "[") || is_token(tokens, i, "{")) ++depth;
    if (is_token(tokens, i, ")") || is_token(tokens, i, "]") || is_token(tokens, i, "}")) --depth;
    const bool ends = tokens[i].kind == Token::Kind::line_end || is_token(tokens, i, ";");
    if (depth < 0 || (depth == 0 && ends)) return i;
  }
  return tokens.size();
}

/// ["a", "b"] or [["a", "b"], ["c"]]: each of them; nothing when any part is something else.
std::vector<std::vector<std::string>> choices_at(const Tokens& tokens, std::size_t at) {
  const std::string_view close = is_token(tokens, at, "[") ? "]" : ")";
  std::vector<std::vector<std::string>> all;
  bool inner = false;
  constexpr std::size_t most = 400;
  for (std::size_t i = at + 1; i < tokens.size() && i < at + most; ++i) {
    const Token& token = tokens[i];
    if (token.kind == Token::Kind::line_end || is_token(tokens, i, ",")) continue;
    if (token.kind == Token::Kind::string && !token.unknown) {
      if (!inner) all.emplace_back();
      all.back().push_back(token.text);
    } else if (!inner && is_token(tokens, i, "[")) {
      inner = true;
      all.emplace_back();
    } else if (inner && is_token(tokens, i, "]")) {
      inner = false;
    } else if (is_token(tokens, i, close)) {
      return all;
    } else {
      return {};
    }
  }
  return {};
}

}  // namespace

Functions::Functions(std::string_view language, const Tokens& tokens) {
  const bool indented = language == "python";
  if (!indented && language != "javascript") return;
  for (std::size_t i = 0; i + 3 < tokens.size() && all_.size() < 200; ++i) {
    const bool head = is_token(tokens, i, indented ? "def" : "function");
    if (head && is_name(tokens, i + 1) && is_token(tokens, i + 2, "(")) {
      const std::size_t body = after_bracket(tokens, i + 2);
      const std::size_t end = indented ? end_of_block(tokens, i, body) : after_bracket(tokens, body);
      all_.push_back({tokens[i + 1].text, parameters_of(tokens, i + 2, body), body, end});
    }
    // run = (c) => …, run = async c => …
    if (indented || !is_name(tokens, i) || !is_token(tokens, i + 1, "=")) continue;
    std::size_t at = i + 2 + (is_token(tokens, i + 2, "async") ? 1 : 0);
    std::vector<std::string> parameters;
    std::size_t arrow = at + 1;
    if (is_token(tokens, at, "(")) {
      arrow = after_bracket(tokens, at);
      parameters = parameters_of(tokens, at, arrow);
    } else if (is_name(tokens, at)) {
      parameters.push_back(tokens[at].text);
    }
    if (!is_token(tokens, arrow, "=") || !is_token(tokens, arrow + 1, ">")) continue;
    all_.push_back({tokens[i].text, std::move(parameters), arrow + 2, end_of_expression(tokens, arrow + 2)});
  }
}

namespace {

/// x = …, x += …; a named argument is no assignment, and x == y none either.
bool is_assigned(const Tokens& tokens, std::size_t i) {
  const std::size_t sign = is_token(tokens, i + 1, "+") ? i + 2 : i + 1;
  const bool assigns =
      is_token(tokens, sign, "=") && !is_token(tokens, sign + 1, "=") && !is_token(tokens, sign + 1, ">");
  return assigns && !(i > 0 && (is_token(tokens, i - 1, "(") || is_token(tokens, i - 1, ",")));
}

}  // namespace

bool Functions::only_called(const Tokens& tokens, const Function& function) {
  const std::string& parameter = function.parameters[0];
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_name(tokens, i)) continue;
    if (i >= function.begin && i < function.end && tokens[i].text == parameter && is_assigned(tokens, i)) return false;
    const bool definition = i > 0 && (is_token(tokens, i - 1, "def") || is_token(tokens, i - 1, "function"));
    const bool arrow = is_token(tokens, i + 1, "=") && function.begin > i && function.begin < i + 40;
    if (tokens[i].text == function.name && !definition && !arrow && !is_token(tokens, i + 1, "(")) return false;
  }
  return true;
}

const Function* Functions::around(std::size_t at) const {
  const Function* found = nullptr;
  for (const Function& each : all_) {
    if (at >= each.begin && at < each.end && (!found || each.begin > found->begin)) found = &each;
  }
  return found;
}

std::map<std::string, std::vector<std::vector<std::string>>> loop_choices(const Functions& functions,
                                                                          const Tokens& tokens) {
  std::map<std::string, std::vector<std::vector<std::string>>> found, lists;
  for (std::size_t i = 0; i + 2 < tokens.size() && lists.size() < 200; ++i) {
    if (!is_name(tokens, i) || !is_token(tokens, i + 1, "=") || !is_token(tokens, i + 2, "[")) continue;
    // A name that is given two lists, or has one added to, is not one of these.
    auto [entry, fresh] = lists.try_emplace(tokens[i].text, choices_at(tokens, i + 2));
    if (!fresh) entry->second.clear();
  }
  for (std::size_t i = 0; i + 3 < tokens.size() && found.size() < 200; ++i) {
    if (is_name(tokens, i)) {
      const std::size_t dot = tokens[i].text.find('.');
      if (dot != std::string::npos && lists.contains(tokens[i].text.substr(0, dot)))
        lists.erase(tokens[i].text.substr(0, dot));
      if (is_token(tokens, i + 1, "+") && is_token(tokens, i + 2, "=")) lists.erase(tokens[i].text);
    }
    if (!is_token(tokens, i, "for")) continue;
    std::size_t name = i + 1;
    while (is_token(tokens, name, "(") || is_token(tokens, name, "const") || is_token(tokens, name, "let")) ++name;
    if (!is_name(tokens, name) || !(is_token(tokens, name + 1, "in") || is_token(tokens, name + 1, "of"))) continue;
    auto choices = choices_at(tokens, name + 2);
    if (is_name(tokens, name + 2)) {
      auto list = lists.find(tokens[name + 2].text);
      if (list != lists.end()) choices = list->second;
    }
    // Where the same name runs over two lists, either may be meant.
    auto& all = found[tokens[name].text];
    if (choices.empty()) {
      all.clear();
      all.push_back({});
    } else {
      all.insert(all.end(), choices.begin(), choices.end());
    }
  }
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (is_name(tokens, i) && is_assigned(tokens, i)) found.erase(tokens[i].text);
  }
  for (const Function& function : functions.all()) {
    for (const std::string& parameter : function.parameters) found.erase(parameter);
  }
  std::erase_if(found, [](const auto& each) {
    return std::any_of(each.second.begin(), each.second.end(), [](const auto& choice) { return choice.empty(); });
  });
  return found;
}

}  // namespace cordon::risk
