// Text → syntax tree, one input unit (what bash reads before it runs anything) at a time. It follows bash 5.2's own
// lexer state for state, since which words are reserved, assignments or patterns depends on the tokens before them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shell/syntax.h"
#include "shell/token.h"

namespace cordon::shell {

/// What running earlier lines may have changed about how later ones are read.
struct Dialect {
  bool extglob = false;
  bool expand_aliases = false;
  std::map<std::string, std::string, std::less<>> aliases;
  // What was changed where it is not known whether it holds: after a condition, in a subshell.
  bool extglob_doubtful = false;
  bool expansion_doubtful = false;
  bool every_alias_doubtful = false;
  std::set<std::string, std::less<>> doubtful_aliases;

  bool is_doubtful(std::string_view name) const {
    return every_alias_doubtful || doubtful_aliases.contains(name) || (expansion_doubtful && aliases.contains(name));
  }
};

/// What all parsers of one reading share, so that texts inside texts cannot multiply their cost.
struct Limits {
  static constexpr std::uint32_t max_depth = 200;
  std::uint32_t depth = 0;
  std::uint64_t reread = 0;  // bytes read a second time
  std::uint64_t max_reread = 0;
  std::uint64_t max_work = 0;  // of expanding, in about bytes
};

struct Trouble {
  std::string what;
  Span where;
  bool at_run_time = false;  // `bash -n` does not see it
};

/// Something that is expanded, of the kinds from `least` on.
bool holds_expansion(const Parts& parts, Part::Kind least);

class Parser {
 public:
  /// `base`: where `text` begins in the text that spans refer to. `text` must outlive the tree.
  Parser(std::string_view text, Arena& arena, Limits& limits, const Dialect& dialect, std::uint32_t base = 0);

  /// Makes every span this one: for text that does not stand in the source as it is read (aliases, `…`, eval).
  void pin(Span where) { pinned_ = true, pin_ = where; }

  /// The next unit, or null at the end or after trouble.
  List* next_unit();
  bool failed() const { return failed_; }
  bool at_end() const { return pos_ >= text_.size() && frames_.empty(); }
  const Trouble& trouble() const { return trouble_; }
  /// The first mistake that bash would meet only when expanding.
  const Trouble* late_trouble() const { return late_.what.empty() ? nullptr : &late_; }

  /// The whole text as the inside of a here-document, or of an arithmetic expression: expansions as in double quotes.
  Parts read_quoted_text(bool quotes_are_literal);
  /// The whole text as one word (for ${x@P} and the like).
  std::size_t position() const { return pos_; }

 private:
  enum State : unsigned {
    case_pattern = 1,
    allow_brace = 2,
    cond_open = 4,
    cond_inside = 8,
    compound_assign = 16,
    regexp = 32,
    extended_pattern = 64,
    redirect_list = 128,
    assign_ok = 256,
    in_substitution = 512,
    case_statement = 1024,
    alias_next = 2048,
  };
  enum Group : unsigned { first_close = 1, double_quoted = 2, array_subscript = 4, brace = 8, arith = 16 };
  enum class Quote : std::uint8_t { none, dquote, here };

  struct Lexing {
    Token last = Token::start;
    Token before = Token::start;
    Token current = Token::newline;
    unsigned state = 0;
    int esacs = 0;
    int expecting_in = 0;
    Seq<HereDocument*> pending;
  };
  struct Frame {
    std::string_view text;
    std::size_t pos;
    bool pinned;
    Span pin;
    std::string_view alias;
    bool expand_next;
  };
  class Literal;

  // Characters.
  int get(bool join);
  int peek(bool join) const;
  std::size_t past_joins(std::size_t pos) const;
  void skip(bool join) { (void)get(join); }
  bool pop_frame();
  Span span(std::size_t begin) const;
  Span span(std::size_t begin, std::size_t end) const;

  // Tokens.
  void advance();
  Token read_token();
  Token read_operator(int c);
  Token read_word_token();
  Token read_double_paren();
  Token special_word(std::string_view text);
  Token reserved_word(std::string_view text);
  bool reserved_acceptable(Token token) const;
  bool command_position(Token token) const;
  bool assignment_position(Token token) const;
  bool time_acceptable() const;
  bool expand_alias(std::string_view text);
  void skip_comment();

  // Words.
  void read_word(Word& word);
  /// Where the end of a quotation is not the same both times.
  bool is_read_twice() const {
    return (lex_.state & compound_assign) != 0 && (inside_substitution_ || (lex_.state & in_substitution) != 0);
  }
  /// As it stands in the text; nothing where that is another text.
  std::string_view source_of(const Word& word) const;
  bool read_word_character(Word& word, Literal& literal, int c);
  bool read_bracket_or_equals(Word& word, Literal& literal, int c);
  void read_dollar(Parts& out, Literal& literal, Quote quote);
  void read_dollar_in_group(Parts& out, Literal& literal, unsigned flags, int& open);
  void read_variable(Parts& out, std::size_t begin);
  void read_single(Parts& out, std::size_t begin, bool ansi);
  void read_double(Parts& out, std::size_t begin, bool locale);
  void read_backquote(Parts& out, std::size_t begin, Quote quote);
  void read_brace(Parts& out, std::size_t begin, bool quoted);
  void no_quotes_in(const Parameter& parameter, Span where);
  void read_substitution(Parts& out, std::size_t begin, Part::Kind kind, bool quoted);
  void read_double_paren_substitution(Parts& out, std::size_t begin, Part::Kind kind);
  void read_bracket_arithmetic(Parts& out, std::size_t begin);
  bool joins_neighbours(const Parts& out);
  bool read_group(Parts& out, char open, char close, unsigned flags);
  void read_array(Parts& out, std::size_t begin);
  void read_nested(std::string_view text, std::size_t begin, bool pin_it, Part& part);
  bool reread(std::size_t bytes, std::size_t at);
  bool is_assignment(const Word& word) const;
  bool ends_assignment_name(const Parts& parts, const Literal& literal) const;

  // Here-documents.
  void gather_here_documents(bool at_newline);
  void gather(HereDocument& document, std::size_t& at, bool& resumed_inside);
  std::string delimiter_of(const Word& word) const;

  // Grammar.
  List* compound_list();
  bool item(Item& item, bool newlines_allowed);
  bool pipeline_command(Pipeline& pipeline);
  bool pipeline(Pipeline& pipeline);
  Node* command();
  Node* simple_command(Node* node);
  Node* compound_command();
  Node* with_redirects(Node* node);
  Node* if_command();
  Node* loop_command(Node::Kind kind);
  Node* for_command(Node::Kind kind);
  Node* arithmetic_for_command(Node* node);
  Node* case_command();
  bool case_clause(CaseClause& clause);
  Node* function_after_keyword();
  Node* function_body(Node* node);
  Node* coproc_command();
  Node* cond_command();
  Condition* cond_or();
  Condition* cond_and();
  Condition* cond_term();
  Condition* cond_binary(Condition* node);
  void cond_next();
  List* do_group();
  bool redirection(Seq<Redirection>& out);
  void skip_newlines();
  bool expect(Token token);
  bool starts_command(Token token) const;
  bool starts_compound(Token token) const;
  bool starts_redirect(Token token) const;
  void finish_unit();

  std::nullptr_t fail(std::string what, Span where);
  std::nullptr_t unexpected();
  void fail_later(std::string_view what, Span where);
  bool deeper();

  std::string_view text_;
  std::size_t pos_ = 0;
  std::size_t resume_ = 0;  // where the line after this one begins, when here-documents stand between
  std::uint32_t base_;
  bool pinned_ = false;
  Span pin_;
  Arena& arena_;
  Limits& limits_;
  const Dialect& dialect_;
  bool extglob_;
  bool inside_substitution_ = false;  // the whole text is one's
  std::vector<Frame> frames_;
  Lexing lex_;
  int open_braces_ = 0;
  std::size_t token_begin_ = 0;
  Word word_;  // of the current token
  long number_ = 0;
  Parts arithmetic_;
  Condition* cond_result_ = nullptr;
  Token cond_token_ = Token::eof;
  bool failed_ = false;
  bool hit_end_ = false;
  Trouble trouble_;
  Trouble late_;
};

}  // namespace cordon::shell
