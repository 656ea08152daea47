// cordon exec: the whole way of one command.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>

#include "app/answer_here.h"
#include "app/asker.h"
#include "app/daemon.h"
#include "app/detach.h"
#include "app/streams.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "approve/ticket.h"
#include "base/text.h"
#include "guard/backend.h"
#include "guard/guard.h"
#include "sandbox/preview/describe.h"

namespace cordon::app {

namespace {

struct Options {
  std::vector<std::string> command;
  RequestOptions request;
  std::string timeout;
  std::string backend;
  std::string require;
  std::string wait;
  std::string approval;
  std::string from;
  std::string ticket;
  bool require_approval = false;
  bool dry_run = false;
  bool no_dry_run = false;
  bool keep = false;
  bool no_prompt = false;
  bool detach = false;
  bool input = false;
  bool tty = false;
  bool violations = false;
  std::vector<std::string> publish;
  bool learn_network = false;
};

constexpr Duration longest_wait = std::chrono::hours(24);

/// A person has said yes in the agent's client, which the settings name as a place for that; the ticket is the proof.
Result<std::optional<approve::Vote>> take_ticket(const Options& options, const guard::Guard& guard,
                                                 const Request& request) {
  const auto& surfaces = guard.settings().approval.surfaces;
  const bool named = std::any_of(surfaces.begin(), surfaces.end(),
                                 [&](const Entry& entry) { return entry.value == request.asker.agent; });
  const Digest subject = approve::ticket_subject(request.text, request.cwd, request.asker.agent);
  const approve::Tickets tickets(guard.sources().state_dir);
  const bool good = TRY(tickets.take(options.ticket, subject, SystemClock().now()));
  if (!named || !good) return fail(Fault::denied, "the ticket is not good (any more) for this command");
  return std::optional(approve::Vote{.by = request.asker.user + " in " + request.asker.agent,
                                     .presence = approve::Presence::surface,
                                     .inside_sandbox = inside_sandbox()});
}

/// A person who is there lets a host through, until the run ends. As with every loosening, a y is not enough where an
/// approver was set up.
Result<bool> ask_about(const Contact& contact, const GlobalOptions& global, const PresenceOptions& presence) {
  const std::string question = fmt::format("The command wants to reach {} ({}).", contact.would_allow, contact.reason);
  const std::string answer = to_lower(trim(TRY(ask_line(question + " Allow it for this run? [y/N] "))));
  if (answer != "y" && answer != "yes") return false;
  if (TRY(approve::ApproverStore(TRY(state_directory(global))).read())) {
    TRY(prove_presence(global, presence, "Allow " + contact.would_allow + "?"));
  }
  return true;
}

Result<guard::Asking> asking_of(const GlobalOptions& global, const Options& options, const Request& request) {
  guard::Asking asking;
  asking.approval = options.approval;
  if (!options.wait.empty()) {
    asking.wait = longest_wait;
    if (options.wait != "forever") {
      asking.wait = std::chrono::milliseconds(TRY(milliseconds_of(options.wait, "--wait")));
    }
    asking.waiting = [quiet = global.quiet || global.json](const approve::Entry& entry) {
      if (!quiet)
        std::cerr << "cordon: waiting for approval of " << entry.id << "; run: sandbox-queue approve " << entry.id
                  << '\n';
    };
    return asking;
  }
  if (!options.no_prompt) asking.on_the_spot = answer_here(global, options.request.presence, request);
  return asking;
}

Result<std::uint16_t> port_of(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1024) {
    return fail(Fault::invalid_input, "--publish '{}': write a port between 1024 and 65535", text);
  }
  return port;
}

Result<Request> request_of(const GlobalOptions& global, const Options& options) {
  if (options.command.empty()) {
    return fail(Fault::invalid_input, "say which command, e.g.: sandbox-exec 'npm test'");
  }
  RequestOptions given = options.request;
  given.text = command_text(options.command);
  Request request = TRY(request_from(global, given));
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

/// A person may see what a command would do before they decide; whoever cannot prove to be one may not.
bool shows_presence(const GlobalOptions& global, const Options& options, const guard::Guard& guard,
                    const Request& request) {
  if (guard.judge(request).verdict.action != Action::ask) return false;
  const bool someone_is_here = !request.asker.is_agent && is_terminal(STDERR_FILENO) && !options.no_prompt;
  const bool has_token =
      !options.request.presence.token_file.empty() || std::getenv("CORDON_APPROVER_TOKEN") != nullptr;
  if (!has_token && (!someone_is_here || global.json)) return false;
  return prove_presence(global, options.request.presence,
                        "Try out " + visible(request.text, Lines::escape) + " where nothing of it stays?")
      .has_value();
}

void print_preview(const guard::Previewed& previewed, const Request& request) {
  const std::string_view would = previewed.would;
  const guard::Execution& execution = previewed.execution;
  std::cout << "would "
            << (would == "block"   ? "be refused"
                : would == "queue" ? "wait for approval"
                                   : "run")
            << ": " << visible(request.text, Lines::keep) << '\n';
  std::cout << "  risk: " << name_of(execution.judgement.verdict.risk) << '\n';
  for (const std::string& reason : guard::reasons_of(execution.judgement)) {
    std::cout << "  - " << visible(reason, Lines::escape) << '\n';
  }
  for (const Effect& effect : execution.judgement.analysis.effects) {
    std::cout << "  " << name_of(effect.kind) << ' ' << visible(effect.target, Lines::escape) << '\n';
  }
  if (would == "block") {
    std::cout << "  " << guard::sentence_of(execution) << '\n';
  } else if (previewed.for_approver && !execution.approval.empty() && !previewed.nothing_ran) {
    std::cout << "what it did in a preview is for its approver: sandbox-queue show " << execution.approval << '\n';
  } else if (!previewed.cannot.empty()) {
    std::cout << "cannot preview: " << visible(previewed.cannot, Lines::escape) << '\n';
  } else if (previewed.preview) {
    std::cout << sandbox::preview::text_of(*previewed.preview, sandbox::preview::Detail::diffs);
  }
  std::cout << "nothing was changed\n";
}

/// What would happen, tried out; nothing stays.
Result<int> preview(const GlobalOptions& global, const Options& options, guard::Guard& guard, const Request& request) {
  const bool present = shows_presence(global, options, guard, request);
  const StopOnSignal stop;
  const guard::Previewed previewed = guard.preview(request, {.keep = options.keep, .present = present}, stop.token());
  if (global.json) {
    std::cout << guard::to_json(previewed).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    print_preview(previewed, request);
  }
  if (std::string_view(previewed.would) == "block") {
    return std::holds_alternative<Broken>(previewed.execution.report.outcome) ? exit_code::not_run : exit_code::refused;
  }
  const bool missing = options.keep && !previewed.for_approver && !previewed.cannot.empty();
  return missing ? exit_code::not_run : exit_code::done;
}

std::string text_of(const Json& json) {
  return json.is_string() ? visible(json.get<std::string>(), Lines::escape) : "";
}

/// What was refused, and the lines that would allow it, ready to be copied.
void say_network(const Json& network) {
  for (const Json& contact : network.value("contacts", Json::array())) {
    const std::string what = text_of(contact["what"]);
    if (what != "refused" && what != "failed") continue;
    std::cerr << "cordon: network: ";
    if (const std::string host = text_of(contact["host"]); !host.empty()) {
      std::cerr << host << ':' << contact["port"].dump() << ' ';
    }
    std::cerr << what << ": " << text_of(contact.value("reason", Json()));
    if (contact.contains("count")) std::cerr << " (" << contact["count"].dump() << " times)";
    std::cerr << '\n';
  }
  const Json rules = network.value("rules_to_allow", Json::array());
  if (rules.empty()) return;
  std::cerr << "cordon: to allow it, add under Network in SANDBOX.md and run: cordon trust\n";
  for (const Json& rule : rules) std::cerr << "- " << text_of(rule) << '\n';
}

/// Beside the command's own output. `object` is the exec object, whoever made it.
void say(const GlobalOptions& global, const Json& object, const std::string& sentence) {
  for (const Json& alert : object.value("alerts", Json::array())) {
    std::cerr << styled("cordon: " + text_of(alert), Style::red, STDERR_FILENO) << '\n';
  }
  if (!sentence.empty()) std::cerr << styled("cordon:", Style::red, STDERR_FILENO) << ' ' << sentence << '\n';
  if (object["blocked"] == true) {
    for (const Json& safer : object["safety"]["safer"]) std::cerr << "  safer: " << text_of(safer) << '\n';
  }
  for (const Json& one : object["quarantined"]) {
    std::cerr << "cordon: " << text_of(one["path"]) << " is protected; what the command made there was moved to "
              << text_of(one["kept"]) << '\n';
  }
  for (const Json& violation : object["violations"]) {
    std::cerr << "cordon: refused inside: " << text_of(violation["what"]) << " (" << text_of(violation["rule"]) << ")";
    if (violation["allow"].is_string()) std::cerr << "; to allow it: " << text_of(violation["allow"]);
    std::cerr << '\n';
  }
  say_network(object.value("network", Json::object()));
  const bool cut_out = object["truncated"]["stdout"] == true;
  if ((cut_out || object["truncated"]["stderr"] == true) && !global.quiet) {
    std::cerr << "cordon: " << (cut_out ? "stdout" : "stderr") << " was cut at the output limit\n";
  }
}

int show(const GlobalOptions& global, const Options& options, const serve::socket::Answer& answer) {
  if (global.json) {
    std::cout << answer.object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    say(global, answer.object, answer.sentence);
    if (!options.from.empty() && answer.object["queued"] == true) {
      std::cerr
          << "cordon: you cannot approve it; tell the user what it is for, ask them to run that, then run the same "
             "command again\n";
    }
  }
  return answer.exit;
}

serve::socket::Answer answer_of(const guard::Execution& execution, const guard::Output& output) {
  return {guard::to_json(execution, output), guard::exit_code_of(execution), guard::sentence_of(execution)};
}

Result<int> execute(const GlobalOptions& global, const Options& options, guard::Guard& guard, const Request& request) {
  guard::Asking asking = TRY(asking_of(global, options, request));
  if (!options.ticket.empty()) {
    asking.on_the_spot = [&](const approve::Entry&) { return take_ticket(options, guard, request); };
  }
  const StopOnSignal stop;
  if (global.json) {
    class QuietIo : public sandbox::CapturedIo {
     public:
      explicit QuietIo(bool input) : input_(input) {}
      std::optional<int> input_descriptor() override { return input_ ? std::optional(STDIN_FILENO) : std::nullopt; }

     private:
      bool input_;
    };
    QuietIo io(options.input);
    const guard::Execution execution = guard.execute(request, asking, io, stop.token());
    return show(global, options, answer_of(execution, {io.out, io.err}));
  }
  const bool progress = is_terminal(STDERR_FILENO) && !global.quiet && !options.tty;
  guard::Execution execution;
  std::vector<std::string> learned;
  {
    PassingIo io(progress ? PassingIo::Progress::on : PassingIo::Progress::off, options.input);
    if (request.learn_network && asking.on_the_spot && !options.input) {
      io.ask_about_contacts([&](const Contact& contact) {
        const auto allowed = ask_about(contact, global, options.request.presence);
        if (allowed.value_or(false)) learned.push_back(contact.would_allow);
        return allowed.value_or(false);
      });
    }
    execution = guard.execute(request, asking, io, stop.token());
  }
  const int code = show(global, options, answer_of(execution, {}));
  if (!learned.empty()) {
    std::cerr
        << "cordon: allowed for this run only; to keep it, add under Network in SANDBOX.md and run: cordon trust\n";
    for (const std::string& rule : learned) std::cerr << "- " << rule << '\n';
  }
  return code;
}

/// The same by a daemon. Nothing: it is to be done here.
Result<std::optional<int>> execute_by_daemon(const GlobalOptions& global, const Options& options,
                                             const Request& request) {
  // What needs the person at this terminal, or more of the guard than a run, is done here.
  if (options.dry_run || options.keep || options.learn_network || !options.ticket.empty()) return std::optional<int>();
  const guard::Asking asking = TRY(asking_of(global, options, request));
  serve::socket::Question question{.verb = serve::socket::Verb::exec, .request = request, .approval = asking.approval};
  if (asking.wait) question.wait_ms = std::chrono::duration_cast<std::chrono::milliseconds>(*asking.wait).count();
  question.person_is_there = static_cast<bool>(asking.on_the_spot);
  question.dry_run_is_fine = options.no_dry_run;
  const StopOnSignal stop;
  const auto answer =
      TRY(ask_daemon(std::move(question), {global, options.request.presence, stop.token(), options.input}));
  if (!answer) return std::optional<int>();
  return std::optional(show(global, options, *answer));
}

Result<int> run(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  Request request = TRY(request_of(global, options));
  if (options.detach) return detach(global, request, options.request.presence, options.approval);
  if (const auto done = TRY(execute_by_daemon(global, options, request))) return *done;
  auto guard = TRY(guard_for(global, request, options.request.presence, clock));
  const bool dry_run = options.dry_run || (guard.settings().approval.dry_run.value && !options.no_dry_run);
  if (options.keep && !dry_run) return fail(Fault::invalid_input, "--keep keeps a preview: give --dry-run too");
  return dry_run ? preview(global, options, guard, request) : execute(global, options, guard, request);
}

/// `--wait 'npm test'` and `--wait 30s 'npm test'` are both right: what is no time is the command.
void read_wait(Options& options) {
  const bool is_time = !options.wait.empty() && milliseconds_of(options.wait, "--wait").has_value();
  if (!is_time && !options.wait.empty() && options.command.empty()) options.command = {options.wait};
  if (!is_time) options.wait = "forever";
}

/// Trouble of ours before anything ran is 125: the command's own exit code may be anything else.
int finish_exec(const GlobalOptions& global, const Result<int>& result) {
  if (result) return *result;
  const bool denied = result.error().fault == Fault::denied;
  if (global.json) {
    std::cout << Json{{"success", false},
                      {"executed", false},
                      {"queued", false},
                      {"blocked", denied},
                      {"error", visible(result.error().sentence, Lines::escape)}}
                     .dump(2)
              << '\n';
  } else {
    complain(result.error());
  }
  if (result.error().fault == Fault::invalid_input) return exit_code::trouble;
  return denied ? exit_code::refused : exit_code::not_run;
}

}  // namespace

void define_exec(CommandLine& line) {
  const Verb verb = line.verb("exec", "Judge a command, ask where needed, run it in a sandbox and record it");
  const auto options = std::make_shared<Options>();
  verb.add_option("COMMAND", options->command, "The command, quoted as one word (or words after --)").type_name("TEXT");
  verb.add_flag("-a,--require-approval", options->require_approval, "Ask a person even if the rules allow it");
  verb.add_flag("-n,--dry-run", options->dry_run,
                "Try it out where nothing stays: what would happen, and the real changes");
  verb.add_flag("--keep", options->keep, "Keep the preview, to look at and commit it later (see: cordon preview)");
  verb.add_flag("--no-dry-run", options->no_dry_run, "Run it although the settings make --dry-run the default");
  verb.add_option("--timeout", options->timeout, "End it after this time, e.g. 30s, 5m or 1500 (ms)").type_name("TIME");
  verb.add_option("--cwd", options->request.cwd, "Run it in this directory of the workspace").type_name("DIR");
  verb.add_option("--env", options->request.environment,
                  "Give it this variable (NAME=value, or NAME for its value here)")
      .type_name("NAME=VALUE");
  verb.add_option("--backend", options->backend, "How it is isolated: auto, native, docker, gvisor or runc")
      .type_name("NAME");
  verb.add_option("--require", options->require, "Refuse weaker isolation than this level, L0 (full) to L4")
      .type_name("LEVEL");
  const Option wait =
      verb.add_option("--wait", options->wait, "If it needs approval, wait for it (at most so long) and then run")
          .type_name("[TIME]")
          .expected(0, 1);
  verb.add_option("--approval", options->approval, "Run by this approval").type_name("ID");
  verb.add_option("--from", options->from, "Set in the commands that a hook hands to its agent")
      .type_name("hook")
      .one_of({"hook"});
  verb.add_option("--ticket", options->ticket, "Set by a hook whose agent has asked the person in its own window")
      .type_name("TICKET");
  verb.add_flag("--no-prompt", options->no_prompt, "Never ask here; queue what needs approval");
  verb.add_flag("--detach", options->detach, "Start it, print its id and return (see: cordon ps, logs, stop)");
  verb.add_flag("-i,--stdin", options->input, "Give it this process's standard input");
  verb.add_flag("-t,--tty", options->tty, "Give it a terminal of its own");
  verb.add_flag("--violations", options->violations, "Report what it wanted and was refused inside the sandbox");
  verb.add_option("--publish", options->publish, "Make this port of the sandbox reachable on the host's loopback")
      .type_name("PORT");
  verb.add_flag("--learn-network", options->learn_network,
                "Ask about each host that no rule names, or list them as ready-made rules");
  add_presence_options(verb, options->request.presence);
  verb.example("sandbox-exec 'npm test'");
  verb.example("sandbox-exec --json --timeout 5m 'make -j4'");
  verb.example("sandbox-exec --detach --publish 8080 'npm run dev'");
  verb.example("sandbox-exec --dry-run --keep 'npm run format'");
  verb.example("sandbox-exec --learn-network 'npm install'");
  verb.exits(exit_code::queued, "not started: waits for approval");
  verb.exits(exit_code::timed_out, "ended by its time limit");
  verb.exits(exit_code::not_run, "could not be run; nothing ran");
  verb.exits(exit_code::refused, "refused");
  line.does(verb, [&line, options, wait] {
    if (wait.given()) read_wait(*options);
    return finish_exec(line.global(), run(line.global(), *options));
  });
}

}  // namespace cordon::app
