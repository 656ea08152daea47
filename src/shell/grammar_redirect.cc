// The grammar of redirects.
#include "shell/parser.h"

namespace cordon::shell {

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

}  // namespace cordon::shell
