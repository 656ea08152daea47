// cordon explain, tools, sandbox: what the settings mean, and the sessions that live by them.
#include <iostream>

#include "app/guard_for.h"
#include "app/streams.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "guard/explain.h"
#include "guard/kept.h"
#include "model/tools.h"

namespace cordon::app {

namespace {

struct Options {
  std::vector<std::string> command;
  bool probe = false;
};

/// Asks the inside itself. It is a run like any other: judged, recorded.
constexpr const char* probe_script =
    "echo \"user $(id -u), host name $(uname -n)\"; "
    "grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status | tr '\\t' ' '; "
    "echo \"network interfaces: $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | tr '\\n' ' ')\"; "
    "echo \"processes seen: $(ls /proc | grep -c '^[0-9]')\"; "
    "echo \"home: $(ls -A ~ | wc -l) entries, in $HOME\"; "
    "echo \"working directory: $(pwd), $(if [ -w . ]; then echo writable; else echo read-only; fi)\"";

Result<std::vector<std::string>> probe(guard::Guard& guard, Request request) {
  request.text = probe_script;
  sandbox::CapturedIo io;
  const StopOnSignal stop;
  const guard::Execution execution = guard.execute(request, {}, io, stop.token());
  if (!execution.ran()) return fail(Fault::unavailable, "the probe could not run: {}", guard::sentence_of(execution));
  const Isolation& isolation = execution.report.isolation;
  std::vector<std::string> lines = {fmt::format("backend {}, level {}", isolation.backend, isolation.level)};
  for (const std::string& missing : isolation.missing) lines.push_back("missing: " + missing);
  for (std::string_view rest = io.out; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    lines.emplace_back(line);
  }
  return lines;
}

Result<int> run(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  Request request = TRY(request_from(global, {}));
  auto guard = TRY(guard_for_stored(global, request, clock));
  const auto seen = TRY(guard::Sessions(guard.sources().state_dir).list());
  guard::Explanation explanation = guard::explain(guard.settings(), request.asker.agent, request.asker.session, seen);
  if (!options.command.empty()) {
    request.text = command_text(options.command);
    const guard::Execution execution = guard.rehearse(request, explanation.plan);
    explanation.command = execution.judgement;
    if (const auto* broken = std::get_if<Broken>(&execution.report.outcome))
      explanation.obstacle = broken->error.sentence;
    if (const auto* refused = std::get_if<Refused>(&execution.report.outcome)) explanation.obstacle = refused->reason;
  }
  if (options.probe) explanation.probe = TRY(probe(guard, request));
  if (global.json) {
    std::cout << guard::to_json(explanation).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    std::cout << guard::to_text(explanation);
  }
  return exit_code::done;
}

Result<int> tools(const GlobalOptions& global) {
  const Surroundings here = TRY(Surroundings::find(global, {}));
  const std::string agent = global.agent.empty() ? "main" : global.agent;
  const std::vector<std::string> names = effective_tools(here.settings(), agent);
  if (global.json) {
    std::cout << Json{{"agent", agent}, {"tools", names}}.dump(2) << '\n';
    return exit_code::done;
  }
  for (const std::string& name : names) std::cout << name << '\n';
  return exit_code::done;
}

Result<int> list(const GlobalOptions& global) {
  const auto sessions = TRY(guard::Sessions(TRY(state_directory(global))).list());
  const auto kept = guard::kept_sandboxes(TRY(sources_of(global, TRY(current_directory()))));
  const auto container_of = [&](const guard::Session& session) {
    const auto found = kept.find(session.directory);
    return found == kept.end() ? std::string() : found->second.id.substr(0, 12);
  };
  if (global.json) {
    Json array = Json::array();
    for (const guard::Session& session : sessions) {
      array.push_back({{"session", session.key},
                       {"agent", session.agent},
                       {"workspace", session.workspace},
                       {"created", to_rfc3339(session.created)},
                       {"used", to_rfc3339(session.used)},
                       {"container", container_of(session).empty() ? Json() : Json(container_of(session))}});
    }
    std::cout << array.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    return exit_code::done;
  }
  if (sessions.empty() && !global.quiet) std::cerr << "no session has been used yet\n";
  for (const guard::Session& session : sessions) {
    const std::string container = container_of(session);
    std::cout << fmt::format("{}  {}  {}{}\n", to_rfc3339(session.used), visible(session.key, Lines::escape),
                             visible(session.workspace, Lines::escape),
                             container.empty() ? "" : "  container " + container);
  }
  return exit_code::done;
}

struct RecreateOptions {
  bool all = false;
  bool force = false;
  bool keep_files = false;
};

/// The next run of the session begins with an empty home and /tmp.
Result<int> recreate(const GlobalOptions& global, const RecreateOptions& options) {
  if (!options.all && global.session.empty() && global.agent.empty()) {
    return fail(Fault::invalid_input, "say which: --all, --session KEY or --agent ID (see: cordon sandbox list)");
  }
  const guard::Sessions sessions(TRY(state_directory(global)));
  std::vector<guard::Session> chosen;
  for (const guard::Session& session : TRY(sessions.list())) {
    const bool wanted = options.all || (!global.session.empty() && session.key == global.session) ||
                        (global.session.empty() && !global.agent.empty() && session.agent == global.agent);
    if (wanted) chosen.push_back(session);
  }
  if (chosen.empty()) return fail(Fault::invalid_input, "no such session (see: cordon sandbox list)");
  if (!options.force && !options.keep_files) {
    std::string question = "Delete the private home and /tmp of";
    for (const guard::Session& one : chosen) question += "\n  " + visible(one.key, Lines::escape);
    if (!TRY(ask_yes(question + "\n?"))) return fail(Fault::denied, "not confirmed; nothing was deleted");
  }
  const config::Sources sources = TRY(sources_of(global, TRY(current_directory())));
  for (const guard::Session& one : chosen) {
    CHECK_OK(guard::end_kept(sources, one.directory));
    if (!options.keep_files) CHECK_OK(sessions.remove(one.key));
    if (!global.quiet) std::cout << visible(one.key, Lines::escape) << ": begins anew\n";
  }
  return exit_code::done;
}

void define_explain_as(CommandLine& line, Verb verb) {
  const auto options = std::make_shared<Options>();
  verb.add_option("--command", options->command, "Say how this command would be decided, and by which rule")
      .type_name("TEXT");
  verb.add_flag("--probe", options->probe, "Start a sandbox and report what is really in force");
  verb.example("cordon explain --session agent:main:main");
  verb.example("cordon explain --command 'git push origin main'");
  line.does(verb, [&line, options] { return finish(run(line.global(), *options)); });
}

}  // namespace

void define_explain(CommandLine& line) {
  define_explain_as(line,
                    line.verb("explain", "Say where commands run, which tools there are, and which rule says so"));

  const Verb tools_verb = line.verb("tools", "List the tools that an agent has");
  tools_verb.example("cordon tools --agent reviewer");
  line.does(tools_verb, [&line] { return finish(tools(line.global())); });

  const Verb sandbox = line.verb("sandbox", "Sessions and their private files");
  sandbox.require_part();
  define_explain_as(line, CommandLine::part(sandbox, "explain", "The same as cordon explain"));
  const Verb list_verb = CommandLine::part(sandbox, "list", "List the sessions seen so far, the last used first");
  list_verb.example("cordon sandbox list --json");
  line.does(list_verb, [&line] { return finish(list(line.global())); });
  const Verb recreate_verb =
      CommandLine::part(sandbox, "recreate", "End a session's container and delete its private home and /tmp");
  const auto options = std::make_shared<RecreateOptions>();
  recreate_verb.add_flag("--all", options->all, "Every session");
  recreate_verb.add_flag("--force", options->force, "Without asking");
  recreate_verb.add_flag("--keep-files", options->keep_files, "End its container only; home and /tmp stay");
  recreate_verb.example("cordon sandbox recreate --session agent:main:main");
  line.does(recreate_verb, [&line, options] { return finish(recreate(line.global(), *options)); });
}

}  // namespace cordon::app
