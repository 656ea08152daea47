#include "app/exec_options.h"

#include <charconv>

#include "guard/backend.h"

namespace cordon::app {

namespace {

Result<std::uint16_t> port_of(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1024) {
    return fail(Fault::invalid_input, "--publish '{}': write a port between 1024 and 65535", text);
  }
  return port;
}

/// `--wait 'npm test'` and `--wait 30s 'npm test'` are both right: what is no time is the command.
void read_wait(ExecOptions& options) {
  const bool is_time = !options.wait.empty() && milliseconds_of(options.wait, "--wait").has_value();
  if (!is_time && !options.wait.empty() && options.command.empty()) options.command = {options.wait};
  if (!is_time) options.wait = "forever";
}

}  // namespace

Result<std::optional<Duration>> ExecOptions::longest_wait() const {
  if (wait.empty()) return std::optional<Duration>();
  if (wait == "forever") return std::optional<Duration>(std::chrono::hours(24));
  return std::optional<Duration>(std::chrono::milliseconds(TRY(milliseconds_of(wait, "--wait"))));
}

Result<Request> exec_request(const GlobalOptions& global, const ExecOptions& options) {
  if (options.command.empty()) {
    return fail(Fault::invalid_input, "say which command, e.g.: sandbox-exec 'npm test'");
  }
  RequestOptions given = options.request;
  given.text = command_text(options.command);
  Request request = TRY(nameless_request_from(global, given));
  request.backend = TRY(guard::backend_named(options.backend));
  request.require_approval = options.require_approval;
  request.input_given = options.input;
  request.tty = options.tty;
  request.report_violations = options.violations;
  request.detached = options.detach;
  // Marks it as an agent's too: nothing that is run for a hook was typed by a person.
  if (options.from == "hook") {
    request.asker.surface = options.from;
    request.asker.is_agent = true;
  }
  for (const std::string& port : options.publish) request.publish.push_back(TRY(port_of(port)));
  request.learn_network = options.learn_network;
  if (!options.timeout.empty()) request.wall_ms = TRY(milliseconds_of(options.timeout, "--timeout"));
  if (!options.require.empty()) {
    request.require = level_named(options.require);
    if (!request.require)
      return fail(Fault::invalid_input, "--require '{}': the levels are L0 (full) to L4", options.require);
  }
  return request;
}

void define_exec(CommandLine& line, ExecOptions& options, std::function<int()> action) {
  const Verb verb = line.verb("exec", "Judge a command, ask where needed, run it in a sandbox and record it");
  verb.add_option("COMMAND", options.command, "The command, quoted as one word (or words after --)").type_name("TEXT");
  verb.add_flag("-a,--require-approval", options.require_approval, "Ask a person even if the rules allow it");
  verb.add_flag("-n,--dry-run", options.dry_run,
                "Try it out where nothing stays: what would happen, and the real changes");
  verb.add_flag("--keep", options.keep, "Keep the preview, to look at and commit it later (see: cordon preview)");
  verb.add_flag("--no-dry-run", options.no_dry_run, "Run it although the settings make --dry-run the default");
  verb.add_option("--timeout", options.timeout, "End it after this time, e.g. 30s, 5m or 1500 (ms)").type_name("TIME");
  verb.add_option("--cwd", options.request.cwd, "Run it in this directory of the workspace").type_name("DIR");
  verb.add_option("--env", options.request.environment,
                  "Give it this variable (NAME=value, or NAME for its value here)")
      .type_name("NAME=VALUE");
  verb.add_option("--backend", options.backend, "How it is isolated: auto, native, docker, gvisor or runc")
      .type_name("NAME");
  verb.add_option("--require", options.require, "Refuse weaker isolation than this level, L0 (full) to L4")
      .type_name("LEVEL");
  const Option wait =
      verb.add_option("--wait", options.wait, "If it needs approval, wait for it (at most so long) and then run")
          .type_name("[TIME]")
          .expected(0, 1);
  verb.add_option("--approval", options.approval, "Run by this approval").type_name("ID");
  verb.add_option("--from", options.from, "Set in the commands that a hook hands to its agent")
      .type_name("hook")
      .one_of({"hook"});
  verb.add_option("--ticket", options.ticket, "Set by a hook whose agent has asked the person in its own window")
      .type_name("TICKET");
  verb.add_flag("--no-prompt", options.no_prompt, "Never ask here; queue what needs approval");
  verb.add_flag("--detach", options.detach, "Start it, print its id and return (see: cordon ps, logs, stop)");
  verb.add_flag("-i,--stdin", options.input, "Give it this process's standard input");
  verb.add_flag("-t,--tty", options.tty, "Give it a terminal of its own");
  verb.add_flag("--violations", options.violations, "Report what it wanted and was refused inside the sandbox");
  verb.add_option("--publish", options.publish, "Make this port of the sandbox reachable on the host's loopback")
      .type_name("PORT");
  verb.add_flag("--learn-network", options.learn_network,
                "Ask about each host that no rule names, or list them as ready-made rules");
  add_presence_options(verb, options.request.presence);
  verb.example("sandbox-exec 'npm test'");
  verb.example("sandbox-exec --json --timeout 5m 'make -j4'");
  verb.example("sandbox-exec --detach --publish 8080 'npm run dev'");
  verb.example("sandbox-exec --dry-run --keep 'npm run format'");
  verb.example("sandbox-exec --learn-network 'npm install'");
  verb.exits(exit_code::queued, "not started: waits for approval");
  verb.exits(exit_code::timed_out, "ended by its time limit");
  verb.exits(exit_code::not_run, "could not be run; nothing ran");
  verb.exits(exit_code::refused, "refused");
  line.does(verb, [&options, wait, action = std::move(action)] {
    if (wait.given()) read_wait(options);
    return action();
  });
}

}  // namespace cordon::app
