// bash's grammar by recursive descent, one token ahead: lists, pipelines, simple commands and functions.
#include <algorithm>

#include "shell/characters.h"
#include "shell/parser.h"

namespace cordon::shell {

std::nullptr_t Parser::fail(std::string what, Span where) {
  if (!failed_) trouble_ = {std::move(what), where, false};
  failed_ = true;
  return nullptr;
}

void Parser::fail_later(std::string_view what, Span where) {
  if (late_.what.empty()) late_ = {std::string(what), where, true};
}

std::nullptr_t Parser::unexpected() {
  if (failed_) return nullptr;
  if (lex_.current == Token::eof) return fail("the command ends too early", span(text_.size()));
  if (lex_.current == Token::newline) return fail("unexpected end of line", span(token_begin_));
  std::string shown(text_.substr(std::min(token_begin_, text_.size()), pos_ > token_begin_ ? pos_ - token_begin_ : 0));
  if (shown.size() > 40) shown = shown.substr(0, 40) + "…";
  return fail("unexpected '" + shown + "'", span(token_begin_));
}

bool Parser::expect(Token token) {
  if (failed_) return false;
  if (lex_.current != token) return unexpected(), false;
  advance();
  return !failed_;
}

void Parser::skip_newlines() {
  while (lex_.current == Token::newline && !failed_) advance();
}

bool Parser::starts_redirect(Token token) const {
  switch (token) {
    case Token::less:
    case Token::greater:
    case Token::append:
    case Token::clobber:
    case Token::read_write:
    case Token::here:
    case Token::here_strip:
    case Token::here_string:
    case Token::dup_in:
    case Token::dup_out:
    case Token::both:
      return true;
    default:
      return false;
  }
}

bool Parser::starts_compound(Token token) const {
  switch (token) {
    case Token::for_:
    case Token::case_:
    case Token::while_:
    case Token::until_:
    case Token::select_:
    case Token::if_:
    case Token::lparen:
    case Token::lbrace:
    case Token::arithmetic:
    case Token::cond_start:
      return true;
    default:
      return false;
  }
}

bool Parser::starts_command(Token token) const {
  switch (token) {
    case Token::word:
    case Token::assignment:
    case Token::number:
    case Token::redirect_name:
    case Token::both_append:
    case Token::bang:
    case Token::time_:
    case Token::function_:
    case Token::coproc_:
      return true;
    default:
      return starts_redirect(token) || starts_compound(token);
  }
}

List* Parser::next_unit() {
  if (failed_) return nullptr;
  extglob_ = dialect_.extglob;
  for (;;) {
    advance();
    if (failed_ || lex_.current == Token::eof) return nullptr;
    if (lex_.current != Token::newline) break;
  }
  List* list = arena_.make<List>();
  for (;;) {
    Item next;
    bool read = item(next, false);
    if (!next.links.empty()) list->items.push(arena_, next);
    if (!read) return list->items.empty() ? nullptr : list;
    if (lex_.current == Token::amp) {
      list->items.back().background = true;
    } else if (lex_.current != Token::semi) {
      break;
    }
    advance();
    if (!starts_command(lex_.current)) break;
  }
  if (!failed_ && lex_.current != Token::newline && lex_.current != Token::eof) unexpected();
  if (!failed_ && !lex_.pending.empty()) gather_here_documents(false);
  return list;
}

// newline_list list1 [separator newline_list]: not empty.
List* Parser::compound_list() {
  if (!deeper()) return nullptr;
  ++limits_.depth;
  skip_newlines();
  List* list = arena_.make<List>();
  for (;;) {
    Item next;
    bool read = item(next, true);
    if (!next.links.empty()) list->items.push(arena_, next);
    if (!read) break;
    Token separator = lex_.current;
    if (separator != Token::semi && separator != Token::amp && separator != Token::newline) break;
    list->items.back().background = separator == Token::amp;
    advance();
    skip_newlines();
    if (!starts_command(lex_.current)) break;
  }
  --limits_.depth;
  return list;
}

bool Parser::item(Item& item, bool) {
  Link::Op op = Link::Op::first;
  for (;;) {
    Link link;
    link.op = op;
    bool read = pipeline_command(link.pipeline);
    if (!link.pipeline.stages.empty()) item.links.push(arena_, link);
    if (!read) return false;
    if (lex_.current == Token::and_and) {
      op = Link::Op::and_and;
    } else if (lex_.current == Token::or_or) {
      op = Link::Op::or_or;
    } else {
      return !failed_;
    }
    advance();
    skip_newlines();
  }
}

bool Parser::pipeline_command(Pipeline& out) {
  bool bare = false;
  for (;;) {
    if (lex_.current == Token::bang) {
      out.negated = !out.negated;
      advance();
    } else if (lex_.current == Token::time_) {
      if (out.time == Pipeline::Time::no) out.time = Pipeline::Time::yes;
      advance();
      if (lex_.current == Token::time_posix) out.time = Pipeline::Time::posix, advance();
      if (lex_.current == Token::time_end) out.time = Pipeline::Time::posix, advance();
    } else {
      break;
    }
    bare = true;
  }
  if (failed_) return false;
  bool ends = lex_.current == Token::newline || lex_.current == Token::semi || lex_.current == Token::eof;
  if (bare && ends) {
    Node* empty = arena_.make<Node>();
    empty->where = span(token_begin_, token_begin_);
    out.stages.push(arena_, empty);
    out.with_stderr.push(arena_, false);
    return true;
  }
  return pipeline(out);
}

bool Parser::pipeline(Pipeline& out) {
  for (;;) {
    Node* stage = command();
    if (stage != nullptr) out.stages.push(arena_, stage), out.with_stderr.push(arena_, false);
    if (stage == nullptr || failed_) return false;
    if (lex_.current != Token::pipe && lex_.current != Token::pipe_both) return true;
    out.with_stderr.back() = lex_.current == Token::pipe_both;
    advance();
    skip_newlines();
  }
}

Node* Parser::command() {
  if (failed_) return nullptr;
  if (lex_.current == Token::function_) return function_after_keyword();
  if (lex_.current == Token::coproc_) return coproc_command();
  if (starts_compound(lex_.current)) return with_redirects(compound_command());
  Node* node = arena_.make<Node>();
  node->where = span(token_begin_);
  if (lex_.current == Token::word) {
    Word first = word_;
    // Now: the next token may lie outside the alias that this word comes from.
    const std::string_view source = source_of(first);
    advance();
    if (lex_.current == Token::lparen) {
      advance();
      if (!expect(Token::rparen)) return nullptr;
      skip_newlines();
      node->name = source.empty() ? first.plain() : source;
      return function_body(node);
    }
    node->words.push(arena_, first);
    return simple_command(node);
  }
  return simple_command(node);
}

Node* Parser::simple_command(Node* node) {
  bool any = !node->words.empty();
  while (!failed_) {
    if (lex_.current == Token::word || lex_.current == Token::assignment) {
      const bool after_redirect = node->words.empty() && !node->redirects.empty();
      const std::string_view text = word_.plain();
      // bash prints such a command with its words first, and runs that.
      if (after_redirect && (lex_.state & in_substitution) != 0 &&
          (is_reserved(text) || text.find('[') != std::string_view::npos))
        fail_later("a word behind a redirect that would mean something else before it", word_.where);
      node->words.push(arena_, word_);
      lex_.state &= ~static_cast<unsigned>(redirect_list);
      any = true;
      advance();
    } else if (starts_redirect(lex_.current) || lex_.current == Token::number || lex_.current == Token::redirect_name ||
               lex_.current == Token::both_append) {
      if (!any) lex_.state |= redirect_list;
      if (!redirection(node->redirects)) break;
      any = true;
    } else {
      break;
    }
  }
  lex_.state &= ~static_cast<unsigned>(redirect_list);
  if (!failed_ && !any) return unexpected();
  std::uint32_t end = node->where.end;
  for (const Word& word : node->words) end = std::max(end, word.where.end);
  for (const Redirection& redirect : node->redirects) end = std::max(end, redirect.where.end);
  node->where.end = end;
  return any ? node : nullptr;
}

Node* Parser::with_redirects(Node* node) {
  while (node != nullptr && !failed_ &&
         (starts_redirect(lex_.current) || lex_.current == Token::number || lex_.current == Token::redirect_name ||
          lex_.current == Token::both_append)) {
    redirection(node->redirects);
  }
  return node;
}

Node* Parser::function_after_keyword() {
  Node* node = arena_.make<Node>();
  std::size_t begin = token_begin_;
  node->where = span(begin);
  advance();
  if (lex_.current != Token::word) return unexpected();
  Word name = word_;
  node->name = name.plain();
  if (node->name.empty()) node->name = source_of(name);
  advance();
  if (lex_.current == Token::lparen) {
    advance();
    // "function f (…)" without a name's () is a subshell as the body.
    if (lex_.current != Token::rparen) {
      Node* body = arena_.make<Node>();
      body->kind = Node::Kind::subshell;
      body->where = span(token_begin_);
      body->body = compound_list();
      if (!expect(Token::rparen)) return nullptr;
      node->kind = Node::Kind::function;
      node->inner = with_redirects(body);
      return node;
    }
    advance();
  }
  skip_newlines();
  return function_body(node);
}

Node* Parser::function_body(Node* node) {
  node->kind = Node::Kind::function;
  // Bash refuses these when it comes to the definition.
  if (node->name.find_first_of(" \t\n|&;()<>$`'\"\\") != std::string_view::npos)
    fail_later("the name of a function is no plain word", node->where);
  if (!starts_compound(lex_.current)) return unexpected();
  node->inner = with_redirects(compound_command());
  if (node->inner == nullptr) return nullptr;
  node->where.end = node->inner->where.end;
  return node;
}

Node* Parser::coproc_command() {
  Node* node = arena_.make<Node>();
  node->kind = Node::Kind::coproc;
  node->where = span(token_begin_);
  advance();
  if (starts_compound(lex_.current)) {
    node->inner = with_redirects(compound_command());
    return node->inner == nullptr ? nullptr : node;
  }
  Node* simple = arena_.make<Node>();
  simple->where = span(token_begin_);
  if (lex_.current == Token::word) {
    Word first = word_;
    advance();
    if (starts_compound(lex_.current)) {
      node->name = first.plain();
      node->words.push(arena_, first);
      node->inner = with_redirects(compound_command());
      return node->inner == nullptr ? nullptr : node;
    }
    simple->words.push(arena_, first);
  }
  // What bash runs there is what it prints of it, `coproc COPROC a b`: a program COPROC.
  if ((lex_.state & in_substitution) != 0) fail_later("a coproc without a name inside a substitution", simple->where);
  node->inner = simple_command(simple);
  return node->inner == nullptr ? nullptr : node;
}

}  // namespace cordon::shell
