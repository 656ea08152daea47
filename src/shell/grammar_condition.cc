// The grammar of [[ … ]].
#include "shell/parser.h"

namespace cordon::shell {
namespace {

bool is_unary_test(std::string_view op) {
  static constexpr std::string_view letters = "abcdefghknoprstuvwxzGLNORS";
  return op.size() == 2 && op[0] == '-' && letters.find(op[1]) != std::string_view::npos;
}

bool is_binary_test(std::string_view op) {
  for (std::string_view known : {"=", "==", "!=", "-nt", "-ot", "-ef", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"}) {
    if (op == known) return true;
  }
  return false;
}

}  // namespace

Node* Parser::cond_command() {
  Node* node = arena_.make<Node>();
  node->kind = Node::Kind::condition;
  advance();  // reads all of the expression up to ]]
  node->test = cond_result_;
  lex_.state &= ~static_cast<unsigned>(cond_open | cond_inside);
  if (!failed_) expect(Token::cond_end);
  return node;
}

void Parser::cond_next() {
  do {
    cond_token_ = read_token();
  } while (cond_token_ == Token::newline && !failed_);
}

Condition* Parser::cond_or() {
  if (!deeper()) return nullptr;
  ++limits_.depth;
  Condition* left = cond_and();
  if (!failed_ && left != nullptr && cond_token_ == Token::or_or) {
    Condition* node = arena_.make<Condition>();
    node->kind = Condition::Kind::or_or;
    node->first = left;
    node->second = cond_or();
    left = node;
  }
  --limits_.depth;
  return left;
}

Condition* Parser::cond_and() {
  if (!deeper()) return nullptr;
  ++limits_.depth;
  Condition* left = cond_term();
  if (!failed_ && left != nullptr && cond_token_ == Token::and_and) {
    Condition* node = arena_.make<Condition>();
    node->kind = Condition::Kind::and_and;
    node->first = left;
    node->second = cond_and();
    left = node;
  }
  --limits_.depth;
  return left;
}

Condition* Parser::cond_term() {
  cond_next();
  if (failed_) return nullptr;
  Token token = cond_token_;
  if (token == Token::lparen) {
    Condition* node = arena_.make<Condition>();
    node->kind = Condition::Kind::grouped;
    node->first = cond_or();
    if (failed_) return nullptr;
    if (cond_token_ != Token::rparen) return fail("expected ) in [[ … ]]", span(token_begin_));
    cond_next();
    return node;
  }
  if (token != Token::word && token != Token::bang) {
    if (token == Token::eof) return fail("[[ is never closed by ]]", span(token_begin_));
    return fail("unexpected text in [[ … ]]", span(token_begin_));
  }
  std::string_view text = word_.plain();
  if (token == Token::bang || text == "!") {
    if (!deeper()) return nullptr;
    ++limits_.depth;
    Condition* node = cond_term();
    --limits_.depth;
    if (node != nullptr) node->negated = !node->negated;
    return node;
  }
  Condition* node = arena_.make<Condition>();
  if (is_unary_test(text)) {
    node->op = text;
    Token operand = read_token();
    if (failed_) return nullptr;
    if (operand != Token::word)
      return fail("unexpected text after " + std::string(text) + " in [[ … ]]", span(token_begin_));
    node->left = word_;
    cond_next();
    return node;
  }
  node->left = word_;
  return cond_binary(node);
}

Condition* Parser::cond_binary(Condition* node) {
  Token token = read_token();
  if (failed_) return nullptr;
  std::string_view op = token == Token::word ? word_.plain() : std::string_view();
  if (token == Token::word && is_binary_test(op)) {
    node->op = op;
    if (op == "=" || op == "==" || op == "!=") lex_.state |= extended_pattern;
  } else if (token == Token::word && op == "=~") {
    node->op = op;
    lex_.state |= regexp;
  } else if (token == Token::less || token == Token::greater) {
    node->op = token == Token::less ? "<" : ">";
  } else if (token == Token::cond_end || token == Token::and_and || token == Token::or_or || token == Token::rparen) {
    node->op = "-n";
    cond_token_ = token;
    return node;
  } else {
    return fail("expected an operator in [[ … ]]", span(token_begin_));
  }
  node->kind = Condition::Kind::binary;
  bool extglob = extglob_;
  if ((lex_.state & extended_pattern) != 0) extglob_ = true;
  token = read_token();
  extglob_ = extglob;
  lex_.state &= ~static_cast<unsigned>(regexp | extended_pattern);
  if (failed_) return nullptr;
  if (token != Token::word) return fail("unexpected text in [[ … ]]", span(token_begin_));
  node->right = word_;
  cond_next();
  return node;
}

}  // namespace cordon::shell
