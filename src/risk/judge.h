// The walk over a script: one call after the other, with what streams, files and variables carry between them.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/analysis.h"
#include "model/script.h"
#include "risk/call.h"
#include "risk/place.h"
#include "risk/table.h"

namespace cordon::risk {

/// The circumstances under which a text or a call runs.
struct Frame {
  std::optional<std::string> directory;  // nothing: unknowable
  bool away = false;                     // another machine, or a container: paths are not this machine's
  bool elevated = false;
  bool carried = false;  // handed over by a wrapper
  std::uint32_t depth = 0;
  std::optional<Span> where;  // inside nested text all findings point at the word that holds it
};

/// What a call finds on its standard input.
struct Stdin {
  enum class From { terminal, pipe, text, file };
  From from = From::terminal;
  Flow flow;
  const std::string* text = nullptr;  // all of it, where known
  Arg file;
};

/// Is a file that is emptied surely there, or may it be made by that?
enum class Emptied { is_there, may_be_new };

/// One call while it is being judged.
struct Run {
  std::span<const Arg> words;
  Frame frame;
  Stdin in;
  Span where;
  Sorted sorted;
  Risk level = Risk::safe;
  std::vector<Arg> positional;  // $0, $1 … of a script that a file or the input holds
  Flow out;
  std::string uncoverable;
  std::size_t invocation = 0;
  bool recursive = false;
  bool local_only = false;      // every host named is this machine
  bool judged = false;          // a check has said all there is to say about the operands
  bool options_judged = false;  // … and about the options
  bool own_code = false;        // code in a file that this script wrote may start programs as any script may
  bool rehearsal = false;       // an option says to show what would be done, and to do nothing
  bool emulated = false;        // the cloud it talks to is a program on this machine
  bool only_certain = false;    // a tool found the code by itself: which of its functions run, and with what, is open
};

/// Does this text, written there, run unasked what it fetches?
bool plants(std::string_view path, std::string_view text);

class Judge {
 public:
  Judge(const RiskContext& context, const ReadScript& read) : context_(context), read_(read) {}

  Flow script(const Script& script, const Frame& frame, const Stdin& in);
  Flow call(std::span<const Arg> words, const Frame& frame, const Stdin& in, Span where);
  Analysis finish();

  // What checks use.
  void raise(Run& run, std::string_view rule, Span where);
  void raise(Run& run, const Rule& rule, Span where, std::string_view detail = {});
  void at_least(Run& run, Risk level) { run.level = std::max(run.level, level); }
  void effect(Effect::Kind kind, std::string_view target);
  void need(Need::Kind kind, std::string_view target);
  Place locate(const Run& run, std::string_view text) const;
  void reads(Run& run, const Arg& arg, bool tree);
  /// Does the caller say what the file holds afterwards?
  enum class Text : std::uint8_t { unknown, told };
  void writes(Run& run, const Arg& arg, Text text = Text::unknown);
  void deletes(Run& run, const Arg& arg);
  void empties(Run& run, const Arg& arg, Emptied file);
  static bool gets_nothing(const Run& run);
  static bool says_nothing(const Run& run, const Command& command);
  static bool prints_only_null(const Command& command);
  void reaches(Run& run, const Arg& arg, std::string_view host);
  void apply(Run& run, Role role, std::uint8_t language, const Arg& arg);
  void carry(Run& run, std::span<const Arg> words);
  void carry(Run& run, std::span<const Arg> words, Frame frame);
  void shell_text(Run& run, const Arg& text, std::span<const Arg> positional, std::optional<Frame> frame = {});
  void shell_line(Run& run, std::span<const Arg> words, std::optional<Frame> frame = {});
  void run_code(Run& run, std::uint8_t language, const Arg& text);
  /// `language` 0: the one that the program's own operand is in.
  void run_script_file(Run& run, const Arg& file, std::uint8_t language);
  void run_stdin(Run& run, std::uint8_t language);
  void environment(Run& run, std::string_view name, const Arg& value);
  void git_setting(Run& run, std::string_view key, std::string_view value, const Arg& arg);
  void sql(Run& run, std::string_view text, Span where);
  void remote_copy(Run& run, std::span<const Arg> from, const Arg& to);
  Flow file_flow(const std::string& path) const;
  void mark_file(const std::string& path, Flow flow);
  /// cp /bin/rm x, ln -s /bin/rm x: from now on x is that program.
  void rename_program(const Run& run, const Arg& from, const Arg& to);
  /// What a file is known to hold, because this script has written it.
  const std::string* file_text(const std::string& path) const;
  template <class Files, class Look>
  bool each_named(const Files& files, const std::string& path, Look look) const;
  bool has_written() const { return !written_.empty(); }
  bool has_fetched() const { return !files_.empty(); }
  /// Is all that the file holds known, and judged where it runs?
  bool is_whole(const std::string& path) const { return whole_.contains(path); }
  /// A text that inline code prints: where its output goes to a file, that file holds it.
  void prints(const std::string& text);
  /// Programs below it come from where packages ordinarily come from.
  void make_environment(const std::string& directory) { environments_.insert(directory); }
  bool may_copy(std::size_t size);
  /// A copy holds what the file held that this script wrote; `to` may be the directory it goes to.
  void copy_text(const std::string& from, const std::string& to);
  void copy_file(const std::string& from, const std::string& to);
  /// All files of ours whose path begins so: cp d/* e.
  void copy_all(const std::string& beginning, const std::string& to);
  /// From now on what is written under one name is read under the other.
  void link_names(const std::string& one, const std::string& other);
  void write_linked(const std::string& path, std::string_view text);
  /// What npm will find under that name.
  void package_script(Run& run, std::string_view name, std::string_view text, const Arg& arg);
  void write_text(const std::string& path, std::string_view text, bool append);
  /// What was written may not have been: under a condition, after an error, with noclobber.
  void may_hold(const std::string& path, const std::string& text);
  std::vector<std::string> other_texts(const std::string& path) const;
  void may_hold_same(const std::string& from, const std::string& to);
  /// True once for each time that a file is written, so that no tool judges the same text again.
  bool picks_up(const std::string& path) { return picked_up_.insert(path).second; }
  /// `positional` nothing: whoever runs it may hand it anything.
  void run_written(Run& run, std::string_view name, const std::string& text, std::uint8_t language, const Arg& arg,
                   std::optional<std::vector<Arg>> positional = {});
  bool names_a_child(const Word& word) const;
  void set_alias(std::string_view name, std::string_view line) { aliases_[std::string(name)] = line; }
  void mark_variable(std::string_view name, Flow flow);
  Flow variable_flow(std::string_view name) const;
  Arg synthetic(std::string text, const Arg& like);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  const RiskContext& context() const { return context_; }
  std::vector<Arg> args_of(std::span<const Word> words);
  Arg arg_of(const Word& word);
  /// Text in which whatever is unknown stands as the byte 1.
  std::string_view marked_text(const Arg& arg);
  bool too_deep(Run& run);

 private:
  struct ScriptState {
    const Script* script;
    std::vector<Flow> outs;
    std::vector<std::vector<std::uint32_t>> fed_by;  // by >(…)
  };

  void oddities(const Script& script, const Frame& frame);
  Flow positional_flow(std::span<const Arg> positional);
  void mark_positional(const Flow& flow);
  void command(ScriptState& state, std::uint32_t index, const Frame& outer, const Stdin& outer_in);
  Stdin input_of(ScriptState& state, std::uint32_t index, const Stdin& outer_in);
  Stdin input_by(const Redirect& redirect, const std::map<int, Stdin>& open);
  void redirects(Run& run, const Command& command);
  /// What a command's redirects need to know of it, looked up once: both may be many.
  struct Streams {
    std::set<std::string, std::less<>> read;  // words that name files it reads
    const Redirect* output = nullptr;         // where its standard output ends up
    bool silent = false;                      // nothing comes out
    bool joined = false;                      // standard error goes the same way
    bool own_text = false;                    // it makes something of what this script wrote
    Span command;                             // where it is; a redirect elsewhere is its group's
  };
  Streams streams_of(const Run& run, const Command& command) const;
  void note_filled(const Script& script, const Command& command);
  void redirect(Run& run, const Redirect& redirect, const Command& command, const Streams& streams);
  void redirect_empties(Run& run, Arg target, const Redirect& redirect, const Streams& streams);
  void socket_redirect(Run& run, const Arg& target, const Command& command);
  void assignments(Run& run, const std::vector<Assignment>& list, bool alone);
  void judge_program(Run& run, std::string_view name);
  void look_up(Run& run, std::string_view name);
  void may_carry(Run& run);
  void shell_escapes(Run& run);
  void implied_files(Run& run);
  bool was_fetched(const Run& run, const std::string& name) const;
  bool holds_fetched(Run& run, std::string_view patterns);
  void finds_fetched(Run& run);
  void told_to_run_fetched(Run& run);
  void runs_fetched(Run& run);
  void scripts_of_package(Run& run);
  void committed_workflows(Run& run);
  void named_compose_files(Run& run, std::string_view program);
  void hooks_of(Run& run, std::string_view directory, const Arg& arg);
  void picked_up(Run& run);
  void run_picked_up(Run& run, const std::string& path, std::string_view language);
  void run_lines(Run& run, std::string_view text, const Arg& arg);
  void run_compiled(Run& run);
  void compiled_to(Run& run);
  void compose_file(Run& run, std::string_view text);
  void stray_paths(Run& run);
  void stray_command(Run& run);
  void lent_stores(Run& run);
  void settings_text(Run& run, const Arg& arg);
  void unnamed_options(Run& run, bool about_commands);
  void unnamed_option(Run& run, std::string_view name, const Arg& value);
  static bool is_glued(const Sorted& sorted, std::string_view name, bool glued);
  void option_that_runs(Run& run, std::string_view name, const Arg& value);
  std::string with_calls(std::string_view text) const;
  void list_calls(std::span<const Arg> words, Span where);
  void unknown_program(Run& run, std::string_view name);
  void unprotects(Run& run, std::string_view name);
  void own_program(Run& run, std::string_view name);
  void unknown_name(Run& run);
  bool one_of_few(Run& run);
  std::string_view looked_up(const Arg& name) const;
  void by_path(Run& run, std::string_view path);
  void known_program(Run& run, const Node& program);
  Risk base_level(Run& run, const Rule*& rule);
  void apply_options(Run& run);
  void apply_operands(Run& run);
  void apply_net(Run& run);
  void copies_nothing(Run& run);
  bool asks_for_help(const Run& run) const;
  static bool rehearses(const Run& run);
  static bool takes_back(const Run& run);
  static bool is_emulated(const Run& run);
  static bool only_asks(const Sorted& sorted, bool by_verb);
  bool holds(const Run& run, std::string_view condition) const;
  void run_recipes(Run& run, const std::string& text, const Arg& arg);
  void verbs(Run& run, std::span<const Arg> words);
  void prompt_files(Run& run, std::string_view text, Span where);
  void operand_verbs(Run& run);
  void foreign_source(Run& run);
  bool unknown_download() const;
  void package_settings(Run& run, const Place& place, std::string_view text, Span where);
  bool uses_own_text(const Run& run, const Command& command) const;
  bool copies_exactly(const Run& run, const Command& command) const;
  std::optional<std::string> output_text(const Run& run, const Command& command);
  std::vector<std::string> canonical_words(const Run& run) const;

  const RiskContext& context_;
  const ReadScript& read_;
  Analysis analysis_;
  mutable std::deque<std::string> texts_;
  std::deque<Script> scripts_;
  std::deque<std::vector<Arg>> lists_;
  std::map<std::string, Flow, std::less<>> variables_;
  std::map<std::string, Flow, std::less<>> files_;
  std::vector<std::pair<std::string, Flow>> trees_;  // everything below carries it
  std::map<std::string, std::string, std::less<>> written_;
  std::vector<std::pair<std::string, std::string>> links_;                // two names of one file or directory
  std::map<std::string, std::vector<std::string>, std::less<>> earlier_;  // what they may hold instead
  std::set<std::string, std::less<>> running_;                            // of these, what is looked at already
  bool placeless_ = false;                        // some of these are known by their names alone
  bool planted_ = false;                          // since the last command: a file that runs unasked now fetches code
  mutable std::uint64_t compared_ = 0;            // names, where places are not known
  std::set<std::string, std::less<>> whole_;      // of these, what holds nothing but the text that is kept
  std::set<std::string, std::less<>> picked_up_;  // of these, what some tool has already run
  std::set<std::string, std::less<>> compiled_;   // programs made of nothing but texts that are kept
  std::set<std::string, std::less<>> environments_;          // of Python, made by this script
  std::string printed_;                                      // by the inline code of the command that is judged now
  bool path_changed_ = false;                                // a program's name may mean another file
  bool compiles_ = false;                                    // a compiler ran after something was written
  std::map<std::string, std::string, std::less<>> renamed_;  // path → the program that was copied or linked there
  std::map<std::string, std::string, std::less<>> aliases_;
  std::vector<Flow>* outs_ = nullptr;
  const Script* script_ = nullptr;                           // the one that is walked over now, as outs_
  std::set<std::string, std::less<>> called_;                // first words of the commands of all scripts read so far
  std::set<std::string, std::less<>> appended_;              // targets of >> in all scripts read so far
  std::set<std::pair<const Script*, std::size_t>> filled_;   // redirects, by place, that some command has text for
  std::map<std::string, std::optional<std::string>> found_;  // programs looked up on PATH: once per name
  mutable std::unordered_map<std::string, Place> places_;
  std::size_t calls_ = 0;
  std::uint64_t nested_ = 0;
  std::uint64_t copied_ = 0;  // bytes of texts that were looked through or copied again
};

/// What a program needs judged beyond its row; named by `check` in the data.
using Check = void (*)(Judge&, Run&);
Check check_named(std::string_view name);

/// AWS_SECRET_ACCESS_KEY, db_token: a variable of that name holds a secret.
bool names_a_secret(std::string_view name);

/// delete, destroy, drop … or list, get, show … in a word such as "apps:destroy" or "delete-stack".
Risk verb_risk(std::string_view word);

/// "rm -rf x" as one word: a command line, when it begins with a program that is grave or runs others. Many prompts
/// hand on what follows "!" or "|"; such marks are taken off.
bool begins_a_command(std::string_view& text);

/// sed -i SCRIPT, ex -c COMMAND: does nothing remain of the file?
/// Of words or patterns separated by blanks.
bool has_word(std::string_view words, std::string_view word);
bool is_compiler(std::string_view path);
bool matches_any(std::string_view patterns, std::string_view name);

bool sed_leaves_nothing(std::string_view script);
bool awk_leaves_nothing(std::string_view script);
bool vim_deletes_all(std::string_view command);

std::vector<std::string> canonical_of(const Sorted& sorted, std::span<const Arg> words);

}  // namespace cordon::risk
