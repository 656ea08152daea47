// cordon exec: the whole way of one command.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "app/answer_here.h"
#include "app/detach.h"
#include "app/exec_answer.h"
#include "app/exec_daemon.h"
#include "app/exec_options.h"
#include "app/guard_for.h"
#include "app/streams.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "approve/ticket.h"
#include "base/text.h"
#include "guard/guard.h"
#include "sandbox/preview/describe.h"

namespace cordon::app {

namespace {

/// A person has said yes in the agent's client, which the settings name as a place for that; the ticket is the proof.
Result<std::optional<approve::Vote>> take_ticket(const ExecOptions& options, const guard::Guard& guard,
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

Result<guard::Asking> asking_of(const GlobalOptions& global, const ExecOptions& options, const Request& request) {
  guard::Asking asking;
  asking.approval = options.approval;
  asking.wait = TRY(options.longest_wait());
  if (asking.wait) {
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

/// A person may see what a command would do before they decide; whoever cannot prove to be one may not.
bool shows_presence(const GlobalOptions& global, const ExecOptions& options, const guard::Guard& guard,
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
Result<int> preview(const GlobalOptions& global, const ExecOptions& options, guard::Guard& guard,
                    const Request& request) {
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

serve::socket::Answer answer_of(const guard::Execution& execution, const guard::Output& output) {
  return {guard::to_json(execution, output), guard::exit_code_of(execution), guard::sentence_of(execution)};
}

Result<int> execute(const GlobalOptions& global, const ExecOptions& options, guard::Guard& guard,
                    const Request& request) {
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
    return show_answer(global, options, answer_of(execution, {io.out, io.err}));
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
  const int code = show_answer(global, options, answer_of(execution, {}));
  if (!learned.empty()) {
    std::cerr
        << "cordon: allowed for this run only; to keep it, add under Network in SANDBOX.md and run: cordon trust\n";
    for (const std::string& rule : learned) std::cerr << "- " << rule << '\n';
  }
  return code;
}

Result<int> run(const GlobalOptions& global, const ExecOptions& options) {
  const SystemClock clock;
  Request request = TRY(exec_request(global, options));
  request.asker.user = TRY(user_name());
  if (options.detach) return detach(global, request, options.request.presence, options.approval);
  if (const auto done = TRY(execute_by_daemon(global, options, request))) return *done;
  auto guard = TRY(guard_for(global, request, options.request.presence, clock));
  const bool dry_run = options.dry_run || (guard.settings().approval.dry_run.value && !options.no_dry_run);
  if (options.keep && !dry_run) return fail(Fault::invalid_input, "--keep keeps a preview: give --dry-run too");
  return dry_run ? preview(global, options, guard, request) : execute(global, options, guard, request);
}

}  // namespace

void define_exec(CommandLine& line) {
  const auto options = std::make_shared<ExecOptions>();
  define_exec(line, *options, [&line, options] { return finish_exec(line.global(), run(line.global(), *options)); });
}

}  // namespace cordon::app
