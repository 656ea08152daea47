#include "app/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "app/terminal.h"
#include "base/text.h"

namespace cordon::app {

namespace {

/// The verb that a word left over by the parse was probably meant to be.
std::optional<std::string> nearest_verb(const CLI::App& root, const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  // What a part did not take falls through to the root.
  for (const std::string& word : root.remaining(true)) {
    if (const auto found = nearest(word, candidates)) return std::string(*found);
  }
  return std::nullopt;
}

/// The verb, or part of a verb, at which the parse ended.
const CLI::App& deepest(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

/// "cordon config show".
std::string path_of(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* at = app.get_parent(); at != nullptr; at = at->get_parent()) path = at->get_name() + " " + path;
  return path;
}

// CLI11 words some errors for programmers; the sentence a person gets ends with what to do.
int report(const CLI::App& app, const CLI::ParseError& error) {
  std::cerr << styled("cordon:", Style::red, STDERR_FILENO) << ' ' << visible(error.what(), Lines::keep) << '\n';
  const CLI::App& stopped_at = deepest(app);
  const std::string path = path_of(stopped_at);
  if (const auto meant = nearest_verb(app, stopped_at))
    std::cerr << "Did you mean '" << path << ' ' << *meant << "'?\n";
  std::cerr << "Run '" << path << " --help' for what it takes.\n";
  return exit_code::trouble;
}

std::string verb_of(std::string_view called_as) {
  static constexpr std::array<std::string_view, 5> prefixed = {"check", "exec", "queue", "audit", "allowlist"};
  for (const std::string_view verb : prefixed) {
    if (called_as == "sandbox-" + std::string(verb)) return std::string(verb);
  }
  return called_as == "mass" ? "mass" : "";
}

bool is_plain_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./=:,@%+").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

CommandLine::CommandLine()
    : root_("Judges, asks about, isolates and records what AI agents want to run on this machine.", "cordon") {
  root_.require_subcommand(0, 1);
  root_.set_help_flag("-h,--help", "Say what this takes and does");
  root_.get_formatter()->column_width(36);
  root_
      .add_option("--workspace", global_.workspace,
                  "Directory of the work (default: nearest parent with SANDBOX.md, .cordon or .git, else here)")
      ->type_name("DIR");
  root_.add_option("--config", global_.config, "One more settings file (JSON5)")->type_name("FILE");
  root_
      .add_option("--state-dir", global_.state_dir,
                  "Where trust, queue and log are kept (default: $XDG_STATE_HOME/cordon)")
      ->type_name("DIR")
      ->envname("CORDON_STATE_DIR");
  root_.add_option("--agent", global_.agent, "On behalf of this agent")->type_name("ID")->envname("CORDON_AGENT");
  root_.add_option("--session", global_.session, "In this session")->type_name("KEY");
  root_.add_flag("--json", global_.json, "Answer as JSON, for programs");
  root_.add_flag("-q,--quiet", global_.quiet, "Say only what was asked for");
}

CLI::App& CommandLine::verb(const std::string& name, const std::string& description) {
  return part(root_, name, description);
}

CLI::App& CommandLine::part(CLI::App& verb, const std::string& name, const std::string& description) {
  CLI::App* made = verb.add_subcommand(name, description);
  made->fallthrough();
  made->group("Verbs");
  return *made;
}

void CommandLine::does(CLI::App& app, std::function<int()> action) {
  app.final_callback([this, action = std::move(action)] {
    if (!chosen_) chosen_ = action;
  });
}

int CommandLine::run(std::string_view called_as, std::vector<std::string> arguments) {
  const std::string verb = verb_of(called_as);
  if (!verb.empty()) arguments.insert(arguments.begin(), verb);
  if (arguments.empty()) {
    std::cout << root_.help();
    return exit_code::trouble;
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    root_.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    const CLI::App& asked = deepest(root_);
    const std::string path = path_of(asked);
    std::cout << asked.help(path.substr(0, path.rfind(' ') == std::string::npos ? 0 : path.rfind(' ')));
    return exit_code::done;
  } catch (const CLI::ParseError& error) {
    return report(root_, error);
  }
  if (!chosen_) {
    std::cerr << "cordon: say what to do. Run 'cordon --help' for what there is.\n";
    return exit_code::trouble;
  }
  return chosen_();
}

std::string command_text(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (is_plain_word(word)) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace cordon::app
