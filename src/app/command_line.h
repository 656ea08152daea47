// The definition of the command line. Help, manual and completions are made from it, so none of them can be out of
// date. The parser behind it (CLI11) is seen by command_line.cc alone: it takes long to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cordon::app {

/// Options that every verb takes, before or after its name.
struct GlobalOptions {
  std::string workspace;
  std::string config;
  std::string state_dir;
  std::string agent;
  std::string session;
  bool json = false;
  bool quiet = false;
};

namespace exit_code {
constexpr int done = 0;
constexpr int trouble = 1;    // usage or internal error, with a sentence on stderr
constexpr int critical = 2;   // check: critical or disallowed
constexpr int dangerous = 3;  // check: dangerous
constexpr int queued = 75;    // waits for approval
constexpr int timed_out = 124;
constexpr int not_run = 125;  // Cordon could not run it; nothing ran
constexpr int refused = 126;
}  // namespace exit_code

template <class T, class... Others>
concept AnyOf = (std::same_as<T, Others> || ...);

/// What an option can be read into; an optional stays empty where the option is not given.
template <class T>
concept OptionValue = AnyOf<T, std::string, std::vector<std::string>, int, std::int64_t, std::uint64_t, double,
                            std::optional<std::string>, std::optional<std::int64_t>>;

/// An option that has just been added; more is said about it by calls in a row.
class Option {
 public:
  /// What stands for the value in the help: "DIR".
  Option type_name(const std::string& name) const;
  Option required() const;
  Option one_of(const std::vector<std::string>& values) const;
  /// How many values it takes; (0, 1) makes `--wait` and `--wait 30s` both right.
  Option expected(int least, int most) const;
  /// Read from this variable of the environment where it is not given.
  Option envname(const std::string& name) const;
  /// Whether it was given at all, once the line is parsed.
  bool given() const;

 private:
  friend class Verb;
  explicit Option(CLI::Option* option) : option_(option) {}

  CLI::Option* option_;  // owned by the CommandLine
};

struct Notes;

/// A verb, or a part of a verb as in `config check`. Refers to the CommandLine that made it.
class Verb {
 public:
  /// `names` is "-n,--name" for an option and "NAME" for an argument that stands by its place.
  template <OptionValue T>
  Option add_option(const std::string& names, T& value, const std::string& description) const;
  Option add_flag(const std::string& names, bool& value, const std::string& description) const;

  /// It does nothing without one of its parts.
  void require_part() const;

  /// Shown under its help and in the manual. `command` is a whole line: "cordon check 'rm -rf build'".
  void example(const std::string& command) const;
  /// For an exit code that says more than done or trouble.
  void exits(int code, const std::string& meaning) const;

 private:
  friend class CommandLine;
  Verb(CLI::App* app, Notes* notes) : app_(app), notes_(notes) {}

  CLI::App* app_;  // owned by the CommandLine, as are the notes
  Notes* notes_;
};

/// What the manual and the completions need to know of an option.
struct OptionShape {
  std::vector<std::string> short_names;  // without dashes
  std::vector<std::string> long_names;
  std::string argument;  // the name of one that stands by its place
  std::string type_name;
  std::string description;
  bool takes_value = false;

  std::vector<std::string> flags() const;  // with dashes
};

struct VerbShape {
  std::string name;
  std::string description;
  std::vector<std::string> examples;
  std::vector<std::pair<int, std::string>> exits;
  std::vector<OptionShape> options;
  std::vector<VerbShape> parts;
};

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// A verb; it takes every global option too.
  Verb verb(const std::string& name, const std::string& description);
  /// A verb of a verb, e.g. `config check`.
  static Verb part(Verb verb, const std::string& name, const std::string& description);
  /// What to do when the parse ends at `verb`.
  void does(Verb verb, std::function<int()> action);

  GlobalOptions& global() { return global_; }
  VerbShape shape() const;

  /// Parses and acts. `arguments` are without the program's name.
  int run(std::vector<std::string> arguments);

 private:
  GlobalOptions global_;
  std::unique_ptr<CLI::App> root_;
  std::unique_ptr<Notes> notes_;
  std::function<int()> chosen_;
};

/// The whole command line with every verb.
void define_all(CommandLine& line);
/// As much of it as a line whose first word is this one can mean.
void define_for(CommandLine& line, std::string_view first);

/// What was typed, without the program's name: `sandbox-check X` is `cordon check X`.
std::vector<std::string> typed(int count, char** words);

/// One command given as one quoted word, or as words after `--` that are quoted here.
std::string command_text(const std::vector<std::string>& words);

}  // namespace cordon::app
