// Characters and tokens. Function for function this is bash's shell_getc, read_token and special_case_tokens.
#include <array>

#include "shell/characters.h"
#include "shell/parser.h"

namespace cordon::shell {

Parser::Parser(std::string_view text, Arena& arena, Limits& limits, const Dialect& dialect, std::uint32_t base)
    : text_(text), base_(base), arena_(arena), limits_(limits), dialect_(dialect), extglob_(dialect.extglob) {}

Span Parser::span(std::size_t begin) const { return span(begin, pos_); }

Span Parser::span(std::size_t begin, std::size_t end) const {
  if (pinned_) return pin_;
  std::size_t limit = text_.size();
  return {base_ + static_cast<std::uint32_t>(std::min(begin, limit)),
          base_ + static_cast<std::uint32_t>(std::min(std::max(begin, end), limit))};
}

bool Parser::pop_frame() {
  if (frames_.empty()) return false;
  const Frame& frame = frames_.back();
  if (frame.expand_next) lex_.state |= alias_next;
  text_ = frame.text;
  pos_ = frame.pos;
  pinned_ = frame.pinned;
  pin_ = frame.pin;
  frames_.pop_back();
  return true;
}

int Parser::get(bool join) {
  for (;;) {
    // An alias's text ends a word, as if a blank followed it; but not after an operator, which may go on.
    if (pos_ >= text_.size()) {
      const bool operates = !text_.empty() && is_meta(text_.back());
      if (!pop_frame()) return -1;
      if (operates && pos_ < text_.size() && is_meta(text_[pos_]))
        fail("an operator that an alias begins and what follows it ends", span(pos_));
      return ' ';
    }
    if (join && text_[pos_] == '\\' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '\n') {
      pos_ += 2;
      if (resume_ != 0 && frames_.empty()) pos_ = std::exchange(resume_, 0);
      continue;
    }
    int c = static_cast<unsigned char>(text_[pos_++]);
    if (c == '\n' && resume_ != 0 && frames_.empty()) pos_ = std::exchange(resume_, 0);
    return c;
  }
}

std::size_t Parser::past_joins(std::size_t pos) const {
  while (pos + 1 < text_.size() && text_[pos] == '\\' && text_[pos + 1] == '\n') pos += 2;
  return pos;
}

int Parser::peek(bool join) const {
  std::size_t pos = join && resume_ == 0 ? past_joins(pos_) : pos_;
  if (pos < text_.size()) return static_cast<unsigned char>(text_[pos]);
  return frames_.empty() ? -1 : ' ';
}

void Parser::advance() {
  lex_.before = lex_.last;
  lex_.last = lex_.current;
  lex_.current = failed_ ? Token::eof : read_token();
}

void Parser::skip_comment() {
  while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
}

Token Parser::read_token() {
  if ((lex_.state & (cond_open | cond_inside)) == cond_open) {
    lex_.state |= cond_inside;
    cond_result_ = cond_or();
    if (!failed_ && cond_token_ != Token::cond_end) {
      if (hit_end_) {
        fail("[[ is never closed by ]]", span(token_begin_));
      } else {
        fail("unexpected text in [[ … ]]", span(token_begin_));
      }
    }
    return Token::cond_end;
  }
  for (;;) {
    int c;
    do {
      c = get(true);
    } while (c == ' ' || c == '\t');
    token_begin_ = c < 0 ? pos_ : pos_ - 1;
    if (c < 0) {
      hit_end_ = true;
      return Token::eof;
    }
    if (c == '#') {
      skip_comment();
      if (pos_ >= text_.size() && !frames_.empty()) {
        fail("a comment that begins in an alias and ends outside it", span(token_begin_));
        return Token::eof;
      }
      if (get(false) < 0) {
        hit_end_ = true;
        return Token::eof;
      }
      c = '\n';
    }
    if (c == '\n') {
      if (!lex_.pending.empty()) gather_here_documents(true);
      lex_.state &= ~static_cast<unsigned>(assign_ok | alias_next);
      return Token::newline;
    }
    if ((lex_.state & regexp) == 0) {
      if (is_meta(c)) {
        Token token = read_operator(c);
        if (token != Token::start) return token;
      } else if (c == '-' && (lex_.last == Token::dup_in || lex_.last == Token::dup_out)) {
        return Token::dash;
      }
    }
    --pos_;
    Token token = read_word_token();
    if (token != Token::start) return token;
  }
}

// Token::start: no operator after all, but the beginning of a word.
Token Parser::read_operator(int c) {
  if (c == '<' || c == '>') lex_.state &= ~static_cast<unsigned>(alias_next);
  lex_.state &= ~static_cast<unsigned>(assign_ok);
  int next = peek(!((lex_.state & in_substitution) != 0 && c == ')'));
  if (next == c) {
    switch (c) {
      case '<':
        skip(true);
        if (peek(true) == '-') return skip(true), Token::here_strip;
        if (peek(true) == '<') return skip(true), Token::here_string;
        return Token::here;
      case '>':
        return skip(true), Token::append;
      case ';':
        skip(true);
        lex_.state |= case_pattern;
        lex_.state &= ~static_cast<unsigned>(alias_next);
        if (peek(true) == '&') return skip(true), Token::semi_semi_and;
        return Token::semi_semi;
      case '&':
        return skip(true), Token::and_and;
      case '|':
        return skip(true), Token::or_or;
      case '(':
        if (lex_.last == Token::for_ || reserved_acceptable(lex_.last)) return read_double_paren();
        break;
      default:
        break;
    }
  } else if (c == '<' && next == '&') {
    return skip(true), Token::dup_in;
  } else if (c == '>' && next == '&') {
    return skip(true), Token::dup_out;
  } else if (c == '<' && next == '>') {
    return skip(true), Token::read_write;
  } else if (c == '>' && next == '|') {
    return skip(true), Token::clobber;
  } else if (c == '&' && next == '>') {
    skip(true);
    if (peek(true) == '>') return skip(true), Token::both_append;
    return Token::both;
  } else if (c == '|' && next == '&') {
    return skip(true), Token::pipe_both;
  } else if (c == ';' && next == '&') {
    skip(true);
    lex_.state |= case_pattern;
    lex_.state &= ~static_cast<unsigned>(alias_next);
    return Token::semi_and;
  }
  if (c == ')' && lex_.last == Token::lparen && lex_.before == Token::word) {
    lex_.state |= allow_brace;
    lex_.state &= ~static_cast<unsigned>(alias_next);
  }
  if (c == ')') lex_.state &= ~static_cast<unsigned>(case_pattern);
  switch (c) {
    case '(':
      return Token::lparen;
    case ')':
      return Token::rparen;
    case ';':
      return Token::semi;
    case '&':
      return Token::amp;
    case '|':
      return Token::pipe;
    case '<':
      return next == '(' ? Token::start : Token::less;
    default:
      return next == '(' ? Token::start : Token::greater;
  }
}

namespace {

/// "<<" in a text, but for "<<<".
bool mentions_here_document(std::string_view text) {
  std::size_t in_a_row = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at, 2) == "\\\n") {
      ++at;  // a line that goes on
    } else if (text[at] == '<') {
      ++in_a_row;
    } else {
      if (in_a_row == 2) return true;
      in_a_row = 0;
    }
  }
  return false;
}

}  // namespace

// At the second parenthesis of "((": an arithmetic command if its end is "))", else a subshell in a subshell.
Token Parser::read_double_paren() {
  std::size_t begin = pos_;
  skip(true);
  bool is_for = lex_.last == Token::for_;
  arithmetic_.clear();
  std::size_t resume = resume_;
  const char* held = text_.data();
  Parts parts;
  if (!read_group(parts, '(', ')', arith)) return Token::eof;
  if (text_.data() != held) {
    fail("two parentheses that end outside their alias", span(begin));
    return Token::eof;
  }
  if (peek(false) == ')') {
    skip(false);
    arithmetic_ = parts;
    return is_for ? Token::arithmetic_for : Token::arithmetic;
  }
  if (is_for) {
    fail("for (( is never closed by ))", span(begin - 1));
    return Token::eof;
  }
  limits_.reread += pos_ - begin;
  if (limits_.reread > limits_.max_reread) {
    fail("nested too deeply", span(begin));
    return Token::eof;
  }
  if (mentions_here_document(text_.substr(begin, pos_ - begin))) {
    fail("a here-document inside two parentheses, which bash takes from behind them", span(begin - 1));
    return Token::eof;
  }
  pos_ = begin;
  resume_ = resume;
  return Token::lparen;
}

bool Parser::reserved_acceptable(Token token) const {
  switch (token) {
    case Token::newline:
    case Token::semi:
    case Token::lparen:
    case Token::rparen:
    case Token::pipe:
    case Token::amp:
    case Token::lbrace:
    case Token::rbrace:
    case Token::and_and:
    case Token::arithmetic:
    case Token::bang:
    case Token::pipe_both:
    case Token::cond_end:
    case Token::do_:
    case Token::done_:
    case Token::elif_:
    case Token::else_:
    case Token::esac_:
    case Token::fi_:
    case Token::if_:
    case Token::or_or:
    case Token::semi_semi:
    case Token::semi_and:
    case Token::semi_semi_and:
    case Token::then_:
    case Token::time_:
    case Token::time_posix:
    case Token::time_end:
    case Token::coproc_:
    case Token::until_:
    case Token::while_:
    case Token::start:
    case Token::dollar_paren:
      return true;
    default:
      return lex_.last == Token::word && (lex_.before == Token::coproc_ || lex_.before == Token::function_);
  }
}

bool Parser::command_position(Token token) const {
  if (token == Token::assignment) return true;
  if ((lex_.state & redirect_list) != 0 && !starts_redirect(token)) return true;
  return token != Token::semi_semi && token != Token::semi_and && token != Token::semi_semi_and &&
         reserved_acceptable(token);
}

bool Parser::assignment_position(Token token) const {
  return command_position(token) && (lex_.state & case_pattern) == 0;
}

bool Parser::time_acceptable() const {
  switch (lex_.last) {
    case Token::start:
    case Token::semi:
    case Token::newline:
      return lex_.before != Token::pipe;
    case Token::and_and:
    case Token::or_or:
    case Token::amp:
    case Token::while_:
    case Token::do_:
    case Token::until_:
    case Token::if_:
    case Token::then_:
    case Token::elif_:
    case Token::else_:
    case Token::lbrace:
    case Token::lparen:
    case Token::rparen:
    case Token::bang:
    // bash reads $(time …) twice: first with `time` as a plain word, then, to run it, as the keyword.
    case Token::dollar_paren:
    case Token::time_:
    case Token::time_posix:
    case Token::time_end:
      return true;
    default:
      return false;
  }
}

// bash's special_case_tokens. Token::start: not special.
Token Parser::special_word(std::string_view text) {
  bool after_word = lex_.last == Token::word;
  bool in_header = lex_.before == Token::for_ || lex_.before == Token::case_ || lex_.before == Token::select_;
  if (text == "in") {
    bool now = after_word && in_header;
    bool later = lex_.expecting_in > 0 && (after_word || lex_.last == Token::newline);
    if (now || later) {
      bool of_case = now ? lex_.before == Token::case_ : (lex_.state & case_statement) != 0;
      if (of_case) lex_.state |= case_pattern, ++lex_.esacs;
      if (lex_.expecting_in > 0) --lex_.expecting_in;
      return Token::in_;
    }
  }
  if (text == "do") {
    if (lex_.expecting_in > 0 && (lex_.last == Token::newline || lex_.last == Token::semi)) {
      --lex_.expecting_in;
      return Token::do_;
    }
    if (after_word && (lex_.before == Token::for_ || lex_.before == Token::select_)) {
      if (lex_.expecting_in > 0) --lex_.expecting_in;
      return Token::do_;
    }
  }
  if (lex_.esacs > 0 && lex_.last == Token::in_ && text == "esac") {
    --lex_.esacs;
    lex_.state &= ~static_cast<unsigned>(case_pattern);
    return Token::esac_;
  }
  if ((lex_.state & allow_brace) != 0) {
    lex_.state &= ~static_cast<unsigned>(allow_brace);
    if (text == "{") return ++open_braces_, Token::lbrace;
  }
  if (lex_.last == Token::arithmetic_for) {
    if (text == "do") return Token::do_;
    if (text == "{") return ++open_braces_, Token::lbrace;
  }
  if (open_braces_ > 0 && text == "}" && reserved_acceptable(lex_.last)) return --open_braces_, Token::rbrace;
  if (lex_.last == Token::time_ && text == "-p") return Token::time_posix;
  if ((lex_.last == Token::time_ || lex_.last == Token::time_posix) && text == "--") return Token::time_end;
  if ((lex_.state & cond_inside) != 0 && text == "]]") return Token::cond_end;
  return Token::start;
}

namespace {

struct Reserved {
  std::string_view text;
  Token token;
};

constexpr std::array<Reserved, 22> reserved_words{{
    {"if", Token::if_},         {"then", Token::then_},    {"else", Token::else_},
    {"elif", Token::elif_},     {"fi", Token::fi_},        {"case", Token::case_},
    {"esac", Token::esac_},     {"for", Token::for_},      {"select", Token::select_},
    {"while", Token::while_},   {"until", Token::until_},  {"do", Token::do_},
    {"done", Token::done_},     {"in", Token::in_},        {"function", Token::function_},
    {"time", Token::time_},     {"{", Token::lbrace},      {"}", Token::rbrace},
    {"!", Token::bang},         {"[[", Token::cond_start}, {"]]", Token::cond_end},
    {"coproc", Token::coproc_},
}};

}  // namespace

bool is_reserved(std::string_view text) {
  if (text.empty() || text.size() > 8) return false;
  for (const Reserved& entry : reserved_words) {
    if (entry.text == text) return true;
  }
  return false;
}

// bash's CHECK_FOR_RESERVED_WORD. Token::start: an ordinary word.
Token Parser::reserved_word(std::string_view text) {
  if (text.empty() || text.size() > 8 || !reserved_acceptable(lex_.last)) return Token::start;
  for (const Reserved& entry : reserved_words) {
    if (entry.text != text) continue;
    bool in_pattern = (lex_.state & case_pattern) != 0;
    if (in_pattern && entry.token != Token::esac_) return Token::start;
    if (entry.token == Token::time_ && !time_acceptable()) return Token::start;
    if (in_pattern && (lex_.last == Token::pipe || lex_.last == Token::lparen)) return Token::start;
    switch (entry.token) {
      case Token::esac_:
        lex_.state &= ~static_cast<unsigned>(case_pattern | case_statement);
        --lex_.esacs;
        break;
      case Token::case_:
        lex_.state |= case_statement;
        break;
      case Token::cond_end:
        lex_.state &= ~static_cast<unsigned>(cond_open | cond_inside);
        break;
      case Token::cond_start:
        lex_.state |= cond_open;
        break;
      case Token::lbrace:
        ++open_braces_;
        break;
      case Token::rbrace:
        if (open_braces_ > 0) --open_braces_;
        break;
      default:
        break;
    }
    return entry.token;
  }
  return Token::start;
}

namespace {

/// Words that are neither quoted nor reserved, and no operators.
bool is_plain_words(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (is_blank(c)) {
      if (is_reserved(text.substr(begin, i - begin))) return false;
      begin = i + 1;
    } else if (!is_name_char(c) && std::string_view("-+./:=,%@^~").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Parser::expand_alias(std::string_view text) {
  if ((lex_.state & alias_next) == 0 && !assignment_position(lex_.last)) return false;
  if (dialect_.is_doubtful(text)) {
    fail("a command that may be an alias for another", span(token_begin_));
    return false;
  }
  auto found = dialect_.aliases.find(text);
  if (found == dialect_.aliases.end()) return false;
  for (const Frame& frame : frames_) {
    if (frame.alias == text) return false;
  }
  if (frames_.size() >= Limits::max_depth) {
    fail("aliases of aliases, nested too deeply", span(token_begin_));
    return false;
  }
  const std::string& value = found->second;
  // bash looks for the end of $(…) before it knows of aliases.
  if ((lex_.state & in_substitution) != 0 && !is_plain_words(value)) {
    fail("an alias inside a substitution that could move the substitution's end", span(token_begin_));
    return false;
  }
  limits_.reread += value.size() + 16;
  if (limits_.reread > limits_.max_reread) {
    fail("aliases expand without end", span(token_begin_));
    return false;
  }
  Span where = span(token_begin_);
  bool next = !value.empty() && (value.back() == ' ' || value.back() == '\t');
  frames_.push_back({text_, pos_, pinned_, pin_, arena_.copy(text), next});
  text_ = arena_.copy(value);
  pos_ = 0;
  pinned_ = true;
  pin_ = where;
  return true;
}

// Token::start: an alias was put in place of the word; read on.
Token Parser::read_word_token() {
  std::size_t begin = pos_;
  // Reading a word may parse commands inside it, which use word_ for their own.
  Word read;
  read_word(read);
  word_ = read;
  token_begin_ = begin;
  if (failed_) return Token::eof;
  std::string_view text = word_.plain();
  int next = peek(false);
  if (!text.empty() && is_digit(text[0]) &&
      (next == '<' || next == '>' || lex_.last == Token::dup_in || lex_.last == Token::dup_out)) {
    long value = 0;
    bool digits = text.size() < 11;
    for (std::size_t i = 0; digits && i < text.size(); ++i) {
      digits = is_digit(text[i]);
      value = value * 10 + (text[i] - '0');
    }
    if (digits && value <= 2147483647) return number_ = value, Token::number;
  }
  Token special = special_word(text);
  if (special != Token::start) return special;
  if (!text.empty()) {
    if (dialect_.expand_aliases || dialect_.expansion_doubtful) {
      if (expand_alias(text)) return Token::start;
      if (failed_) return Token::eof;
      lex_.state &= ~static_cast<unsigned>(alias_next);
    }
    Token reserved = reserved_word(text);
    if (reserved != Token::start) return reserved;
  }
  bool assignment = is_assignment(word_);
  word_.assignment = assignment;
  bool takes_assignment = assignment_position(lex_.last) || (lex_.state & compound_assign) != 0;
  if (command_position(lex_.last) && takes_array_arguments(text)) lex_.state |= assign_ok;
  if (text.size() > 2 && text.front() == '{' && text.back() == '}' && (next == '<' || next == '>') &&
      is_reference(text.substr(1, text.size() - 2))) {
    return Token::redirect_name;
  }
  if (lex_.last == Token::function_) lex_.state |= allow_brace;
  if (lex_.last == Token::case_ || lex_.last == Token::select_ || lex_.last == Token::for_) ++lex_.expecting_in;
  return assignment && takes_assignment ? Token::assignment : Token::word;
}

}  // namespace cordon::shell
