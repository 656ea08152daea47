#include <algorithm>

#include "risk/code.h"

namespace cordon::risk {

namespace {

struct Manner {
  bool hash_comment = false;
  bool slash_comment = false;
  bool dash_comment = false;
  bool triple = false;          // '''…'''
  bool backtick_shell = false;  // `…` runs a command; otherwise it is a string
  bool regex = false;           // /…/ where a value is expected
  bool percent_words = false;   // %x{…}, %w[…]
  bool q_words = false;         // q(…), qq{…}, qx{…}
};

Manner manner_of(std::string_view language) {
  if (language == "python") return {.hash_comment = true, .triple = true};
  if (language == "javascript") return {.slash_comment = true, .regex = true};
  if (language == "perl") return {.hash_comment = true, .backtick_shell = true, .regex = true, .q_words = true};
  if (language == "ruby") return {.hash_comment = true, .backtick_shell = true, .regex = true, .percent_words = true};
  if (language == "php") return {.hash_comment = true, .slash_comment = true, .backtick_shell = true};
  if (language == "lua") return {.dash_comment = true};
  if (language == "awk") return {.hash_comment = true, .regex = true};
  if (language == "julia") return {.hash_comment = true, .backtick_shell = true};
  if (language == "powershell" || language == "r" || language == "tcl" || language == "elixir")
    return {.hash_comment = true};
  return {.slash_comment = true};
}

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
/// $/ $" $#: of Perl's and Ruby's variables those that would otherwise begin something.
bool punctuation_variable(char c) { return c == '/' || c == '"' || c == '\'' || c == '`' || c == '#' || c == '\\'; }
bool in_name(char c) { return starts_name(c) || (c >= '0' && c <= '9'); }

class Lexer {
 public:
  Lexer(std::string_view language, std::string_view text, int depth)
      : manner_(manner_of(language)), language_(language), text_(text), depth_(depth) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void add(Token::Kind kind, std::string text, bool unknown = false) {
    tokens_.push_back({kind, std::move(text), unknown});
  }

  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      add(Token::Kind::line_end, "\n");
      ++at_;
      const std::size_t begin = std::min(text_.find_first_not_of(" \t", at_), text_.size());
      tokens_.back().indent = static_cast<std::uint32_t>(begin - at_);
      at_ = begin;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '$' && manner_.regex && manner_.backtick_shell && punctuation_variable(peek(1))) {
      add(Token::Kind::name, "$_");  // only that it is a variable matters: no pattern, string or comment begins here
      at_ += 2;
    } else if (manner_.hash_comment && c == '#' && !(language_ == "php" && peek(1) == '[')) {
      skip_line();
    } else if (manner_.slash_comment && c == '/' && peek(1) == '/') {
      skip_line();
    } else if (manner_.slash_comment && c == '/' && peek(1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else if (manner_.dash_comment && c == '-' && peek(1) == '-') {
      skip_line();
    } else if (language_ == "generic" && c == '\'' && (peek(1) == '(' || peek(1) == '[' || quotes_a_symbol())) {
      ++at_;  // a list that Lisp is not to evaluate
    } else if (c == '"' || c == '\'' || c == '`') {
      quoted(c);
    } else if (manner_.percent_words && c == '%' &&
               (peek(1) == 'x' || peek(1) == 'w' || peek(1) == 'q' || peek(1) == 'Q') && bracket(peek(2))) {
      const bool shell = peek(1) == 'x';
      at_ += 2;
      bracketed(shell ? Token::Kind::shell : Token::Kind::string);
    } else if (manner_.regex && c == '/' && value_expected()) {
      regex();
    } else if (c >= '0' && c <= '9') {
      const std::size_t begin = at_;
      while (at_ < text_.size() && (in_name(text_[at_]) || (text_[at_] == '.' && peek(1) >= '0' && peek(1) <= '9')))
        ++at_;
      add(Token::Kind::mark, std::string(text_.substr(begin, at_ - begin)));
    } else if (starts_name(c) || (c == '$' && starts_name(peek(1))) || (c == '@' && starts_name(peek(1)))) {
      name();
    } else {
      add(Token::Kind::mark, std::string(1, c), c == '\x01');
      ++at_;
    }
  }

  /// (require 'asdf): what Lisp quotes ends with the list around it.
  bool quotes_a_symbol() const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && (in_name(text_[end]) || text_[end] == '-')) ++end;
    return end > at_ + 1 && end < text_.size() && text_[end] == ')';
  }

  bool value_expected() const {
    if (tokens_.empty()) return true;
    const Token& last = tokens_.back();
    if (last.kind == Token::Kind::line_end) return true;
    if (last.kind == Token::Kind::name)
      return last.text == "if" || last.text == "return" || last.text == "and" || last.text == "or" ||
             last.text == "split" || last.text == "unless";
    return last.kind == Token::Kind::mark && last.text != ")" && last.text != "]" && last.text != "}" &&
           !(last.text[0] >= '0' && last.text[0] <= '9');
  }

  void regex() {
    ++at_;
    bool set = false;
    while (at_ < text_.size() && text_[at_] != '\n') {
      const char c = text_[at_++];
      if (c == '\\')
        ++at_;
      else if (c == '[')
        set = true;
      else if (c == ']')
        set = false;
      else if (c == '/' && !set)
        break;
    }
    if (at_ > text_.size()) at_ = text_.size();
    add(Token::Kind::string, "");
  }

  static bool bracket(char c) {
    return c == '{' || c == '(' || c == '[' || c == '<' || c == '|' || c == '!' || c == '/' || c == '~';
  }

  void bracketed(Token::Kind kind) {
    if (at_ >= text_.size()) {  // s{a} and no more
      add(kind, "");
      return;
    }
    const char open = peek();
    const char close = open == '{' ? '}' : open == '(' ? ')' : open == '[' ? ']' : open == '<' ? '>' : open;
    ++at_;
    std::size_t begin = at_;
    int depth = 1;
    while (at_ < text_.size()) {
      if (text_[at_] == close && --depth == 0) break;
      if (text_[at_] == open && open != close) ++depth;
      ++at_;
    }
    add(kind, std::string(text_.substr(begin, at_ - begin)));
    if (at_ < text_.size()) ++at_;
  }

  void quoted(char quote) {
    const bool triple = manner_.triple && peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    std::string value;
    bool unknown = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (triple ? text_.substr(at_, 3) == std::string(3, quote) : c == quote) break;
      if (c == '\\' && at_ + 1 < text_.size()) {
        escape(value);
        continue;
      }
      unknown |= c == '\x01';
      value += c;
      ++at_;
    }
    at_ = std::min(at_ + (triple ? 3 : 1), text_.size());
    // Interpolation makes the value one that cannot be known: "#{x}", "${x}", "$x".
    const bool interpolates =
        (quote == '"' && (value.find("#{") != std::string::npos ||
                          (value.find('$') != std::string::npos && language_ != "python" && language_ != "javascript" &&
                           language_ != "lua" && language_ != "awk"))) ||
        (quote == '`' &&
         (value.find("${") != std::string::npos ||
          (manner_.backtick_shell && (value.find("#{") != std::string::npos || value.find('$') != std::string::npos))));
    const bool shell = quote == '`' && manner_.backtick_shell;
    add(shell ? Token::Kind::shell : Token::Kind::string, std::move(value), unknown || interpolates);
  }

  void escape(std::string& value) {
    const char e = text_[at_ + 1];
    if (e == 'x' && at_ + 3 < text_.size()) {
      auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 0;
      };
      value += static_cast<char>(digit(text_[at_ + 2]) * 16 + digit(text_[at_ + 3]));
      at_ += 4;
      return;
    }
    if (e == 'n')
      value += '\n';
    else if (e == 't')
      value += '\t';
    else if (e != '\n')
      value += e;
    at_ += 2;
  }

  void name() {
    const std::size_t begin = at_;
    std::string text;
    if (text_[at_] == '$' || text_[at_] == '@') text += text_[at_++];
    while (at_ < text_.size()) {
      if (in_name(text_[at_]) || (text_[at_] == '!' && language_ == "julia") ||
          ((text_[at_] == '-' || text_[at_] == ':' || text_[at_] == '/') && language_ == "generic" &&
           in_name(peek(1))) ||
          ((text_[at_] == '-') && language_ == "powershell" && at_ > begin && in_name(peek(1)))) {
        text += text_[at_++];
      } else if (text_[at_] == '.' && starts_name(peek(1))) {
        text += text_[at_++];
      } else if (text_[at_] == '?' && peek(1) == '.' && starts_name(peek(2))) {
        at_ += 1;
      } else if (text_[at_] == ':' && peek(1) == ':' && starts_name(peek(2))) {
        text += '.';
        at_ += 2;
      } else if (text_[at_] == '-' && peek(1) == '>' && starts_name(peek(2))) {
        text += '.';
        at_ += 2;
      } else {
        break;
      }
    }
    if (manner_.q_words && (text == "q" || text == "qq" || text == "qx" || text == "qw") && bracket(peek())) {
      bracketed(text == "qx" ? Token::Kind::shell : Token::Kind::string);
      return;
    }
    // Perl's m/…/, s/…/…/, tr/…/…/ hold quotes that are not strings.
    if (manner_.q_words && (text == "m" || text == "s" || text == "tr" || text == "y" || text == "qr") &&
        (peek() == '/' || peek() == '|' || peek() == '{' || peek() == '#' || peek() == '!')) {
      pattern(text == "s" || text == "tr" || text == "y", text == "s");
      return;
    }
    add(Token::Kind::name, std::move(text));
  }

  void pattern(bool two, bool replaces) {
    const char mark = peek();
    std::string second;
    for (int part = 0; part < (two ? 2 : 1); ++part) {
      if (mark == '{') {
        while (at_ < text_.size() && text_[at_] != '{') ++at_;
        bracketed(Token::Kind::string);
        if (part == 1) second = tokens_.back().text;
        tokens_.pop_back();
      } else {
        ++at_;
        while (at_ < text_.size() && text_[at_] != mark) {
          if (text_[at_] == '\\') ++at_;
          if (part == 1 && at_ < text_.size()) second += text_[at_];
          ++at_;
        }
      }
    }
    if (mark != '{' && at_ < text_.size()) ++at_;
    bool evaluates = false;
    while (at_ < text_.size() && text_[at_] >= 'a' && text_[at_] <= 'z') evaluates |= text_[at_++] == 'e';
    add(Token::Kind::string, "");
    // Code inside code: bounded, since each level is a level of our own stack.
    if (replaces && evaluates && depth_ < 8) {
      for (Token& token : Lexer(language_, second, depth_ + 1).run()) tokens_.push_back(std::move(token));
    }
  }

  Manner manner_;
  std::string_view language_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view language, std::string_view text) { return Lexer(language, text, 0).run(); }

}  // namespace cordon::risk
