// Walks a syntax tree in the order in which bash would run it and writes down every simple command, its words expanded
// as far as they can be known. Where two courses are possible, what differs becomes unknown; a loop forgets what its
// body assigns. Claiming to know what is not certain would be a hole in the guard, so every doubt ends as unknown.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/script.h"
#include "shell/parser.h"
#include "shell/state.h"
#include "shell/syntax.h"

namespace cordon::shell {

using Field = cordon::Word;

/// Longer texts are not computed but unknown.
constexpr std::size_t max_known_text = 1 << 18;

constexpr std::uint32_t max_eval_depth = 1000;
constexpr std::uint64_t max_repeated = 20'000;

/// What a stage or substitution writes to its stdout.
struct Output {
  bool known = true;
  std::string text;
  std::vector<std::uint32_t> commands;  // those that write it
  std::uint64_t exits = 0;              // Evaluator::exits_ when it began

  void add(std::string_view more) {
    if (known) text += more;
  }
  void lose() { known = false, text.clear(); }
};

/// Without what is not known: the source of that stands in the text, and has run already.
std::string known_text(const Field& field);
std::string known_text(const Value& value);

/// It opens nothing of its own: <&3, < /dev/stdin.
bool names_descriptor(const Redirect& redirect);

/// What stdin still holds.
struct Input {
  std::optional<std::string> text;
};

struct RedirectScope {
  std::vector<Redirect> redirects;
  const RedirectScope* outer = nullptr;
};

/// A pipe or substitution has its own stream: redirects of that stream which lie further out no longer count.
struct OwnStream {
  bool is = false;
  const RedirectScope* outer = nullptr;
  const RedirectScope* lasting = nullptr;
};

/// What surrounds a command.
struct Flow {
  bool conditional = false;
  bool background = false;
  bool fed = false;    // of a coproc
  bool piped = false;  // inside a pipeline or background job of the innermost function
  std::uint32_t substitution = 0;
  const std::vector<std::uint32_t>* piped_from = nullptr;
  Input* input = nullptr;
  Output* output = nullptr;
  const RedirectScope* redirects = nullptr;
  OwnStream own_output;
  OwnStream own_input;
};

enum class Status : std::uint8_t { success, failure, unknown };

class Evaluator {
 public:
  Evaluator(Script& script, Arena& arena, Limits& limits, const ShellState& given);

  /// Reads and evaluates the whole text of the script. Returns from where on the text was not followed.
  std::optional<std::size_t> run();

 private:
  struct Call {
    const Node* body;
    std::uint64_t begun = 0;
    std::shared_ptr<const std::vector<Value>> positional;  // null: unknown
    std::optional<std::uint64_t> returned;                 // the moment of the first return
    std::vector<State::Change> locals;                     // what local names were before
  };
  enum class Context : std::uint8_t { word, assignment, quoted, pattern };
  class Builder;
  struct Looked {
    enum class Kind : std::uint8_t { unset, set, unknown } kind = Kind::unset;
    Value value;
  };
  /// NAME=value among the arguments of declare and its kin.
  struct Declared {
    std::size_t word;
    std::string name;
    bool append = false;
    bool has_value = false;
    Value value;
    const Part* array = nullptr;
    std::optional<std::string> key;
    bool keyed = false;
  };
  struct Assigned {
    std::set<std::string, std::less<>> names;
    bool everything = false;
    bool positional = false;
    bool directory = false;
    bool options = false;
    bool leaves = false;  // break, continue, return, exit, exec
    std::map<std::string, std::vector<const Node*>, std::less<>> functions;
    std::set<const Node*> seen;
  };

  // Texts and lists.
  void run_text(std::string_view text, const Flow& flow, Span where);
  /// A child, or the end, can change nothing of what is still to come.
  enum class Changes : std::uint8_t { this_shell, nothing };
  void run_later(const std::string& text, const Flow& flow, Span where, Changes what = Changes::this_shell);
  void callbacks(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow);
  void list_words(std::string_view text, const Flow& flow, Span where);
  Status list(const List& list, const Flow& flow);
  Status item(const Item& item, const Flow& flow);
  Status pipeline(const Pipeline& pipeline, const Flow& flow);
  Status node(const Node& node, const Flow& flow);
  static bool is_whole(const Node& node);
  bool writes_what_it_uses(std::size_t first) const;
  Output new_output() const;
  Status compound(const Node& node, const Flow& flow);
  Status subshell(const List& list, const Flow& flow);
  Status if_node(const Node& node, const Flow& flow);
  Status for_node(const Node& node, const Flow& flow);
  Status loop_node(const Node& node, const Flow& flow);
  Status case_node(const Node& node, const Flow& flow);
  Status condition(const Condition& test, const Flow& flow);
  Status arithmetic_for(const Node& node, const Flow& flow);
  Status coproc(const Node& node, const Flow& flow);
  Status stages(const Pipeline& pipeline, const Flow& flow);
  void merge(const Surroundings& other);
  void join(const std::vector<State::Changes>& courses);
  void merge_directory(const Surroundings& ran, bool on_success);
  void finish_courses(const std::vector<State::Changes>& courses, const std::vector<Surroundings>& ends);
  bool is_one_of_few_programs(Field& name) const;
  void note_endless(std::size_t first, Span where, const Flow& flow);
  void note_many(std::size_t first, Span where, const Flow& flow);
  bool starts_jobs(std::size_t first, const Flow& flow) const;
  void run_traps();
  template <class F>
  void in_subshell(F body);
  template <class F>
  void redirected(std::uint32_t index, const Flow& flow, F body);
  template <class F>
  void maybe(F body);

  // Simple commands.
  Status simple(const Node& node, const Flow& flow);
  Status assignments_only(const Node& node, Command& command, const Flow& flow);
  Status dispatch(Command& command, const Node& node, const Flow& flow);
  void restore(const std::vector<State::Change>& before);
  Status call_function(const Variable& function, std::uint32_t index, const Flow& flow);
  Status run_body(const Node& body, std::uint32_t index, const Flow& flow);
  Status run_body(const Node& body, std::uint32_t index, const Flow& flow,
                  std::shared_ptr<const std::vector<Value>> arguments);
  Status enter(const Node& body, std::uint32_t index, const Flow& flow);
  bool is_one_word(const Piece& piece) const;
  std::shared_ptr<const std::vector<Value>> arguments_of(std::uint32_t index, std::size_t first) const;
  template <class F>
  void each_round(const Assigned& assigned, F round);
  Status builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow);
  void expand_words(const Node& node, Command& command, const Flow& flow);
  void expand_declarations(const Word& word, Command& command, const Flow& flow);
  void expand_declaration(const Word& word, Command& command, const Flow& flow);
  void take_redirects(const Seq<Redirection>& from, std::vector<Redirect>& to, const Flow& flow);
  Redirect take_redirect(const Redirection& from, const Flow& flow);
  std::uint32_t emit(Command command, const Flow& flow);
  void take_stdin(Command& command, const Flow& flow);
  void add_exported(Command& command);
  void run_exported(const Command& command, const Flow& flow);
  void follow_duplicates(Command& command, std::size_t own);
  static void follow_output(Command& command);
  Field left_of(const Redirect& redirect, const Command& command, const Flow& flow, bool lasting);
  static void share_input(const std::vector<Redirect>& redirects, const Flow& flow);
  void assign(const Word& word, std::vector<Assignment>& out, const Flow& flow, bool apply);
  void store(std::string_view name, const std::optional<std::string>& key, Value value, bool append);
  void store_array(const Part& array, std::string_view name, bool append, const Flow& flow);
  void write_output(std::uint32_t index, const Flow& flow);
  std::optional<std::string> computed_output(const Command& command) const;
  void note_output(std::uint32_t index);
  bool writes_elsewhere(const Command& command, const Flow& flow, bool& uncertain) const;
  Value value_of(const Field& field) const;

  // Builtins that change what comes after.
  Status eval_builtin(std::uint32_t index, std::size_t first, const Flow& flow);
  Status source_builtin(std::uint32_t index, std::size_t first, const Flow& flow);
  Status declare_builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow);
  Status read_builtin(std::uint32_t index, std::size_t first, const Flow& flow);
  Status mistaken_set();
  Status set_builtin(std::uint32_t index, std::size_t first);
  Status shift_builtin(std::uint32_t index, std::size_t first);
  Status cd_builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow);
  Status unset_builtin(std::uint32_t index, std::size_t first);
  Status alias_builtin(std::uint32_t index, std::size_t first);
  void unalias(const std::string& name, bool certain);
  void extended_patterns(bool on, std::uint32_t index);
  void expand_aliases(bool on, std::uint32_t index);
  /// Whether what the command does to the shell is done for sure, and to this shell.
  bool holds_for_what_follows(std::uint32_t index) const;
  Status doubt_options();
  Status shopt_builtin(std::uint32_t index, std::size_t first);
  Status trap_builtin(std::uint32_t index, std::size_t first, const Flow& flow);
  Status exec_builtin(std::uint32_t index, std::size_t first, const Flow& flow);
  Status printf_builtin(std::uint32_t index, std::size_t first, const Flow& flow);
  Status wrapped_builtin(std::string_view name, std::uint32_t index, std::size_t first, const Flow& flow);
  void unknown_names(std::uint32_t index, std::size_t first);
  /// Where bash takes a text for a variable's name, a subscript in it is expanded: a[$(…)] runs what it holds.
  void run_subscripts(const Field& name, const Flow& flow);
  /// … and so is what the names in it stand for.
  void run_named(std::string_view text, const Flow& flow);
  void run_named(std::string_view text, const Flow& flow, std::set<std::string, std::less<>>& seen);
  void run_suspects(std::string_view name, const Flow& flow, std::set<std::string, std::less<>>& seen);
  void run_as_number(const std::string& name, const std::string& text, const Flow& flow);
  void change_special(std::string_view name, Span where);
  /// Values that would run something where they are taken for a number, a subscript or a prompt.
  void suspect(std::string_view name, std::string_view value);
  void run_unknown(const std::vector<Piece>& pieces, const Flow& flow);
  /// Something not known is assigned to it, or to what it stands for.
  void lose(std::string_view name);
  void lose_meaning(std::string_view name);
  bool hides_global(const std::string& name);
  void note_descriptor(std::uint32_t index, std::size_t first);
  // Whatever ran may also have left the loop around it.
  void forget_everything() {
    ++leaves_, ++doubts_;
    afford(8 * state_.names());
    state_.make_all_unknown();
  }

  // Words.
  std::vector<Field> expand(const Word& word, const Flow& flow);
  Field expand_one(const Parts& parts, Context context, const Flow& flow, Span where);
  Value expand_value(const Parts& parts, Context context, const Flow& flow);
  void expand_parts(const Parts& parts, Builder& builder, const Flow& flow);
  void expand_part(const Part& part, Builder& builder, const Flow& flow);
  void expand_literal(const Part& part, std::string_view text, Builder& builder);
  void expand_variable(const Part& part, std::string_view name, Builder& builder);
  void expand_parameter(const Part& part, Builder& builder, const Flow& flow);
  void expand_all_positional(char which, Builder& builder, const Part& part);
  void expand_list(const std::vector<Value>& values, char which, Builder& builder);
  void expand_substitution(const Part& part, Builder& builder, const Flow& flow);
  void note_read_again(const Part& part, std::uint64_t aliased);
  static Field field_of(const Value& value);
  void expand_process(const Part& part, Builder& builder, const Flow& flow);
  void expand_arithmetic(const Part& part, Builder& builder, const Flow& flow);
  struct TildePlace {
    bool assignment;  // after each colon, too
    bool later;       // only there
    bool more;        // follows in the same word
  };
  std::string_view expand_tilde(std::string_view text, Builder& builder, TildePlace place);
  void expand_operand(const Parts& parts, Builder& builder, const Flow& flow);
  bool expand_conditional(const Parameter& parameter, const Looked& looked, const Part& part, Builder& builder,
                          const Flow& flow);
  void expand_indirect(const Part& part, Builder& builder, const Flow& flow);
  void expand_many(const Parameter& parameter, const Part& part, Builder& builder, const Flow& flow);
  void expand_scalar(const Parameter& parameter, const Part& part, Builder& builder, const Flow& flow);
  std::optional<std::vector<Value>> values_of(const Parameter& parameter);
  Value transform(const Parameter& parameter, const Value& value, const Part& part, const Flow& flow);
  Value replace(const Parameter& parameter, const std::string& text, const Part& part, const Flow& flow);
  Value substring(const Parameter& parameter, const std::string& text, const Part& part, const Flow& flow);
  void side_effects(const Parameter& parameter, const Flow& flow);
  Value expand_prompt(const std::string& text, const Flow& flow);
  Looked look_up(std::string_view name) const;
  Looked look_up_parameter(const Parameter& parameter, const Flow& flow);
  Looked element(const Variable& variable, const std::optional<std::string>& key, std::string_view name) const;
  std::optional<std::string> subscript(const Parts& parts, const Variable* variable, const Flow& flow);
  std::optional<long long> arithmetic(const Parts& parts, const Flow& flow);
  std::optional<long long> arithmetic(std::string_view text, const Flow& flow, int depth);
  void forget_arithmetic(std::string_view text);
  bool separators(std::string& out) const;
  std::string source_of(const Part& part) const;

  // What a body may change.
  void collect(const List* list, Assigned& out) const;
  void collect(const Node& node, Assigned& out) const;
  void collect_simple(const Node& node, Assigned& out) const;
  bool runs_plain_program(const Word& word) const;
  void collect(const Parts& parts, Assigned& out) const;
  void collect_arithmetic(const Parts& parts, Assigned& out) const;
  void collect(const Word& word, Assigned& out) const;
  void collect(const Seq<Redirection>& redirects, Assigned& out) const;
  void collect(const Condition* test, Assigned& out) const;
  void forget(const Assigned& assigned);

  void odd(Oddity::Kind kind, std::string detail, Span where);
  /// For what is not worth being followed: nobody may think that what was read is what runs.
  void not_understood(std::string what, Span where);
  void option(std::string_view name, bool on, Span where);
  bool may_fail(const std::vector<Redirect>& redirects) const;
  /// Of a text inside a command it is not known which shell reads it.
  bool of_any_shell() const { return given_.depth > 0; }
  void note_abort();
  template <class F>
  void as_unit(F body);
  bool within_limits(Span where);
  /// Takes `bytes` from the budget. When it is used up the rest of the text is only listed, not followed.
  bool afford(std::uint64_t bytes) const;
  bool worth(std::size_t steps) const;

  Script& script_;
  Arena& arena_;
  Limits& limits_;
  const ShellState& given_;
  State state_;
  Dialect dialect_;
  std::uint32_t subshells_ = 0;
  std::vector<Call> calls_;
  OwnStream own_stream(const Flow& flow) const { return {true, flow.redirects, lasting_now_}; }
  std::size_t add_enclosing(Command& command, const RedirectScope* scope, const Flow& flow, bool lasting);

  std::vector<std::unique_ptr<RedirectScope>> lasting_;  // of exec
  const RedirectScope* lasting_now_ = nullptr;
  std::size_t lasting_added_ = 0;                // redirects that lasting_now_ gave to the command emitted last
  std::set<std::string, std::less<>> volatile_;  // changed by a trap at any time
  bool all_volatile_ = false;
  std::map<std::uint32_t, std::string> process_texts_;  // what <(…) holds, by its first command
  std::uint32_t depth_ = 0;
  std::uint32_t texts_ = 0;  // eval in eval
  std::size_t text_bytes_ = 0;
  std::uint64_t repeated_ = 0;  // commands listed again by loops and calls
  std::uint32_t repeating_ = 0;
  mutable std::uint64_t work_ = 0;
  mutable bool limited_ = false;
  std::optional<std::uint64_t> aborted_;  // the moment of the first expansion that may end the unit
  std::optional<Surroundings> abort_around_;
  std::uint64_t leaves_ = 0;         // how often a loop or function may have been left
  std::uint64_t doubts_ = 0;         // how often something might have ended its shell early
  std::uint64_t substitutions_ = 0;  // how many have run
  std::uint64_t exits_ = 0;          // … by `set -e`: what was written before that is still right
  std::uint64_t aliased_ = 0;        // how often an alias was made or taken away
  std::uint64_t unit_aliased_ = 0;   // … when what runs now was read
  std::uint64_t unit_leaves_ = 0;    // leaves_ when it was read
  std::uint32_t loops_ = 0;
  std::uint32_t maybes_ = 0;
  std::uint32_t naming_ = 0;  // run_named in run_named
  bool in_trap_ = false;
  bool own_input_ = false;                              // of the function that is about to be called: not its caller's
  bool traps_print_ = false;                            // DEBUG, ERR and RETURN are run in the middle …
  bool traps_follow_ = false;                           // … and in subshells, too
  std::optional<std::size_t> later_;                    // calls_.size() where a trap's text is read
  bool extglob_ = false;                                // it was switched on once
  bool closed_ = false;                                 // one of the first three descriptors, once
  std::vector<std::optional<std::uint64_t>> sourced_;   // for each text: the moment of the first return
  std::set<std::string, std::less<>> fixed_functions_;  // that `readonly -f` names
  std::set<std::string, std::less<>> attributed_;       // by declare and its kin
  std::map<std::string, std::vector<std::string>, std::less<>> suspects_;  // values that a name had once, and may have
  std::map<int, int> shared_inputs_;   // how often something read from a descriptor opened before
  std::vector<Declared> declared_;     // of the command being run
  std::vector<std::string> exported_;  // names exported by the script, still or once
  struct Trap {
    std::string text;
    Span where;
    std::uint64_t when;
  };
  std::vector<Trap> traps_;
};

template <class F>
void Evaluator::in_subshell(F body) {
  std::size_t mark = state_.mark();
  Surroundings before = state_.around;
  const RedirectScope* lasting = lasting_now_;
  // A trap that a subshell sets runs at its end, with the functions that only it has.
  std::vector<Trap> outer = std::exchange(traps_, {});
  ++subshells_;
  body();
  if (!traps_.empty() && !limited_) run_traps();
  --subshells_;
  traps_ = std::move(outer);
  state_.take_back(mark);
  state_.around = std::move(before);
  lasting_now_ = lasting;
}

// What a function, eval or source runs is under the redirects of the call.
template <class F>
void Evaluator::redirected(std::uint32_t index, const Flow& flow, F body) {
  const bool own_input = std::exchange(own_input_, false);
  RedirectScope scope;
  scope.redirects = script_.commands[index].redirects;
  Flow inner = flow;
  inner.redirects = &scope;
  Input here;
  if (own_input) {
    here.text = script_.commands[index].input;
    inner.input = &here;
    if (script_.commands[index].piped_from.empty()) inner.piped_from = nullptr;
  }
  Output elsewhere;
  bool uncertain = false;
  if (writes_elsewhere(script_.commands[index], flow, uncertain)) inner.output = &elsewhere;
  if (uncertain && flow.output != nullptr) flow.output->lose();
  body(inner);
}

// An expansion that fails ends what bash read together with it. What that would have changed may then not have changed.
template <class F>
void Evaluator::as_unit(F body) {
  std::optional<std::uint64_t> outer = std::exchange(aborted_, std::nullopt);
  std::optional<Surroundings> outer_around = std::exchange(abort_around_, std::nullopt);
  body();
  if (aborted_) {
    for (const std::string& name : state_.changed_since(*aborted_)) state_.make_unknown(name);
    merge(*abort_around_);
    if (!outer) outer = aborted_, outer_around = abort_around_;
  }
  aborted_ = outer;
  abort_around_ = outer_around;
}

// Something that may run or not: afterwards only what it left alone is known.
template <class F>
void Evaluator::maybe(F body) {
  std::size_t mark = state_.mark();
  Surroundings before = state_.around;
  ++maybes_;
  body();
  --maybes_;
  Surroundings after = state_.around;
  state_.around = before;
  std::vector<State::Changes> courses(2);
  courses[0] = state_.take_back(mark);
  join(courses);
  merge(after);
}

}  // namespace cordon::shell
