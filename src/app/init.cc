// cordon init: a SANDBOX.md that fits the project it finds.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "app/changes.h"
#include "app/presence.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "config/bind.h"
#include "config/preset.h"
#include "config/project.h"
#include "config/registry.h"
#include "config/template.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

struct Options {
  bool print = false;
  bool toolchains = false;
  std::vector<std::string> presets;
  PresenceOptions presence;
};

config::TemplateFacts look_around(const config::Sources& sources) {
  config::TemplateFacts facts;
  facts.kinds = config::detect_project(sources.workspace);
  facts.toolchains = config::find_toolchains(
      sources.home, config::BindRules::create(sources.home, {sources.state_dir}, sources.engine_sockets));
  const char* path = std::getenv("PATH");
  facts.found_presets = config::find_registries(
      {.home = sources.home, .path = path == nullptr ? "" : path, .workspace = sources.workspace, .root = ""});
  facts.home = sources.home;
  return facts;
}

void show(const config::TemplateFacts& facts, std::ostream& out) {
  out << "Project:";
  for (const config::ProjectKind* kind : facts.kinds) out << ' ' << kind->name;
  out << (facts.kinds.empty() ? " nothing recognised\n" : "\n");
  for (const config::Toolchain& toolchain : facts.toolchains) {
    out << "Toolchain: " << toolchain.name << " in " << visible(toolchain.path, Lines::escape)
        << (toolchain.refused.empty() ? "" : " (cannot be bound: " + visible(toolchain.refused, Lines::escape) + ")")
        << '\n';
  }
  for (const auto& [preset, hosts] : facts.found_presets) {
    out << "Registry: preset:" << preset << " means";
    for (const std::string& host : hosts) out << ' ' << visible(host, Lines::escape);
    out << '\n';
  }
}

Result<void> choose(const Options& options, bool ask, config::TemplateFacts& facts) {
  bool bind = options.toolchains;
  if (!bind && ask && !facts.toolchains.empty()) {
    bind = TRY(ask_yes("Show these toolchains to sandboxed programs, read-only?"));
  }
  if (!bind) facts.toolchains.clear();
  facts.open_presets = options.presets;
  for (const std::string& preset : options.presets) {
    if (!facts.found_presets.contains(preset)) {
      return fail(Fault::invalid_input, "no registry was found for preset '{}' on this machine", preset);
    }
  }
  if (!ask || !options.presets.empty()) return {};
  for (const auto& [preset, hosts] : facts.found_presets) {
    const bool useful = std::any_of(facts.kinds.begin(), facts.kinds.end(),
                                    [&](const config::ProjectKind* kind) { return kind->preset == preset; });
    if (useful && TRY(ask_yes("Let sandboxed programs reach preset:" + preset + "?")))
      facts.open_presets.push_back(preset);
  }
  return {};
}

Result<void> trust_own(const GlobalOptions& global, const config::Sources& sources, const std::string& written) {
  for (const config::TrustPreview& preview : TRY(config::preview_trust(sources))) {
    if (preview.bytes != written) continue;
    CHECK_OK(record_change(global, RecordKind::policy_changed, "init, trusted: " + preview.file.path,
                           {{"sha256", preview.file.digest.hex()}}));
    return config::trust(sources, preview, SystemClock().now());
  }
  return fail(Fault::conflict, "SANDBOX.md was changed while it was written; look at it and run: cordon trust");
}

Result<int> run(const GlobalOptions& global, const Options& options) {
  const config::Sources sources = TRY(sources_of(global, TRY(current_directory())));
  CHECK_OK(config::BindRules::create(sources.home, {}, {}).check_workspace(sources.workspace));
  const std::string path = sources.workspace + "/SANDBOX.md";
  config::TemplateFacts facts = look_around(sources);
  if (!global.quiet) show(facts, options.print ? std::cerr : std::cout);

  const bool ask = is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && global.agent.empty() && !options.print;
  CHECK_OK(choose(options, ask, facts));
  const std::string text = config::sandbox_md_for(facts);
  if (options.print) {
    std::cout << text;
    return exit_code::done;
  }
  const auto created = sys::create_file(path, text, 0644);
  if (!created && created.error().fault == Fault::conflict) {
    return fail(Fault::conflict,
                "{} exists already and is not overwritten; edit it, or see another with: cordon init --print", path);
  }
  CHECK_OK(created);
  CHECK_OK(config::save_presets(sources.state_dir, facts.found_presets));
  std::cout << "Wrote " << path << '\n';

  // What it allows counts only once a person has said so: an agent can run init too.
  const auto presence = prove_presence(global, options.presence, "Trust what was written?");
  if (!presence) {
    std::cout << "It is not trusted yet, so it can only tighten. Look at it, then run: cordon trust\n";
    return exit_code::done;
  }
  CHECK_OK(trust_own(global, sources, text));
  std::cout << "Trusted. See what counts with: cordon config show --effective --origin\n";
  return exit_code::done;
}

}  // namespace

void define_init(CommandLine& line) {
  const Verb verb = line.verb("init", "Write a SANDBOX.md that fits this project, and trust it; never overwrites");
  const auto options = std::make_shared<Options>();
  verb.add_flag("--print", options->print, "Print it instead of writing it");
  verb.add_flag("--with-toolchains", options->toolchains, "Bind the toolchains found under your home, read-only");
  verb.add_option("--with-preset", options->presets, "Open the network to this registry (npm, pip, apt, cargo, git)")
      .type_name("NAME");
  add_presence_options(verb, options->presence);
  verb.example("cordon init --with-toolchains --with-preset npm");
  verb.exits(exit_code::refused, "no presence: not a terminal, or not the approver's secret");
  line.does(verb, [&line, options] { return finish(run(line.global(), *options)); });
}

}  // namespace cordon::app
