// One program call, its words sorted into subcommand, options and operands by what the tables know of the program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/script.h"
#include "risk/table.h"

namespace cordon::risk {

/// What a stream, file or variable is known to carry.
struct Flow {
  bool network = false;       // bytes that came from another machine
  bool secret = false;        // contents of a credential store, or the whole environment
  bool shell = false;         // output of an interactive shell
  bool fetched = false;       // files of a repository cloned in this script
  bool temporary = false;     // a name made by mktemp
  bool token = false;         // a variable whose name says it is a secret
  bool suspect = false;       // a file whose name says it is a secret
  bool endless = false;       // never ends by itself
  bool secret_names = false;  // names of files that hold credentials
  bool decoded = false;       // text that an encoding hid
  bool child = false;         // the id of a process that this script has started
  bool many = false;          // a hundred thousand lines and more
  bool found = false;         // names of files that a search found

  bool any() const {
    return network || secret || shell || fetched || temporary || token || suspect || endless || secret_names ||
           decoded || child || many || found;
  }

  Flow& operator|=(const Flow& other) {
    network |= other.network;
    secret |= other.secret;
    shell |= other.shell;
    fetched |= other.fetched;
    temporary |= other.temporary;
    token |= other.token;
    suspect |= other.suspect;
    endless |= other.endless;
    secret_names |= other.secret_names;
    decoded |= other.decoded;
    child |= other.child;
    many |= other.many;
    found |= other.found;
    return *this;
  }
};

/// A word as a program would receive it. The text is owned elsewhere and outlives the analysis.
struct Arg {
  std::string_view text;
  bool known = true;        // every byte
  bool wildcard = false;    // the shell will expand a pattern in it
  bool maybe_many = false;  // may become several words, or none
  Flow flow;
  Span where;
  const Word* word = nullptr;
};

struct GivenOption {
  const Option* option = nullptr;  // nothing: the tables do not know it
  std::string_view name;           // canonical spelling, or as written when unknown
  Arg value;
  bool has_value = false;
};

struct Operand {
  Arg arg;
  rows::RoleRow role{};
};

/// The words of a call, sorted. `carried` are the words of the command that a wrapper carries.
struct Sorted {
  const Node* program = nullptr;
  const Node* node = nullptr;  // the deepest subcommand that was recognised
  std::vector<const Node*> chain;
  std::vector<std::string_view> chain_texts;  // as written
  std::vector<GivenOption> options;
  std::vector<Operand> operands;
  std::span<const Arg> carried;             // Role::argv
  std::span<const Arg> line;                // Role::line: joined by blanks they are shell text
  std::vector<std::span<const Arg>> until;  // find -exec … ;
  std::string_view unknown_sub;             // a first operand where a subcommand was expected
  bool dashes = false;                      // "--" was given

  bool has(std::string_view option) const { return find(option) != nullptr; }
  const GivenOption* find(std::string_view option) const;
  bool marked(Mark mark) const;
};

/// Sorts words[1…] by the tables. `words[0]` names the program.
Sorted sort_words(const Node& program, std::span<const Arg> words);

}  // namespace cordon::risk
