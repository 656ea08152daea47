// cordon install: wires an agent to Cordon, or takes it out again.
#include <filesystem>
#include <iostream>

#include "app/changes.h"
#include "app/presence.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "serve/install/install.h"

namespace cordon::app {

namespace {

struct Options {
  std::string agent;
  bool project = false;
  bool user = false;
  bool uninstall = false;
  PresenceOptions presence;
};

Result<serve::install::Facts> facts_of(const GlobalOptions& global, const Options& options) {
  if (options.project && options.user) return fail(Fault::invalid_input, "give --project or --user, not both");
  const config::Sources sources = TRY(sources_of(global, TRY(current_directory())));
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(Fault::unavailable, "cannot tell where cordon is: {}", error.message());
  serve::install::Facts facts{.program = program.string(),
                              .workspace = sources.workspace,
                              .home = sources.home,
                              .scope = options.project ? serve::install::Scope::project : serve::install::Scope::user};
  facts.approval_expiry_ms = TRY(config::load(sources)).settings.approval.expiry_ms.value;
  return facts;
}

Result<int> run(const GlobalOptions& global, const Options& options) {
  const serve::install::Agent* agent = serve::install::find_agent(options.agent);
  if (agent == nullptr) return fail(Fault::invalid_input, "there is nothing to install for '{}'", options.agent);
  const serve::install::Facts facts = TRY(facts_of(global, options));
  if (options.uninstall) {
    const auto presence =
        TRY(prove_presence(global, options.presence, "Let " + options.agent + " work without Cordon from now on?"));
    CHECK_OK(record_change(global, RecordKind::policy_changed, "uninstall: " + options.agent,
                           {{"presence", approve::name_of(presence)}}));
  }
  const auto report = TRY(options.uninstall ? unwire(*agent, facts) : wire(*agent, facts));
  if (global.json) {
    Json notes = Json::array();
    for (const std::string_view note : agent->notes) notes.push_back(std::string(note));
    std::cout << Json{{"success", true}, {"agent", options.agent}, {"done", report}, {"notes", notes}}.dump(2) << '\n';
    return exit_code::done;
  }
  for (const std::string& line : report) std::cout << visible(line, Lines::escape) << '\n';
  if (options.uninstall) return exit_code::done;
  std::cout << "\nWhat you should know:\n";
  for (const std::string_view note : agent->notes) std::cout << "  - " << note << '\n';
  std::cout << "  - What the agent's own process does beside its tools is outside of Cordon's reach.\n"
            << "Try it: cordon doctor sends a command that must be refused through every hook.\n";
  return exit_code::done;
}

}  // namespace

void define_install(CommandLine& line) {
  const Verb verb = line.verb("install", "Wire an agent to Cordon: hook, tools and skill; or take it out again");
  const auto options = std::make_shared<Options>();
  verb.add_option("AGENT", options->agent, "claude-code, codex, gemini, cursor or openclaw")
      .one_of({"claude-code", "codex", "gemini", "cursor", "openclaw"})
      .required();
  verb.add_flag("--user", options->user, "For everything you do (the default)");
  verb.add_flag("--project", options->project, "In this workspace's files only");
  verb.add_flag("--uninstall", options->uninstall, "Take it out; needs presence");
  add_presence_options(verb, options->presence);
  verb.example("cordon install claude-code");
  verb.example("cordon install gemini --project");
  verb.exits(exit_code::refused, "no presence: not a terminal, or not the approver's secret");
  line.does(verb, [&line, options] { return finish(run(line.global(), *options)); });
}

}  // namespace cordon::app
