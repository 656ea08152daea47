// bash's grammar by recursive descent, one token ahead.
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
    advance();
    if (lex_.current == Token::lparen) {
      advance();
      if (!expect(Token::rparen)) return nullptr;
      skip_newlines();
      node->name = source_of(first);
      if (node->name.empty()) node->name = first.plain();
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
  node->inner = simple_command(simple);
  return node->inner == nullptr ? nullptr : node;
}

bool Parser::redirection(Seq<Redirection>& out) {
  Redirection redirect;
  std::size_t begin = token_begin_;
  if (lex_.current == Token::number) {
    redirect.fd = static_cast<int>(number_);
    advance();
  } else if (lex_.current == Token::redirect_name) {
    std::string_view braced = word_.plain();
    redirect.has_variable = true;
    redirect.variable = braced.substr(1, braced.size() - 2);
    advance();
  }
  using Kind = Redirection::Kind;
  Token op = lex_.current;
  switch (op) {
    case Token::less:
      redirect.kind = Kind::read;
      break;
    case Token::greater:
      redirect.kind = Kind::write;
      break;
    case Token::append:
      redirect.kind = Kind::append;
      break;
    case Token::clobber:
      redirect.kind = Kind::clobber;
      break;
    case Token::read_write:
      redirect.kind = Kind::read_write;
      break;
    case Token::here:
    case Token::here_strip:
      redirect.kind = Kind::here;
      break;
    case Token::here_string:
      redirect.kind = Kind::here_string;
      break;
    case Token::dup_in:
      redirect.kind = Kind::duplicate_in;
      break;
    case Token::dup_out:
      redirect.kind = Kind::duplicate_out;
      break;
    case Token::both:
      redirect.kind = Kind::both;
      break;
    case Token::both_append:
      redirect.kind = Kind::both_append;
      break;
    default:
      return unexpected(), false;
  }
  bool numbered = redirect.fd >= 0 || redirect.has_variable;
  if (numbered && (op == Token::both || op == Token::both_append)) return unexpected(), false;
  advance();
  bool duplicate = op == Token::dup_in || op == Token::dup_out;
  if (duplicate && (lex_.current == Token::dash || lex_.current == Token::number)) {
    Part part{.kind = Part::Kind::literal, .where = span(token_begin_)};
    part.text = lex_.current == Token::dash ? std::string_view("-") : word_.plain();
    redirect.target.parts.push(arena_, part);
    redirect.target.where = part.where;
  } else if (lex_.current == Token::word) {
    redirect.target = word_;
  } else {
    return unexpected(), false;
  }
  redirect.where = span(begin);
  if (redirect.kind == Kind::here) {
    HereDocument* document = arena_.make<HereDocument>();
    document->strip_tabs = op == Token::here_strip;
    document->quoted = redirect.target.quoted;
    document->delimiter = arena_.copy(delimiter_of(redirect.target));
    // Bash takes the source of `…` or ${…} as the end, after its own ways of undoing quotes in it; we do not claim to
    // know. Text inside a here-document with continued lines has no source of its own: there $x is as bad.
    if (holds_expansion(redirect.target.parts, pinned_ ? Part::Kind::variable : Part::Kind::parameter))
      fail_later("a here-document whose end word holds an expansion", redirect.where);
    // No line can be its end, so everything that follows would be text; a person could not tell.
    if (document->delimiter.find('\n') != std::string_view::npos)
      fail_later("a here-document whose end word holds a line break", redirect.where);
    redirect.here = document;
    lex_.pending.push(arena_, document);
    if (lex_.pending.size() > 16) return fail("more than 16 here-documents on one line", redirect.where), false;
  }
  out.push(arena_, redirect);
  advance();
  return !failed_;
}

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
