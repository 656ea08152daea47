#include "app/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <map>

#include "app/terminal.h"
#include "base/text.h"

namespace cordon::app {

/// What CLI11 has no place for.
struct Notes {
  struct Verb {
    std::vector<std::string> examples;
    std::vector<std::pair<int, std::string>> exits;
  };
  std::map<const CLI::App*, Verb> verbs;
};

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

std::string footer_of(const Notes::Verb& notes) {
  std::string text;
  for (const std::string& example : notes.examples) text += (text.empty() ? "Example:\n  " : "  ") + example + "\n";
  if (notes.exits.empty()) return text;
  text += "\nExit status:\n";
  for (const auto& [code, meaning] : notes.exits) text += fmt::format("  {:<4}{}\n", code, meaning);
  return text;
}

OptionShape shape_of(const CLI::Option& option) {
  const bool takes_value = option.get_expected_max() > 0 && option.get_type_size_max() > 0;
  return {.short_names = option.get_snames(),
          .long_names = option.get_lnames(),
          .argument = option.get_positional() ? option.get_name(true) : "",
          .type_name = option.get_type_name(),
          .description = option.get_description(),
          .takes_value = takes_value};
}

VerbShape shape_of(const CLI::App& app, const Notes& notes) {
  VerbShape shape{.name = app.get_name(), .description = app.get_description()};
  if (const auto found = notes.verbs.find(&app); found != notes.verbs.end()) {
    shape.examples = found->second.examples;
    shape.exits = found->second.exits;
  }
  for (const CLI::Option* option : app.get_options()) shape.options.push_back(shape_of(*option));
  for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; }))
    shape.parts.push_back(shape_of(*part, notes));
  return shape;
}

CLI::App* add_part(CLI::App& app, const std::string& name, const std::string& description) {
  CLI::App* made = app.add_subcommand(name, description);
  made->fallthrough();
  made->group("Verbs");
  return made;
}

}  // namespace

Option Option::type_name(const std::string& name) const { return Option(option_->type_name(name)); }
Option Option::required() const { return Option(option_->required()); }
Option Option::one_of(const std::vector<std::string>& values) const {
  return Option(option_->check(CLI::IsMember(values)));
}
Option Option::expected(int least, int most) const { return Option(option_->expected(least, most)); }
Option Option::envname(const std::string& name) const { return Option(option_->envname(name)); }
bool Option::given() const { return option_->count() > 0; }

template <OptionValue T>
Option Verb::add_option(const std::string& names, T& value, const std::string& description) const {
  CLI::Option* option = app_->add_option(names, value, description);
  // One that may be given several times takes one value each time: what follows is the next argument.
  if (names.starts_with("-")) option->allow_extra_args(false);
  return Option(option);
}
template Option Verb::add_option(const std::string&, std::string&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;
template Option Verb::add_option(const std::string&, int&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Verb::add_option(const std::string&, double&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::optional<std::string>&, const std::string&) const;
template Option Verb::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&) const;

Option Verb::add_flag(const std::string& names, bool& value, const std::string& description) const {
  return Option(app_->add_flag(names, value, description));
}

void Verb::require_part() const { app_->require_subcommand(1); }

void Verb::example(const std::string& command) const {
  Notes::Verb& notes = notes_->verbs[app_];
  notes.examples.push_back(command);
  app_->footer(footer_of(notes));
}

void Verb::exits(int code, const std::string& meaning) const {
  Notes::Verb& notes = notes_->verbs[app_];
  notes.exits.emplace_back(code, meaning);
  app_->footer(footer_of(notes));
}

std::vector<std::string> OptionShape::flags() const {
  std::vector<std::string> flags;
  for (const std::string& name : short_names) flags.push_back("-" + name);
  for (const std::string& name : long_names) flags.push_back("--" + name);
  return flags;
}

CommandLine::CommandLine()
    : root_(std::make_unique<CLI::App>(
          "Judges, asks about, isolates and records what AI agents want to run on this machine.", "cordon")),
      notes_(std::make_unique<Notes>()) {
  root_->require_subcommand(0, 1);
  root_->set_help_flag("-h,--help", "Say what this takes and does");
  root_->get_formatter()->column_width(36);
  root_->get_formatter()->label("SUBCOMMAND", "VERB");
  root_->get_formatter()->label("SUBCOMMANDS", "VERB");
  root_->get_formatter()->label("Positionals", "Arguments");
  root_->get_formatter()->label("REQUIRED", "(required)");
  const Verb every(root_.get(), notes_.get());
  every
      .add_option("--workspace", global_.workspace,
                  "Directory of the work (default: nearest parent with SANDBOX.md, .cordon or .git, else here)")
      .type_name("DIR");
  every.add_option("--config", global_.config, "One more settings file (JSON5)").type_name("FILE");
  every
      .add_option("--state-dir", global_.state_dir,
                  "Where trust, queue and log are kept (default: $XDG_STATE_HOME/cordon)")
      .type_name("DIR")
      .envname("CORDON_STATE_DIR");
  every.add_option("--agent", global_.agent, "On behalf of this agent").type_name("ID").envname("CORDON_AGENT");
  every.add_option("--session", global_.session, "In this session").type_name("KEY");
  every.add_flag("--json", global_.json, "Answer as JSON, for programs");
  every.add_flag("-q,--quiet", global_.quiet, "Say only what was asked for");
}

CommandLine::~CommandLine() = default;

Verb CommandLine::verb(const std::string& name, const std::string& description) {
  return {add_part(*root_, name, description), notes_.get()};
}

Verb CommandLine::part(Verb verb, const std::string& name, const std::string& description) {
  return {add_part(*verb.app_, name, description), verb.notes_};
}

void CommandLine::does(Verb verb, std::function<int()> action) {
  verb.app_->final_callback([this, action = std::move(action)] {
    if (!chosen_) chosen_ = action;
  });
}

VerbShape CommandLine::shape() const { return shape_of(*root_, *notes_); }

int CommandLine::run(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    std::cout << root_->help();
    return exit_code::trouble;
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    root_->parse(arguments);
  } catch (const CLI::CallForHelp&) {
    const CLI::App& asked = deepest(*root_);
    const std::string path = path_of(asked);
    std::cout << asked.help(path.substr(0, path.rfind(' ') == std::string::npos ? 0 : path.rfind(' ')));
    return exit_code::done;
  } catch (const CLI::ParseError& error) {
    return report(*root_, error);
  }
  if (!chosen_) {
    std::cerr << "cordon: say what to do. Run 'cordon --help' for what there is.\n";
    return exit_code::trouble;
  }
  return chosen_();
}

std::vector<std::string> typed(int count, char** words) {
  if (count == 0) return {};
  std::vector<std::string> arguments(words + 1, words + count);
  std::string_view called_as = words[0];
  called_as.remove_prefix(called_as.rfind('/') + 1);
  if (const std::string verb = verb_of(called_as); !verb.empty()) arguments.insert(arguments.begin(), verb);
  return arguments;
}

std::string command_text(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

}  // namespace cordon::app
