// cordon exec: the whole way of one command.
#include <unistd.h>

#include <iostream>

#include "app/answer_here.h"
#include "app/asker.h"
#include "app/daemon.h"
#include "app/detach.h"
#include "app/streams.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "guard/guard.h"

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
  bool require_approval = false;
  bool dry_run = false;
  bool no_dry_run = false;
  bool no_prompt = false;
  bool detach = false;
  bool input = false;
  bool tty = false;
  bool violations = false;
};

constexpr Duration longest_wait = std::chrono::hours(24);

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

Result<Request> request_of(const GlobalOptions& global, const Options& options) {
  if (options.command.empty()) {
    return fail(Fault::invalid_input, "say which command, e.g.: sandbox-exec 'npm test'");
  }
  if (!options.backend.empty() && options.backend != "native" && options.backend != "auto") {
    return fail(Fault::unavailable, "the backend '{}' is not available; there is: native", options.backend);
  }
  RequestOptions given = options.request;
  given.text = command_text(options.command);
  Request request = TRY(request_from(global, given));
  request.require_approval = options.require_approval;
  request.input_given = options.input;
  request.tty = options.tty;
  request.report_violations = options.violations;
  request.detached = options.detach;
  if (!options.timeout.empty()) request.wall_ms = TRY(milliseconds_of(options.timeout, "--timeout"));
  if (!options.require.empty()) {
    request.require = level_named(options.require);
    if (!request.require)
      return fail(Fault::invalid_input, "--require '{}': the levels are L0 (full) to L4", options.require);
  }
  return request;
}

const char* would(const guard::Execution& execution) {
  if (!std::holds_alternative<Exited>(execution.report.outcome)) return "block";
  return execution.judgement.verdict.action == Action::ask ? "queue" : "execute";
}

/// What would happen; nothing does.
Result<int> rehearse(const GlobalOptions& global, guard::Guard& guard, const Request& request) {
  Json plan;
  guard::Execution execution = guard.rehearse(request, plan);
  const char* word = would(execution);
  const bool refused = std::string_view(word) == "block";
  if (global.json) {
    Json object = guard::to_json(execution, {});
    object["success"] = !refused;
    object["executed"] = false;
    object["exit_code"] = nullptr;
    object["isolation"] = nullptr;
    object["dry_run"] = true;
    object["would"] = word;
    object["plan"] = std::move(plan);
    std::cout << object.dump(2) << '\n';
  } else {
    std::cout << "would "
              << (refused                             ? "be refused"
                  : std::string_view(word) == "queue" ? "wait for approval"
                                                      : "run")
              << ": " << visible(request.text, Lines::keep) << '\n';
    std::cout << "  risk: " << name_of(execution.judgement.verdict.risk) << '\n';
    for (const std::string& reason : guard::reasons_of(execution.judgement)) {
      std::cout << "  - " << visible(reason, Lines::escape) << '\n';
    }
    for (const Effect& effect : execution.judgement.analysis.effects) {
      std::cout << "  " << name_of(effect.kind) << ' ' << visible(effect.target, Lines::escape) << '\n';
    }
    if (const std::string sentence = guard::sentence_of(execution); !sentence.empty())
      std::cout << "  " << sentence << '\n';
    std::cout << "nothing was run or changed\n";
  }
  return refused ? exit_code::refused : exit_code::done;
}

std::string text_of(const Json& json) {
  return json.is_string() ? visible(json.get<std::string>(), Lines::escape) : "";
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
  const bool cut_out = object["truncated"]["stdout"] == true;
  if ((cut_out || object["truncated"]["stderr"] == true) && !global.quiet) {
    std::cerr << "cordon: " << (cut_out ? "stdout" : "stderr") << " was cut at the output limit\n";
  }
}

int show(const GlobalOptions& global, const serve::socket::Answer& answer) {
  if (global.json) {
    std::cout << answer.object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    say(global, answer.object, answer.sentence);
  }
  return answer.exit;
}

serve::socket::Answer answer_of(const guard::Execution& execution, const guard::Output& output) {
  return {guard::to_json(execution, output), guard::exit_code_of(execution), guard::sentence_of(execution)};
}

Result<int> execute(const GlobalOptions& global, const Options& options, guard::Guard& guard, const Request& request) {
  const guard::Asking asking = TRY(asking_of(global, options, request));
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
    return show(global, answer_of(execution, {io.out, io.err}));
  }
  const bool progress = is_terminal(STDERR_FILENO) && !global.quiet && !options.tty;
  guard::Execution execution;
  {
    PassingIo io(progress ? PassingIo::Progress::on : PassingIo::Progress::off, options.input);
    execution = guard.execute(request, asking, io, stop.token());
  }
  return show(global, answer_of(execution, {}));
}

/// The same by a daemon. Nothing: it is to be done here.
Result<std::optional<int>> execute_by_daemon(const GlobalOptions& global, const Options& options,
                                             const Request& request) {
  if (options.dry_run) return std::optional<int>();
  const guard::Asking asking = TRY(asking_of(global, options, request));
  serve::socket::Question question{.verb = serve::socket::Verb::exec, .request = request, .approval = asking.approval};
  if (asking.wait) question.wait_ms = std::chrono::duration_cast<std::chrono::milliseconds>(*asking.wait).count();
  question.person_is_there = static_cast<bool>(asking.on_the_spot);
  question.dry_run_is_fine = options.no_dry_run;
  const StopOnSignal stop;
  const auto answer =
      TRY(ask_daemon(std::move(question), {global, options.request.presence, stop.token(), options.input}));
  if (!answer) return std::optional<int>();
  return std::optional(show(global, *answer));
}

Result<int> run(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  Request request = TRY(request_of(global, options));
  if (options.detach) return detach(global, request, options.request.presence, options.approval);
  if (const auto done = TRY(execute_by_daemon(global, options, request))) return *done;
  auto guard = TRY(guard_for(global, request, options.request.presence, clock));
  const bool dry_run = options.dry_run || (guard.settings().approval.dry_run.value && !options.no_dry_run);
  return dry_run ? rehearse(global, guard, request) : execute(global, options, guard, request);
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
  verb.add_flag("-n,--dry-run", options->dry_run, "Say what would happen; run and change nothing");
  verb.add_flag("--no-dry-run", options->no_dry_run, "Run it although the settings make --dry-run the default");
  verb.add_option("--timeout", options->timeout, "End it after this time, e.g. 30s, 5m or 1500 (ms)").type_name("TIME");
  verb.add_option("--cwd", options->request.cwd, "Run it in this directory of the workspace").type_name("DIR");
  verb.add_option("--env", options->request.environment,
                  "Give it this variable (NAME=value, or NAME for its value here)")
      .type_name("NAME=VALUE");
  verb.add_option("--backend", options->backend, "How it is isolated").type_name("NAME");
  verb.add_option("--require", options->require, "Refuse weaker isolation than this level, L0 (full) to L4")
      .type_name("LEVEL");
  const Option wait =
      verb.add_option("--wait", options->wait, "If it needs approval, wait for it (at most so long) and then run")
          .type_name("[TIME]")
          .expected(0, 1);
  verb.add_option("--approval", options->approval, "Run by this approval").type_name("ID");
  verb.add_flag("--no-prompt", options->no_prompt, "Never ask here; queue what needs approval");
  verb.add_flag("--detach", options->detach, "Start it, print its id and return (see: cordon ps, logs, stop)");
  verb.add_flag("-i,--stdin", options->input, "Give it this process's standard input");
  verb.add_flag("-t,--tty", options->tty, "Give it a terminal of its own");
  verb.add_flag("--violations", options->violations, "Report what it wanted and was refused inside the sandbox");
  add_presence_options(verb, options->request.presence);
  verb.example("sandbox-exec 'npm test'");
  verb.example("sandbox-exec --json --timeout 5m 'make -j4'");
  verb.example("sandbox-exec --detach 'npm run dev'");
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
