// Words, their quotes and arrays: bash's read_token_word.
#include <array>
#include <utility>

#include "shell/characters.h"
#include "shell/literal.h"

namespace cordon::shell {
namespace {

constexpr std::array<bool, 256> make_ordinary(std::string_view special) {
  std::array<bool, 256> table{};
  for (bool& entry : table) entry = true;
  for (char c : special) table[static_cast<unsigned char>(c)] = false;
  return table;
}

constexpr auto ordinary_in_word = make_ordinary(" \t\n()<>;&|'\"`$\\[=?*+@!");
constexpr auto ordinary_in_quotes = make_ordinary("\"\\`$");

}  // namespace

std::string_view Word::plain() const {
  if (parts.size() != 1 || parts[0].kind != Part::Kind::literal) return {};
  return parts[0].text;
}

bool is_reference(std::string_view text) {
  std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return is_name(text);
  return is_name(text.substr(0, bracket)) && text.back() == ']' && bracket + 2 < text.size();
}

bool takes_array_arguments(std::string_view command) {
  return command == "declare" || command == "export" || command == "local" || command == "readonly" ||
         command == "typeset" || command == "alias" || command == "eval" || command == "let";
}

bool Parser::deeper() {
  if (limits_.depth < Limits::max_depth) return true;
  fail("nested too deeply", span(pos_));
  return false;
}

bool Parser::reread(std::size_t bytes, std::size_t at) {
  limits_.reread += bytes;
  if (limits_.reread <= limits_.max_reread) return true;
  fail("nested too deeply", span(at));
  return false;
}

void Parser::read_word(Word& word) {
  std::size_t begin = pos_;
  Literal literal(*this);
  while (!failed_) {
    if (pos_ + 1 < text_.size() && text_[pos_] == '\\' && text_[pos_ + 1] == '\n') {
      pos_ += 2;
      if (resume_ != 0 && frames_.empty()) pos_ = std::exchange(resume_, 0);
      continue;
    }
    std::size_t run = pos_;
    while (run < text_.size() && ordinary_in_word[static_cast<unsigned char>(text_[run])]) ++run;
    if (run > pos_) {
      literal.add(pos_, run);
      pos_ = run;
      continue;
    }
    if (pos_ >= text_.size()) break;
    if (!read_word_character(word, literal, static_cast<unsigned char>(text_[pos_]))) break;
  }
  literal.flush(word.parts);
  word.where = span(begin);
}

// At a character that may mean something. False: the word ends before it.
bool Parser::read_word_character(Word& word, Literal& literal, int c) {
  std::size_t begin = pos_;
  switch (c) {
    case '\\':
      ++pos_;
      literal.flush(word.parts);
      // At the very end it stands for itself.
      if (pos_ >= text_.size()) {
        if (!frames_.empty()) fail("an alias that ends in a backslash", span(begin));
        word.parts.push(arena_, Part{.kind = Part::Kind::escaped, .where = span(begin), .text = "\\"});
        word.quoted = true;
        return true;
      }
      if (is_read_twice() && std::string_view("'\"`$();&|<>#").find(text_[pos_]) != std::string_view::npos) {
        fail("a backslash in an array in a substitution, which bash first reads as if it were not there", span(begin));
        return true;
      }
      word.parts.push(arena_,
                      Part{.kind = Part::Kind::escaped, .where = span(begin, pos_ + 1), .text = text_.substr(pos_, 1)});
      ++pos_;
      word.quoted = true;
      return true;
    case '\'':
    case '"':
      ++pos_;
      literal.flush(word.parts);
      c == '"' ? read_double(word.parts, begin, false) : read_single(word.parts, begin, false);
      word.quoted = true;
      return true;
    case '`':
      ++pos_;
      literal.flush(word.parts);
      read_backquote(word.parts, begin, Quote::none);
      return true;
    case '$':
      ++pos_;
      if (peek(true) == '\'' || peek(true) == '"') word.quoted = true;
      read_dollar(word.parts, literal, Quote::none);
      return true;
    case '<':
    case '>': {
      ++pos_;
      if (peek(true) != '(') return --pos_, false;
      skip(true);
      literal.flush(word.parts);
      read_substitution(word.parts, begin, c == '<' ? Part::Kind::process_in : Part::Kind::process_out, false);
      return true;
    }
    case '|':
    case '(':
      if ((lex_.state & regexp) == 0) return false;
      ++pos_;
      if (c == '|') return literal.add(begin, pos_), true;
      literal.flush(word.parts);
      {
        Part part{.kind = Part::Kind::group};
        if (!read_group(part.parts, '(', ')', 0)) return false;
        part.where = span(begin);
        word.parts.push(arena_, part);
      }
      return true;
    case '[':
    case '=':
      return read_bracket_or_equals(word, literal, c);
    default:
      break;
  }
  if (is_break(c)) return false;
  ++pos_;
  if (is_pattern_prefix(c) && peek(true) == '(' && dialect_.extglob_doubtful && (lex_.state & extended_pattern) == 0) {
    fail("parentheses that may be a pattern or a command", span(begin));
    return false;
  }
  if (extglob_ && is_pattern_prefix(c) && peek(true) == '(') {
    skip(true);
    literal.flush(word.parts);
    Part part{.kind = Part::Kind::extglob, .text = text_.substr(begin, 1)};
    if (!read_group(part.parts, '(', ')', 0)) return false;
    part.where = span(begin);
    word.parts.push(arena_, part);
    return true;
  }
  literal.add(begin, pos_);
  return true;
}

bool Parser::read_bracket_or_equals(Word& word, Literal& literal, int c) {
  std::size_t begin = pos_++;
  if (c == '[') {
    bool named = word.parts.empty() && !literal.empty() && is_name(literal.view()) && assignment_position(lex_.last);
    bool element = word.parts.empty() && literal.empty() && (lex_.state & compound_assign) != 0;
    if (named || element) {
      literal.flush(word.parts);
      Part part{.kind = Part::Kind::subscript};
      if (!read_group(part.parts, '[', ']', array_subscript)) return false;
      part.where = span(begin);
      word.parts.push(arena_, part);
      return true;
    }
  } else if (ends_assignment_name(word.parts, literal) &&
             (assignment_position(lex_.last) || (lex_.state & assign_ok) != 0) && peek(true) == '(') {
    literal.add(begin, pos_);
    literal.flush(word.parts);
    skip(true);
    read_array(word.parts, begin + 1);
    // a=(1 2)x is no list to bash, but the text of one.
    if (const int next = peek(true); !failed_ && next >= 0 && !is_break(next))
      fail_later("text right behind a list of values", span(begin));
    return true;
  }
  literal.add(begin, begin + 1);
  return true;
}

bool Parser::ends_assignment_name(const Parts& parts, const Literal& literal) const {
  std::string_view tail = literal.view();
  bool element = (lex_.state & compound_assign) != 0;
  if (parts.empty()) {
    if (element) return false;
    if (!tail.empty() && tail.back() == '+') tail.remove_suffix(1);
    return is_name(tail);
  }
  if (!tail.empty() && tail != "+") return false;
  if (element) return parts.size() == 1 && parts[0].kind == Part::Kind::subscript;
  return parts.size() == 2 && parts[0].kind == Part::Kind::literal && parts[1].kind == Part::Kind::subscript;
}

bool Parser::is_assignment(const Word& word) const {
  const Parts& parts = word.parts;
  bool element = (lex_.state & compound_assign) != 0;
  if (parts.empty()) return false;
  std::size_t i = 0;
  if (!element) {
    if (parts[0].kind != Part::Kind::literal) return false;
    std::string_view text = parts[0].text;
    std::size_t end = 0;
    while (end < text.size() && is_name_char(text[end])) ++end;
    if (end == 0 || !is_name_start(text[0])) return false;
    if (end < text.size()) {
      if (text[end] == '=' || text.substr(end, 2) == "+=") return true;
      // A subscript that was not in a place to be read as one.
      if (text[end] != '[') return false;
      const std::size_t after = end_of_subscript(text, end);
      return after < text.size() && (text[after] == '=' || text.substr(after, 2) == "+=");
    }
    i = 1;
  }
  if (parts.size() < i + 2 || parts[i].kind != Part::Kind::subscript) return false;
  if (parts[i + 1].kind != Part::Kind::literal) return false;
  std::string_view rest = parts[i + 1].text;
  return rest.starts_with('=') || rest.starts_with("+=");
}

std::string_view Parser::source_of(const Word& word) const {
  if (pinned_ || word.where.begin < base_ || word.where.end > base_ + text_.size()) return {};
  return text_.substr(word.where.begin - base_, word.where.end - word.where.begin);
}

void Parser::read_array(Parts& out, std::size_t begin) {
  if (!deeper()) return;
  ++limits_.depth;
  Lexing saved = lex_;
  lex_.last = Token::word;
  lex_.before = Token::start;
  lex_.state &= ~static_cast<unsigned>(cond_open | cond_inside | regexp | extended_pattern);
  lex_.state |= compound_assign;
  lex_.esacs = lex_.expecting_in = 0;
  Part part{.kind = Part::Kind::array};
  part.words = arena_.make<Seq<Word>>();
  for (;;) {
    Token token = read_token();
    if (failed_ || token == Token::rparen) break;
    if (token == Token::newline) continue;
    if (token != Token::word && token != Token::assignment) {
      if (token == Token::eof) {
        fail("( of an array is never closed", span(begin));
      } else {
        fail("unexpected text in an array", span(token_begin_));
      }
      break;
    }
    part.words->push(arena_, word_);
  }
  // Documents begun inside are still to come.
  saved.pending = lex_.pending;
  unsigned keep = saved.state & assign_ok;
  lex_ = saved;
  lex_.state |= keep;
  --limits_.depth;
  part.where = span(begin);
  out.push(arena_, part);
}

void Parser::read_single(Parts& out, std::size_t begin, bool ansi) {
  std::size_t end = pos_;
  while (end < text_.size() && text_[end] != '\'') end += ansi && text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) {
    hit_end_ = true;
    fail("' is never closed", span(begin, begin + 1));
    return;
  }
  Part part{.kind = ansi ? Part::Kind::ansi : Part::Kind::single, .text = text_.substr(pos_, end - pos_)};
  pos_ = end + 1;
  part.where = span(begin);
  out.push(arena_, part);
}

void Parser::read_double(Parts& out, std::size_t begin, bool locale) {
  if (!deeper()) return;
  ++limits_.depth;
  Part part{.kind = locale ? Part::Kind::locale : Part::Kind::dquote};
  Literal literal(*this);
  const char* held = text_.data();
  for (;;) {
    std::size_t run = pos_;
    while (run < text_.size() && ordinary_in_quotes[static_cast<unsigned char>(text_[run])]) ++run;
    literal.add(pos_, run);
    pos_ = run;
    int c = get(true);
    if (failed_) break;
    if (c < 0) {
      hit_end_ = true;
      fail("\" is never closed", span(begin, begin + 1));
      break;
    }
    if (text_.data() != held) {
      fail("a quotation that ends outside its alias", span(begin));
      break;
    }
    if (c == '"') break;
    std::size_t at = pos_ == 0 ? 0 : pos_ - 1;
    if (c == '\\' && is_escapable_in_quotes(peek(false))) {
      literal.flush(part.parts);
      part.parts.push(arena_,
                      Part{.kind = Part::Kind::escaped, .where = span(at, pos_ + 1), .text = text_.substr(pos_, 1)});
      ++pos_;
    } else if (c == '`') {
      literal.flush(part.parts);
      read_backquote(part.parts, at, Quote::dquote);
    } else if (c == '$') {
      read_dollar(part.parts, literal, Quote::dquote);
    } else {
      literal.add_last();
    }
  }
  literal.flush(part.parts);
  --limits_.depth;
  part.where = span(begin);
  out.push(arena_, part);
}

Parts Parser::read_quoted_text(bool quotes_are_literal) {
  Parts out;
  Literal literal(*this);
  while (!failed_) {
    int c = get(true);
    if (c < 0) break;
    std::size_t at = pos_ - 1;
    int next = peek(false);
    if (c == '\\' && is_escapable_in_quotes(next) && (next != '"' || !quotes_are_literal)) {
      literal.flush(out);
      out.push(arena_, Part{.kind = Part::Kind::escaped, .where = span(at, pos_ + 1), .text = text_.substr(pos_, 1)});
      ++pos_;
    } else if (c == '`') {
      literal.flush(out);
      read_backquote(out, at, quotes_are_literal ? Quote::here : Quote::dquote);
    } else if (c == '$') {
      read_dollar(out, literal, Quote::here);
    } else {
      literal.add_last();
    }
  }
  literal.flush(out);
  return out;
}

}  // namespace cordon::shell
