// What stands inside words after $, ` or a bracket: bash's parse_matched_pair and parse_comsub.
#include <utility>

#include "shell/ansi.h"
#include "shell/characters.h"
#include "shell/literal.h"
#include "shell/parameter.h"

namespace cordon::shell {
namespace {

// Whether text that began with "((" and ended with "))" is arithmetic: if the inner pair belongs together.
bool is_balanced(std::string_view inside) {
  int open = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    char c = inside[i];
    if (c == '\\') {
      ++i;
    } else if (c == '\'' || c == '"') {
      std::size_t end = i + 1;
      while (end < inside.size() && inside[end] != c) end += inside[end] == '\\' && c == '"' ? 2 : 1;
      i = end;
    } else if (c == '(') {
      ++open;
    } else if (c == ')' && --open < 0) {
      return false;
    }
  }
  return open == 0;
}

// What the shell inside `…` reads.
std::string unescape_backquoted(std::string_view raw, bool in_quotes) {
  std::string text;
  text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\\' && i + 1 < raw.size()) {
      char next = raw[i + 1];
      if (next == '$' || next == '`' || next == '\\' || (in_quotes && next == '"')) ++i;
    }
    text += raw[i];
  }
  return text;
}

}  // namespace

void Parser::read_backquote(Parts& out, std::size_t begin, Quote quote) {
  std::string raw;
  for (;;) {
    int c = get(true);
    if (c < 0) {
      hit_end_ = true;
      fail("` is never closed", span(begin, begin + 1));
      return;
    }
    if (c == '`') break;
    raw += static_cast<char>(c);
    if (c != '\\') continue;
    int next = get(false);
    if (next < 0) continue;
    raw += static_cast<char>(next);
  }
  Part part{.kind = Part::Kind::backquote};
  part.text = arena_.copy(unescape_backquoted(raw, quote == Quote::dquote));
  part.where = span(begin);
  read_nested(part.text, begin, true, part);
  out.push(arena_, part);
}

// Text that bash reads only when it gets there: mistakes in it do not spoil the whole.
void Parser::read_nested(std::string_view text, std::size_t begin, bool pin_it, Part& part) {
  part.list = arena_.make<List>();
  if (!deeper() || !reread(text.size(), begin)) return;
  ++limits_.depth;
  Parser inner(text, arena_, limits_, dialect_, base_ + static_cast<std::uint32_t>(begin));
  inner.extglob_ = extglob_;
  inner.inside_substitution_ = !pin_it;
  if (pinned_)
    inner.pin(pin_);
  else if (pin_it)
    inner.pin(part.where);
  while (List* unit = inner.next_unit()) {
    for (const Item& item : unit->items) part.list->items.push(arena_, item);
  }
  --limits_.depth;
  if (inner.failed()) {
    part.trouble = arena_.copy(inner.trouble_.what);
    fail_later(part.trouble, inner.trouble_.where);
  } else if (inner.late_trouble() != nullptr) {
    fail_later(inner.late_.what, inner.late_.where);
  }
}

void Parser::read_dollar(Parts& out, Literal& literal, Quote quote) {
  std::size_t begin = pos_ - 1;
  int next = peek(true);
  bool quoted = quote != Quote::none;
  if (next == '(' || next == '{' || next == '[') {
    skip(true);
    literal.flush(out);
    if (next == '(') return read_substitution(out, begin, Part::Kind::command, quoted);
    if (next == '{') return read_brace(out, begin, quoted);
    return read_bracket_arithmetic(out, begin);
  }
  if (!quoted && (next == '\'' || next == '"')) {
    skip(true);
    literal.flush(out);
    return next == '\'' ? read_single(out, begin, true) : read_double(out, begin, true);
  }
  if (is_name_char(next) || is_special_parameter(next)) {
    // With extglob, bash's lexer sees a pattern in $@(…) before it sees the parameter.
    std::size_t after = past_joins(past_joins(pos_) + 1);
    bool pattern = extglob_ && !quoted && is_pattern_prefix(next) && after < text_.size() && text_[after] == '(';
    if (!pattern) {
      literal.flush(out);
      return read_variable(out, begin);
    }
  }
  literal.add(begin, begin + 1);
}

void Parser::read_variable(Parts& out, std::size_t begin) {
  Literal name(*this);
  int c = get(true);
  name.add_last();
  if (is_name_start(c)) {
    while (is_name_char(peek(true))) get(true), name.add_last();
  }
  Part part{.kind = Part::Kind::variable};
  Parts held;
  name.flush(held);
  part.text = held[0].text;
  part.where = span(begin);
  out.push(arena_, part);
}

void Parser::read_brace(Parts& out, std::size_t begin, bool quoted) {
  Part part{.kind = Part::Kind::parameter};
  if (!read_group(part.parts, '{', '}', first_close | brace | (quoted ? double_quoted : 0u))) return;
  part.where = span(begin);
  part.parameter = take_apart(part.parts, arena_);
  part.trouble = part.parameter->trouble;
  if (quoted && part.trouble.empty()) no_quotes_in(*part.parameter, part.where);
  if (!part.trouble.empty()) fail_later(part.trouble, part.where);
  out.push(arena_, part);
}

// "${x-'$(a)'}": inside double quotes, single ones hide the end of ${…} but quote nothing, except in a pattern.
void Parser::no_quotes_in(const Parameter& parameter, Span where) {
  if (!parameter.op.empty() && std::string_view("#%/^,@").find(parameter.op[0]) != std::string_view::npos) return;
  for (const Parts* operand : {&parameter.first, &parameter.second}) {
    for (const Part& part : *operand) {
      const bool ansi = part.kind == Part::Kind::ansi;
      if (part.kind != Part::Kind::single && !ansi) continue;
      const std::string text = ansi ? decode_ansi(part.text) : std::string(part.text);
      if ((text + std::string(part.text)).find_first_of("$`\\\"}") != std::string::npos)
        fail_later("single quotes inside double quotes, which quote nothing there", where);
    }
  }
}

void Parser::read_bracket_arithmetic(Parts& out, std::size_t begin) {
  Part part{.kind = Part::Kind::arithmetic, .text = "["};
  if (!read_group(part.parts, '[', ']', arith)) return;
  part.where = span(begin);
  out.push(arena_, part);
}

void Parser::read_substitution(Parts& out, std::size_t begin, Part::Kind kind, bool /*quoted*/) {
  if (peek(true) == '(') return read_double_paren_substitution(out, begin, kind);
  if (!deeper()) return;
  ++limits_.depth;
  Lexing saved = lex_;
  lex_ = {};
  lex_.state = in_substitution;
  lex_.current = Token::dollar_paren;
  Part part{.kind = kind};
  advance();
  skip_newlines();
  part.list = lex_.current == Token::rparen ? arena_.make<List>() : compound_list();
  if (!failed_ && lex_.current != Token::rparen) {
    if (lex_.current == Token::eof) {
      fail("( is never closed", span(begin, begin + 2));
    } else {
      unexpected();
    }
  }
  if (!failed_ && !lex_.pending.empty()) gather_here_documents(false);
  lex_ = saved;
  --limits_.depth;
  part.where = span(begin);
  out.push(arena_, part);
}

void Parser::read_double_paren_substitution(Parts& out, std::size_t begin, Part::Kind kind) {
  pos_ = past_joins(pos_);
  std::size_t inside = pos_;
  const char* held = text_.data();
  Part part{.kind = kind};
  if (!read_group(part.parts, '(', ')', arith)) return;
  if (text_.data() != held) {
    fail("a substitution that ends outside its alias", span(begin));
    return;
  }
  part.where = span(begin);
  std::string_view raw = text_.substr(inside, pos_ - 1 - inside);
  bool arithmetic =
      kind == Part::Kind::command && raw.size() >= 2 && raw.back() == ')' && is_balanced(raw.substr(1, raw.size() - 2));
  if (!arithmetic) {
    part.parts.clear();
    read_nested(raw, inside, false, part);
    out.push(arena_, part);
    return;
  }
  const auto is_text = [](const Part& one) { return one.kind == Part::Kind::literal && !one.text.empty(); };
  if (!is_text(part.parts.front()) || !is_text(part.parts.back())) {
    fail("parentheses that belong together in one reading of bash and not in another", part.where);
    return;
  }
  part.kind = Part::Kind::arithmetic;
  part.text = "(";
  part.parts.front().text.remove_prefix(1);
  part.parts.back().text.remove_suffix(1);
  out.push(arena_, part);
}

// Whether the quoted text read last would be part of another expansion without its quotes: "${x-$p"z"}", "${x-"$"(…)}".
bool Parser::joins_neighbours(const Parts& out) {
  const auto is_variable = [](const Part& part) {
    return part.kind == Part::Kind::variable && is_name_start(part.text[0]);
  };
  const Parts& inside = out.back().parts;
  if (inside.empty()) return false;
  const Part& first = inside.front();
  const bool after_variable = out.size() > 1 && is_variable(out[out.size() - 2]);
  if (after_variable && first.kind == Part::Kind::literal && is_name_char(first.text[0])) return true;
  const Part& last = inside.back();
  if (is_variable(last)) return is_name_char(peek(true));
  return last.kind == Part::Kind::literal && last.text.ends_with('$');
}

// After `open`: up to the matching `close`. Quotes and substitutions inside hide what looks like either.
bool Parser::read_group(Parts& out, char open, char close, unsigned flags) {
  if (!deeper()) return false;
  ++limits_.depth;
  std::size_t begin = pos_;
  Literal literal(*this);
  int count = 1;
  bool after_angle = false;
  while (!failed_) {
    int c = get(true);
    if (c < 0) {
      hit_end_ = true;
      fail(std::string(1, open) + " is never closed by " + close, span(begin - 1, begin));
      break;
    }
    std::size_t at = pos_ == 0 ? 0 : pos_ - 1;
    if (c == close && --count == 0) break;
    if (c == open && (flags & first_close) == 0) ++count;
    bool angle = std::exchange(after_angle, (c == '<' || c == '>') && !after_angle);
    if (c == '\\') {
      std::size_t from = pos_;
      if (get(false) < 0) continue;
      literal.flush(out);
      out.push(arena_, Part{.kind = Part::Kind::escaped, .where = span(at), .text = text_.substr(from, 1)});
    } else if (c == '\'' || c == '"' || c == '`') {
      literal.flush(out);
      if (c == '\'') read_single(out, at, false);
      if (c == '"') read_double(out, at, false);
      if (c == '"' && (flags & double_quoted) != 0 && joins_neighbours(out))
        fail_later("quotes inside quotes, which bash takes away before it reads what they divide", span(at));
      if (c == '`') read_backquote(out, at, (flags & double_quoted) != 0 ? Quote::dquote : Quote::none);
    } else if (c == '$') {
      read_dollar_in_group(out, literal, flags, count);
      if (count <= 0) {
        fail("a parenthesis inside ${…} inside arithmetic", span(at));
      }
    } else if (c == '(' && angle && (flags & (array_subscript | brace)) != 0 && at > 0) {
      // The < or > is already in the literal: take it out again.
      bool in = text_[at - 1] == '<';
      literal.drop_last();
      literal.flush(out);
      read_substitution(out, at - 1, in ? Part::Kind::process_in : Part::Kind::process_out, false);
    } else {
      literal.add_last();
    }
  }
  literal.flush(out);
  --limits_.depth;
  return !failed_;
}

void Parser::read_dollar_in_group(Parts& out, Literal& literal, unsigned flags, int& open) {
  std::size_t begin = pos_ - 1;
  int next = peek(true);
  if (next == '\'' || next == '"') {
    if (next == '"' && (flags & double_quoted) != 0)
      fail_later("a dollar before quotes that bash takes away", span(begin));
    skip(true);
    literal.flush(out);
    return next == '\'' ? read_single(out, begin, true) : read_double(out, begin, true);
  }
  bool counted = next == '{' && (flags & (array_subscript | brace)) == 0;
  read_dollar(out, literal, (flags & double_quoted) != 0 ? Quote::dquote : Quote::none);
  if (!counted || failed_) return;
  // Here bash counts parentheses right through ${…}.
  for (const Part& part : out.back().parts) {
    if (part.kind != Part::Kind::literal) continue;
    for (char c : part.text) open += c == '(' ? 1 : c == ')' ? -1 : 0;
  }
}

}  // namespace cordon::shell
