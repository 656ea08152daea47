// What is known about the shell's variables and functions at one point of a script. Every change is journaled, so that
// a branch can be taken back and compared with another at the cost of what it changed, not of all there is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/script.h"
#include "shell/syntax.h"

namespace cordon::shell {

/// A text that is known, or known in pieces. An unknown value is one unknown piece.
struct Value {
  bool known = true;
  std::string text;           // where known
  std::vector<Piece> pieces;  // where not

  static Value of(std::string text) { return {true, std::move(text), {}}; }
  std::size_t size() const;
  static Value unknown(std::string source, std::string variable = {});
  static Value number(std::string source, std::string variable = {});
  bool operator==(const Value&) const = default;
};

struct Variable {
  enum class Kind : std::uint8_t { unset, scalar, indexed, associative, unknown, function };
  Kind kind = Kind::unset;
  bool exported = false;
  bool integer = false;
  bool lower = false;
  bool upper = false;
  bool readonly = false;
  bool reference = false;  // declare -n: not followed, so unknown
  Value value;
  std::map<std::string, Value> elements;  // arrays; indices are padded so that they sort as numbers
  std::vector<const Node*> bodies;        // of a function: those it may have
  bool certain = true;                    // the function is one of them
  bool more_bodies = false;               // than are listed
  bool defined = true;                    // it is a function, whichever
  bool anything = false;                  // it may also do what nobody knows
  std::vector<std::string> one_of;        // of an unknown scalar: all values it may have, where these are known
  std::uint64_t changed = 0;
  bool same_as(const Variable& other) const;
  /// About how many bytes it takes to copy.
  std::size_t size() const;
};

/// The part of the state that is small enough to copy.
struct Surroundings {
  std::shared_ptr<const std::vector<Value>> positional;  // null: unknown
  Value zero;                                            // $0
  std::optional<std::string> directory = std::string();
  bool environment_unknown = false;  // anything may have been set
  bool noglob = false;
  bool options_unknown = false;
  bool no_brace_expansion = false;
  bool lastpipe = false;
  bool allexport = false;
  bool errexit = false;
  bool nounset = false;
  bool failglob = false;
  bool nocasematch = false;
  bool operator==(const Surroundings&) const = default;
};

/// The few plain values that a variable may have after one of several courses; nothing when any of them is not known.
std::vector<std::string> values_of(const std::vector<const Variable*>& courses);

class State {
 public:
  struct Change {
    std::string name;
    Variable value;
  };
  using Changes = std::vector<Change>;

  Surroundings around;

  const Variable* find(std::string_view name) const;
  void set(std::string_view name, Variable variable);
  std::size_t mark() const { return journal_.size(); }
  /// Undoes everything since the mark and returns what it had become.
  Changes take_back(std::size_t mark);
  /// Now, as the number of changes ever made. Unlike a mark it holds although a course is taken back and joined again.
  std::uint64_t moment() const { return made_; }
  /// The names changed since that moment, or joined since.
  std::vector<std::string> changed_since(std::uint64_t moment) const;
  /// One of several courses was taken: keeps what they agree on.
  void join(const std::vector<Changes>& courses);
  void make_unknown(std::string_view name);
  /// A function that may have one of these bodies, or whatever it has now.
  void may_become(std::string_view function, const std::vector<const Node*>& bodies);
  /// What is not as it was at that moment, and was more than unknown then.
  std::vector<std::string> news_since(std::uint64_t moment) const;
  /// How many changes that takes to find out.
  std::size_t changes_since(std::uint64_t moment) const;
  /// Set after the clock showed `when`, even if that was taken back.
  std::vector<std::string> set_after(std::uint64_t when) const;
  /// Functions of which more than one body was ever seen, or that are gone.
  std::vector<std::string> changing_functions() const;
  /// How many different functions were ever defined.
  std::size_t definitions() const { return definitions_; }
  void make_all_unknown();
  std::uint64_t now() const { return clock_; }
  std::size_t functions() const { return functions_; }
  std::size_t names() const { return names_.size(); }

  template <class F>
  void for_each(F visit) const {
    for (const auto& [name, variable] : names_) visit(name, variable);
  }

  static std::string function_key(std::string_view name) { return std::string("()").append(name); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Undo {
    std::string name;
    std::optional<Variable> before;
    std::uint64_t when;  // the number of the change
  };
  const std::vector<const Node*>& bodies_of(std::string_view key) const;
  void remember(std::string_view key, const std::vector<const Node*>& bodies);

  std::unordered_map<std::string, Variable, Hash, std::equal_to<>> names_;
  // Of what was taken back, too: a trap or another round may find it.
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> last_set_;
  std::unordered_map<std::string, std::vector<const Node*>, Hash, std::equal_to<>> bodies_;
  std::vector<Undo> journal_;
  std::uint64_t made_ = 0;
  std::uint64_t clock_ = 0;
  std::size_t functions_ = 0;
  std::size_t definitions_ = 0;
};

}  // namespace cordon::shell
