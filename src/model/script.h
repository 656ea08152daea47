// What a command text means before it runs. `shell/` makes a Script from text; `risk/` reads it.
//
// A Script is the list of simple commands that would run, in the order in which they would, with every word
// expanded as far as that can be known without running anything. What cannot be known is said to be unknown; it is
// never guessed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cordon {

/// Byte offsets into the text a Script was read from: [begin, end).
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Span&) const = default;
};

/// One stretch of an expanded word.
struct Piece {
  enum class Kind : std::uint8_t {
    literal,      // exactly the bytes of `text`
    glob,         // an unquoted pattern: `text` is "*", "?", "[a-z]", "@(a|b)" …
    number,       // some integer: $?, $$, $((…)), ${#x}; holds no blank, slash or leading dash beyond a minus sign
    unknown,      // any text: a variable or substitution that cannot be known; `text` is its source, e.g. "$X"
    process_in,   // <(…): a path from which the output of the commands in `from` is read
    process_out,  // >(…): a path whose reader are the commands in `from`
  };
  Kind kind = Kind::literal;
  bool quoted = false;  // an unquoted unknown may become several words, or none
  std::string text;
  std::string variable;             // for number and unknown: the variable's name, where it is one
  std::vector<std::uint32_t> from;  // indices into Script::commands whose output this is ($(…), `…`, <(…))
  std::vector<std::string> one_of;  // for unknown: it is surely one of these, where that is known
  bool operator==(const Piece&) const = default;
};

struct Word {
  std::vector<Piece> pieces;
  Span where;

  /// Every byte is known and no glob is left.
  bool known() const;
  /// The text where known; otherwise with globs as written and unknowns as their source.
  std::string text() const;
  /// The literal bytes the word is certain to begin with.
  std::string prefix() const;
  bool has(Piece::Kind kind) const;

  static Word literal(std::string text, Span where = {});
  bool operator==(const Word&) const = default;
};

struct Assignment {
  std::string name;
  Word value;
  bool append = false;   // NAME+=value
  bool indexed = false;  // NAME[i]=value or NAME=(…)
  Span where;
};

struct Redirect {
  enum class Kind : std::uint8_t {
    read,        // <
    write,       // > and >|
    append,      // >>
    read_write,  // <>
    here_text,   // <<, <<-, <<<: target is the text itself
    duplicate,   // <&N, >&N: target is the number, or "-" to close
  };
  Kind kind = Kind::read;
  int fd = 0;                // which descriptor; −1 for {name}>
  bool also_stderr = false;  // &> and &>> and >&file
  Word target;
  Span where;
};

/// One simple command that would run.
struct Command {
  std::vector<Assignment> assignments;
  std::vector<Word> words;          // words[0] names the program; empty when there are only assignments or redirects
  std::vector<Redirect> redirects;  // its own, then those of enclosing groups, innermost first
  Span where;

  enum class Kind : std::uint8_t {
    program,   // looked up on PATH or run by its path
    builtin,   // of bash
    function,  // defined earlier in the script; the commands of its body follow
    compound,  // no words of its own: a group, loop or test that only carries redirects
  };
  Kind kind = Kind::program;

  std::vector<std::uint32_t>
      piped_from;                     // commands whose stdout is this one's stdin (every command of the stage before)
  std::optional<std::string> input;   // all that stdin holds, where that can be known (here-text, constant pipeline)
  std::optional<std::string> output;  // all that a redirect puts into a file, where that can be known
  std::optional<std::string> directory;  // working directory as changed by earlier cd; relative to the start unless
                                         // absolute; "" at the start; nothing when unknowable
  bool background = false;               // started with & or as coproc
  bool fed = false;                      // of a coproc: whoever holds its descriptor writes to its stdin
  bool conditional = false;              // behind &&, ||, if, case, a loop: it may not run
  std::uint32_t in_substitution = 0;     // depth of $(…), `…`, <(…) around it
  std::vector<Assignment>
      exported;  // exported earlier in this script and still in force; only names bash would pass on
};

/// Something about the script as a whole that a judge wants to know.
struct Oddity {
  enum class Kind : std::uint8_t {
    recursion,       // a function that calls itself
    fork_bomb,       // … in a pipeline or in the background, or an endless loop that starts background commands
    filling,         // an endless loop that only appends to files
    alias,           // an alias is defined that changes what a later name means
    shadowed,        // a function or alias takes the name of a program that is called
    limit,           // expansion was cut off: too many words, too deep, too long
    too_long,        // nothing of it was looked at
    invisible_text,  // control, bidi, zero-width, odd blank or confusable character; `detail` makes it visible
  };
  Kind kind;
  std::string detail;
  Span where;
};

struct Script {
  std::string text;
  bool understood = true;  // bash would read it, and so did we
  std::string trouble;     // else: what is wrong, for a person
  Span trouble_at;
  std::vector<Command> commands;  // also filled, as far as reading came, when it was not understood
  std::vector<Oddity> oddities;
  std::uint64_t work = 0;  // what reading cost, in about bytes: the same on every machine, for tests and budgets

  /// One simple program call and nothing else, with every word known, no assignment, redirect or function: it can be
  /// executed as an argv without a shell. A builtin is one where a program does the same (true, false, echo).
  bool is_plain_call() const;
};

/// What a reader may assume about the shell that will run the text.
struct ShellState {
  std::map<std::string, std::string> variables;  // known values, e.g. HOME; what is not here is unknown
  std::vector<std::string> positional;           // $0, $1, …  of `sh -c TEXT NAME ARG…`
  bool positional_known = true;                  // $@ of a script file is not
  std::uint32_t depth = 0;                       // how many texts deep we are (sh -c inside sh -c …)
};

/// `shell::read`, handed to those who find more shell text inside a command (bash -c, env -S, ssh, watch …).
using ReadScript = std::function<Script(std::string_view text, const ShellState& state)>;

}  // namespace cordon
