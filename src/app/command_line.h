// The definition of the command line. Help, manual and completions are made from it, so none of them can be out of
// date.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

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

class CommandLine {
 public:
  CommandLine();

  /// A verb; it takes every global option too.
  CLI::App& verb(const std::string& name, const std::string& description);
  /// A verb of a verb, e.g. `config check`.
  static CLI::App& part(CLI::App& verb, const std::string& name, const std::string& description);
  /// What to do when the parse ends at `app`.
  void does(CLI::App& app, std::function<int()> action);

  GlobalOptions& global() { return global_; }
  const CLI::App& root() const { return root_; }

  /// Parses and acts. `arguments` are without the program's name; `called_as` is that name: `sandbox-check X` is
  /// `cordon check X`.
  int run(std::string_view called_as, std::vector<std::string> arguments);

 private:
  GlobalOptions global_;
  CLI::App root_;
  std::function<int()> chosen_;
};

/// The whole command line with every verb.
void define_all(CommandLine& line);

/// One command given as one quoted word, or as words after `--` that are quoted here.
std::string command_text(const std::vector<std::string>& words);

}  // namespace cordon::app
