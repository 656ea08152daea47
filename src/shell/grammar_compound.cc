// The grammar of groups, if, loops and case.
#include <algorithm>

#include "shell/parser.h"

namespace cordon::shell {

Node* Parser::compound_command() {
  if (!deeper()) return nullptr;
  ++limits_.depth;
  Node* node = nullptr;
  std::size_t begin = token_begin_;
  switch (lex_.current) {
    case Token::if_:
      node = if_command();
      break;
    case Token::while_:
      node = loop_command(Node::Kind::while_);
      break;
    case Token::until_:
      node = loop_command(Node::Kind::until);
      break;
    case Token::for_:
      node = for_command(Node::Kind::for_);
      break;
    case Token::select_:
      node = for_command(Node::Kind::select);
      break;
    case Token::case_:
      node = case_command();
      break;
    case Token::cond_start:
      node = cond_command();
      break;
    case Token::lparen:
    case Token::lbrace: {
      bool braces = lex_.current == Token::lbrace;
      node = arena_.make<Node>();
      node->kind = braces ? Node::Kind::group : Node::Kind::subshell;
      advance();
      node->body = compound_list();
      Token close = braces ? Token::rbrace : Token::rparen;
      if (!failed_ && lex_.current == Token::eof) {
        fail(braces ? "{ is never closed by }" : "( is never closed by )", span(begin, begin + 1));
      } else {
        expect(close);
      }
      break;
    }
    default:
      node = arena_.make<Node>();
      node->kind = Node::Kind::arithmetic;
      node->arithmetic.push(arena_, arithmetic_);
      advance();
      break;
  }
  --limits_.depth;
  if (node != nullptr) node->where = span(begin, std::max(begin, std::min(token_begin_, pos_)));
  return node;
}

Node* Parser::if_command() {
  Node* node = arena_.make<Node>();
  node->kind = Node::Kind::if_;
  advance();
  node->condition = compound_list();
  if (!expect(Token::then_)) return node;
  node->body = compound_list();
  if (lex_.current == Token::elif_) {
    if (!deeper()) return node;
    ++limits_.depth;
    node->inner = if_command();
    --limits_.depth;
    return node;
  }
  if (lex_.current == Token::else_) {
    advance();
    node->otherwise = compound_list();
  }
  expect(Token::fi_);
  return node;
}

Node* Parser::loop_command(Node::Kind kind) {
  Node* node = arena_.make<Node>();
  node->kind = kind;
  advance();
  node->condition = compound_list();
  if (!expect(Token::do_)) return node;
  node->body = compound_list();
  expect(Token::done_);
  return node;
}

// do … done, or the undocumented { … }.
List* Parser::do_group() {
  if (lex_.current == Token::lbrace) {
    advance();
    List* body = compound_list();
    expect(Token::rbrace);
    return body;
  }
  if (!expect(Token::do_)) return nullptr;
  List* body = compound_list();
  expect(Token::done_);
  return body;
}

Node* Parser::for_command(Node::Kind kind) {
  Node* node = arena_.make<Node>();
  node->kind = kind;
  advance();
  if (kind == Node::Kind::for_ && lex_.current == Token::arithmetic_for) return arithmetic_for_command(node);
  if (lex_.current != Token::word) return unexpected(), node;
  node->name = word_.plain();
  Word variable = word_;
  if (node->name.empty())
    fail_later("the variable of a loop is not a name", variable.where), node->words.push(arena_, variable);
  advance();
  if (lex_.current == Token::semi) {
    advance();
    skip_newlines();
    node->body = do_group();
    return node;
  }
  skip_newlines();
  if (lex_.current == Token::in_) {
    node->has_in = true;
    advance();
    while (lex_.current == Token::word && !failed_) node->words.push(arena_, word_), advance();
    if (failed_) return node;
    if (lex_.current != Token::newline && lex_.current != Token::semi) return unexpected(), node;
    advance();
    skip_newlines();
  }
  node->body = do_group();
  return node;
}

Node* Parser::arithmetic_for_command(Node* node) {
  node->kind = Node::Kind::arithmetic_for;
  Parts expressions[3];
  std::size_t count = 0;
  for (const Part& part : arithmetic_) {
    if (part.kind != Part::Kind::literal) {
      if (count < 3) expressions[count].push(arena_, part);
      continue;
    }
    std::string_view rest = part.text;
    for (;;) {
      std::size_t semi = rest.find(';');
      std::string_view piece = rest.substr(0, semi);
      if (!piece.empty() && count < 3) {
        Part copy = part;
        copy.text = piece;
        expressions[count].push(arena_, copy);
      }
      if (semi == std::string_view::npos) break;
      ++count;
      rest.remove_prefix(semi + 1);
    }
  }
  if (count != 2) return fail("for ((…)) needs three expressions", span(token_begin_)), node;
  for (const Parts& expression : expressions) node->arithmetic.push(arena_, expression);
  advance();
  if (lex_.current == Token::semi || lex_.current == Token::newline) {
    advance();
    skip_newlines();
  }
  node->body = do_group();
  return node;
}

Node* Parser::case_command() {
  Node* node = arena_.make<Node>();
  node->kind = Node::Kind::case_;
  advance();
  if (lex_.current != Token::word) return unexpected(), node;
  node->words.push(arena_, word_);
  advance();
  skip_newlines();
  if (!expect(Token::in_)) return node;
  skip_newlines();
  while (!failed_ && lex_.current != Token::esac_) {
    CaseClause clause;
    bool more = case_clause(clause);
    node->clauses.push(arena_, clause);
    if (!more) break;
    skip_newlines();
  }
  expect(Token::esac_);
  return node;
}

// False when nothing may follow but esac.
bool Parser::case_clause(CaseClause& clause) {
  if (lex_.current == Token::lparen) advance();
  for (;;) {
    if (lex_.current != Token::word) return unexpected(), false;
    clause.patterns.push(arena_, word_);
    advance();
    if (lex_.current != Token::pipe) break;
    advance();
  }
  if (!expect(Token::rparen)) return false;
  skip_newlines();
  if (starts_command(lex_.current)) clause.body = compound_list();
  switch (lex_.current) {
    case Token::semi_semi:
      clause.end = CaseClause::End::stop;
      break;
    case Token::semi_and:
      clause.end = CaseClause::End::fall_through;
      break;
    case Token::semi_semi_and:
      clause.end = CaseClause::End::test_next;
      break;
    default:
      return false;
  }
  advance();
  return !failed_;
}

}  // namespace cordon::shell
