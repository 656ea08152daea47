// The syntax tree of a bash text, as bash's own parser would build it. Private to this folder: everyone else sees the
// model's Script. All of a tree lives in one arena and is given back with it, so nodes hold views and plain pointers.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/script.h"
#include "shell/arena.h"

namespace cordon::shell {

struct Part;
struct List;
struct Node;
struct Word;
using Parts = Seq<Part>;

/// The inside of ${…}, taken apart.
struct Parameter {
  std::string_view name;  // "x", "1", "@", "?" …
  std::string_view op;    // "", ":-", "#", "//", "^^", ":", "@" …; "*" for ${!prefix*}, "[" for ${!array[@]}
  bool indirect = false;  // ${!x…}
  bool length = false;    // ${#x}
  bool has_subscript = false;
  bool has_second = false;
  Parts subscript;
  Parts first;               // the operand, pattern or offset
  Parts second;              // the replacement or length
  std::string_view trouble;  // bash would say "bad substitution" when it gets there
};

struct Part {
  enum class Kind : std::uint8_t {
    literal,      // bytes as written, unquoted or, inside double quotes, quoted by them
    escaped,      // \c
    single,       // '…'
    ansi,         // $'…', still with its escapes
    dquote,       // "…"
    locale,       // $"…"
    variable,     // $x, $1, $@
    parameter,    // ${…}
    command,      // $(…)
    backquote,    // `…`; text is what the inner shell reads
    arithmetic,   // $((…)) and $[…]; text says which
    process_in,   // <(…)
    process_out,  // >(…)
    extglob,      // ?(…) and its kin; text is the leading character
    subscript,    // […] in an assignment's left side
    array,        // (…) on an assignment's right side
    group,        // (…) inside a regular expression
  };
  Kind kind = Kind::literal;
  Span where;
  std::string_view text;
  Parts parts;
  Parameter* parameter = nullptr;
  List* list = nullptr;
  Seq<Word>* words = nullptr;
  std::string_view trouble;  // a mistake bash only meets when it expands this
};

struct Word {
  Parts parts;
  Span where;
  bool quoted = false;      // some part of it was
  bool assignment = false;  // NAME=…, NAME[…]=…, NAME+=… where bash would take it as one

  /// The text, if it is one unquoted literal.
  std::string_view plain() const;
};

struct HereDocument {
  bool quoted = false;  // no expansion in the body
  bool strip_tabs = false;
  bool closed = false;  // by its delimiter, not by the end of the text
  std::string_view delimiter;
  std::string_view text;  // after joining lines and stripping tabs
  Parts body;             // the same, taken apart, if not quoted
  Span where;
};

struct Redirection {
  enum class Kind : std::uint8_t {
    read,
    write,
    clobber,
    append,
    read_write,
    here,
    here_string,
    duplicate_in,
    duplicate_out,
    both,
    both_append
  };
  Kind kind = Kind::read;
  int fd = -1;                // −1: the operator's own
  std::string_view variable;  // {name}>
  bool has_variable = false;
  Word target;
  HereDocument* here = nullptr;
  Span where;
};

struct Pipeline {
  Seq<Node*> stages;
  Seq<bool> with_stderr;  // stage i is followed by |&
  bool negated = false;
  enum class Time : std::uint8_t { no, yes, posix } time = Time::no;
};

struct Link {
  enum class Op : std::uint8_t { first, and_and, or_or } op = Op::first;
  Pipeline pipeline;
};

struct Item {
  Seq<Link> links;
  bool background = false;
};

struct List {
  Seq<Item> items;
};

struct CaseClause {
  Seq<Word> patterns;
  List* body = nullptr;  // null when empty
  enum class End : std::uint8_t { stop, fall_through, test_next } end = End::stop;
};

struct Condition {
  enum class Kind : std::uint8_t { unary, binary, and_and, or_or, grouped } kind = Kind::unary;
  bool negated = false;
  std::string_view op;
  Word left;
  Word right;
  Condition* first = nullptr;
  Condition* second = nullptr;
};

struct Node {
  enum class Kind : std::uint8_t {
    simple,
    group,
    subshell,
    if_,
    for_,
    select,
    arithmetic_for,
    while_,
    until,
    case_,
    function,
    condition,
    arithmetic,
    coproc
  };
  Kind kind = Kind::simple;
  Span where;
  Seq<Word> words;  // simple: assignments and words; for, select: the list; case: the subject
  Seq<Redirection> redirects;
  std::string_view name;      // for, select, function, coproc
  bool has_in = false;        // for, select
  List* condition = nullptr;  // if, while, until
  List* body = nullptr;       // groups, loops, then
  List* otherwise = nullptr;  // else
  Node* inner = nullptr;      // function body, coproc, elif
  Seq<CaseClause> clauses;
  Condition* test = nullptr;
  Seq<Parts> arithmetic;  // ((…)): one; for ((…)): three
};

/// Same tree, wherever it stood in its text.
bool same(const List& one, const List& other);

}  // namespace cordon::shell
