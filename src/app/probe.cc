#include "app/probe.h"

#include "app/child.h"
#include "app/codex.h"
#include "app/surroundings.h"
#include "base/text.h"
#include "serve/install/agent.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

using sandbox::native::Check;

/// As an agent does it: by a shell, JSON on stdin.
Check probe(const serve::install::Agent& agent, const std::string& file, const std::string& command) {
  Check check{.name = "hook of " + std::string(agent.name), .works = false, .needed = true};
  check.fix = "run: cordon install " + std::string(agent.name);
  const auto ended = run_with(command, agent.probe);
  if (!ended) {
    check.detail = ended.error().sentence;
    return check;
  }
  const bool denied =
      ended->out.find("deny") != std::string::npos || ended->out.find("\"block\":true") != std::string::npos;
  // 2 is what a hook that cannot judge ends with: the command would be blocked, but so would every other.
  check.works = ended->code == 0 && denied;
  check.detail = check.works        ? file + " (a command that must be refused was refused)"
                 : ended->code == 2 ? file + ": it blocks everything: it is not there, or cannot judge"
                                    : fmt::format("{}: it did not refuse (exit code {})", file, ended->code);
  if (check.works) check.fix.clear();
  return check;
}

/// Only Codex keeps a hook from running until a person has trusted it.
Check ask_about_trust(const std::string& directory, const std::string& file, const std::string& command) {
  Check check{.name = "trust in the hook of codex", .works = false, .needed = true};
  check.fix = "start codex and say /hooks, look at the hook and trust it; until then it is NOT in force";
  const auto hook = ask_codex(directory, file, command);
  if (!hook) {
    check.needed = false;
    check.detail = file + ": not known whether Codex will run it: " + hook.error().sentence;
    return check;
  }
  check.works = hook->runs;
  check.detail = file + ": " + (hook->says.empty() ? "Codex does not load it" : "Codex says " + hook->says);
  if (hook->says.empty()) check.fix = "trust the project in Codex, and do not switch its hooks off";
  if (check.works) check.fix.clear();
  return check;
}

Check switched_off(const serve::install::Agent& agent, const std::string& file, const std::string& why) {
  return {.name = "hooks of " + std::string(agent.name),
          .works = false,
          .needed = true,
          .detail = file + ": " + why + ": NO hook is in force",
          .fix = "take that out of the file"};
}

std::optional<std::string> text_in(const std::string& path) {
  auto text = sys::read_file_if_exists(path, 64U << 20);
  return text ? *std::move(text) : std::nullopt;
}

}  // namespace

std::vector<Check> probe_hooks(const GlobalOptions& global) {
  std::vector<Check> checks;
  const auto cwd = current_directory();
  const auto sources = cwd ? sources_of(global, *cwd) : tl::make_unexpected(cwd.error());
  if (!sources) return checks;
  for (const serve::install::Agent& agent : serve::install::agents()) {
    for (const auto scope : {serve::install::Scope::user, serve::install::Scope::project}) {
      const serve::install::Facts facts{
          .program = "/cordon", .workspace = sources->workspace, .home = sources->home, .scope = scope};
      for (const serve::install::Edit& edit : agent.edits(facts)) {
        const auto text = text_in(edit.path);
        if (!text) continue;
        const Json file = parse_json(*text);
        const std::string command = serve::install::installed_hook(file, agent.name);
        if (!command.empty()) checks.push_back(probe(agent, edit.path, command));
        if (!command.empty() && agent.name == "codex") checks.push_back(ask_about_trust(*cwd, edit.path, command));
        if (const std::string why = serve::install::switched_off(file); !why.empty()) {
          checks.push_back(switched_off(agent, edit.path, why));
        }
      }
      for (const serve::install::OwnFile& file : agent.files(facts)) {
        const std::string command = serve::install::plugin_probe(file.path);
        if (!command.empty() && text_in(file.path)) checks.push_back(probe(agent, file.path, command));
      }
    }
  }
  return checks;
}

}  // namespace cordon::app
