#include "app/decision.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "app/entry_text.h"
#include "app/guard_for.h"
#include "app/streams.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "base/text.h"
#include "plan/plan.h"
#include "sandbox/preview/commit.h"
#include "sandbox/preview/describe.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

Result<std::optional<Duration>> duration_of(const ApproveOptions& options, Time now) {
  if (!options.lasts.empty() && !options.until.empty()) {
    return fail(Fault::invalid_input, "give --for or --until, not both");
  }
  if (!options.lasts.empty()) {
    const auto lasts = parse_duration(options.lasts);
    if (!lasts) return fail(Fault::invalid_input, "--for '{}': write a duration like 30m, 8h or 7d", options.lasts);
    return std::optional<Duration>(*lasts);
  }
  if (options.until.empty()) return std::optional<Duration>();
  const auto until = from_rfc3339(options.until);
  if (!until) {
    return fail(Fault::invalid_input, "--until '{}': write a time like 2026-12-31 or 2026-12-31T18:00:00Z",
                options.until);
  }
  if (*until <= now) return fail(Fault::invalid_input, "--until {} is in the past", options.until);
  return std::optional<Duration>(*until - now);
}

std::string question_for(const approve::Entry& entry, const approve::Vote& vote, bool commit) {
  if (commit) return fmt::format("Apply the preview of {}, exactly as shown, in place of running it?", entry.id);
  const std::string times = vote.uses == 1 ? "once" : fmt::format("{} times", vote.uses);
  const std::string until = vote.lasts ? " within " + to_text(*vote.lasts) : "";
  return fmt::format("Approve {} to run {}{}?", entry.id, times, until);
}

Result<approve::Vote> vote_on(const GlobalOptions& global, const ApproveOptions& options, const approve::Entry& entry,
                              Time now) {
  approve::Vote vote{.by = options.by.empty() ? TRY(user_name()) : options.by,
                     .notes = options.notes,
                     .inside_sandbox = inside_sandbox(),
                     .from_agent = !global.agent.empty(),
                     .uses = options.uses};
  vote.lasts = TRY(duration_of(options, now));
  // Asked before the secret is: nobody types it for nothing, least of all where an agent could read it.
  vote.presence = approve::Presence::token;
  CHECK_OK(approve::Queue::may_approve(entry, vote));
  vote.presence = approve::Presence::none;
  if (entry.request.asker.is_agent && !TRY(approve::ApproverStore(TRY(state_directory(global))).read())) {
    vote.presence = approve::Presence::confirmed;
    CHECK_OK(approve::Queue::may_approve(entry, vote));
  }
  vote.presence = TRY(prove_presence(global, options.presence, question_for(entry, vote, options.commit)));
  return vote;
}

int say_approved(const GlobalOptions& global, const approve::Entry& entry, guard::Redeemer redeemer,
                 const std::string& sentence) {
  if (global.json) {
    std::cout << to_json_text(guard::approved_json(entry, redeemer)) << '\n';
  } else if (!global.quiet) {
    std::cout << "Approved " << entry.id << ". " << sentence << '\n';
  }
  return exit_code::done;
}

/// Looked at before the vote: nobody approves for nothing.
Result<void> may_commit(const approve::Entry& entry, const ApproveOptions& options,
                        const std::optional<sandbox::preview::Preview>& preview) {
  if (options.uses != 1 || !options.until.empty() || !options.lasts.empty()) {
    return fail(Fault::invalid_input, "--commit is once and now: it goes without --uses, --until and --for");
  }
  if (!preview) {
    return fail(Fault::invalid_input, "{} carries no preview to commit; approve it without --commit to run it",
                entry.id);
  }
  const auto conflicts = TRY(sandbox::preview::conflicts_of(*preview));
  if (conflicts.empty()) return {};
  return fail(Fault::conflict, "the workspace changed since the preview: {}{}; discard it: cordon preview discard {}",
              conflicts.front(), conflicts.size() > 1 ? fmt::format(" (and {} more)", conflicts.size() - 1) : "",
              preview->id);
}

Result<int> run_here(const GlobalOptions& global, guard::Guard& guard, const approve::Entry& entry) {
  sandbox::CapturedIo captured;
  PassingIo passing(global.quiet ? PassingIo::Progress::off : PassingIo::Progress::on, false);
  const StopOnSignal stop;
  if (!global.json && !global.quiet) std::cerr << "Approved " << entry.id << ". Running it:\n";
  sandbox::Io& io = global.json ? static_cast<sandbox::Io&>(captured) : passing;
  const guard::Execution execution = TRY(guard.redeem(entry, io, stop.token()));
  for (const std::string& alert : execution.alerts) std::cerr << "cordon: " << visible(alert, Lines::escape) << '\n';
  if (global.json) {
    std::cout << to_json_text(guard::to_json(execution, {captured.out, captured.err})) << '\n';
  } else if (const std::string sentence = guard::sentence_of(execution); !sentence.empty()) {
    std::cerr << "cordon: " << sentence << '\n';
  }
  return guard::exit_code_of(execution);
}

Result<int> redeem(const GlobalOptions& global, const ApproveOptions& options, guard::Guard& guard,
                   const approve::Entry& entry) {
  const auto preview = guard.previews().find_for_approval(entry.id);
  const bool has_preview = preview && *preview;
  const guard::Redeemer redeemer = guard::redeemer_of(entry);
  if (redeemer == guard::Redeemer::asker_waits) {
    return say_approved(global, entry, guard::Redeemer::asker_waits, "The asker is waiting for it and runs it now.");
  }
  // Nobody asked for more than a dry run yet.
  const bool only_dry = has_preview && guard.previews().is_only_dry((*preview)->id);
  if (redeemer == guard::Redeemer::asker_retries || options.no_run || only_dry) {
    return say_approved(global, entry, guard::Redeemer::asker_retries,
                        fmt::format("The asker must ask again (or give --approval {}) before {}.", entry.id,
                                    to_rfc3339(entry.expires_at)));
  }
  return run_here(global, guard, entry);
}

}  // namespace

EntryPreview preview_for(const GlobalOptions& global, const approve::Entry& entry, const Clock& clock) {
  using State = sandbox::preview::Progress::State;
  const auto directory = state_directory(global);
  if (!directory) return {};
  const sandbox::preview::Store store(*directory, clock);
  // In this order: one that is finished meanwhile is found.
  const auto progress = store.progress(entry.id);
  auto preview = store.find_for_approval(entry.id);
  if (!preview) return {std::nullopt, preview.error().sentence};
  if (*preview || entry.state != approve::State::pending) return {*std::move(preview), ""};
  switch (progress.state) {
    case State::being_made:
      return {std::nullopt, "being made"};
    case State::cut_off:
      return {std::nullopt, "the preview was not finished; make one: sandbox-queue preview " + entry.id};
    case State::impossible:
      return {std::nullopt, "cannot preview: " + progress.why};
    case State::none:
      return {};
  }
  return {};
}

Result<int> make_preview(const GlobalOptions& global, const approve::Entry& entry, const Clock& clock) {
  // What we were handed must not be handed on to what is tried out.
  sys::Fd handed(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const sys::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (handed.get() < 0 || nothing.get() < 0 || ::dup2(nothing.get(), STDIN_FILENO) < 0) {
    return fail(Fault::unavailable, "cannot take over the preview: {}", sys::errno_text(errno));
  }
  const sandbox::preview::Store store(TRY(state_directory(global)), clock);
  sandbox::preview::Making making = TRY(store.adopt_making(entry.id, std::move(handed)));
  auto guard = guard_of(global, entry, clock);
  if (!guard) {
    making.failed(guard.error().sentence);
    return tl::make_unexpected(guard.error());
  }
  guard->make_preview(entry, std::move(making));
  return exit_code::done;
}

bool may_look(const GlobalOptions& global, const PresenceOptions& presence) {
  if (!global.agent.empty() || inside_sandbox()) return false;
  if (is_terminal(STDIN_FILENO)) return true;
  const bool has_token = !presence.token_file.empty() || std::getenv("CORDON_APPROVER_TOKEN") != nullptr;
  return has_token && prove_presence(global, presence, "").has_value();
}

int say_committed(const GlobalOptions& global, const guard::Committed& committed) {
  if (global.json) {
    std::cout << to_json_text(guard::to_json(committed)) << '\n';
    return guard::exit_code_of(committed);
  }
  for (const std::string& alert : committed.execution.alerts) {
    std::cerr << "cordon: " << visible(alert, Lines::escape) << '\n';
  }
  if (const std::string sentence = guard::sentence_of(committed); !sentence.empty()) {
    std::cerr << "cordon: " << sentence << '\n';
  }
  if (!committed.report) return guard::exit_code_of(committed);
  for (const std::string& conflict : committed.report->conflicts) std::cerr << "  " << conflict << '\n';
  for (const std::string& path : committed.report->left_out) std::cerr << "  not committed: " << path << '\n';
  if (committed.done() && !global.quiet) {
    std::cout << "Committed " << committed.id << (committed.report->resumed ? " (went on where it was cut off)" : "")
              << ": " << committed.report->applied << " changes applied.\n";
  }
  return guard::exit_code_of(committed);
}

std::string to_json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

Result<approve::Queue> open_queue(const GlobalOptions& global, const Clock& clock) {
  return approve::Queue::open(TRY(state_directory(global)), clock, {});
}

Result<guard::Guard> guard_of(const GlobalOptions& global, const approve::Entry& entry, const Clock& clock) {
  const Request request = TRY(plan::request_of(entry.request.plan));
  return guard_for_stored(global, request, clock);
}

std::vector<std::string> drift_of(guard::Guard& guard, const approve::Entry& entry) {
  const auto request = plan::request_of(entry.request.plan);
  if (!request) return {request.error().sentence};
  if (request->snippet) return {};  // only its asker can freeze it again
  Json now;
  const guard::Execution rehearsed = guard.rehearse(*request, now);
  if (now.is_null()) return {"it would not run now: " + guard::sentence_of(rehearsed)};
  return plan::differences(entry.request.plan, now);
}

Result<int> approve_entry(const GlobalOptions& global, const ApproveOptions& options, const approve::Entry& entry,
                          const Clock& clock) {
  if (entry.state != approve::State::pending) {
    return fail(Fault::conflict, "Command is already {}", approve::name_of(entry.state));
  }
  guard::Guard guard = TRY(guard_of(global, entry, clock));
  const auto preview = preview_for(global, entry, clock);
  if (is_terminal(STDIN_FILENO) && !global.quiet) {
    std::cerr << describe(entry, drift_of(guard, entry), clock.now(), preview, Length::question) << '\n';
  }
  if (options.commit) CHECK_OK(may_commit(entry, options, preview.made));
  approve::Vote vote = TRY(vote_on(global, options, entry, clock.now()));
  if (options.commit) {
    vote.commit = preview.made->id;
    return say_committed(global, TRY(guard.approve_and_commit(entry.id, vote)));
  }
  const approve::Entry approved = TRY(guard.approve(entry.id, vote));
  return redeem(global, options, guard, approved);
}

namespace {

/// One that is being made is waited for.
std::optional<sandbox::preview::Preview> made_for(const GlobalOptions& global, const approve::Entry& entry,
                                                  const Clock& clock) {
  constexpr auto pause = std::chrono::milliseconds(50);
  const auto directory = state_directory(global);
  if (!directory) return std::nullopt;
  const sandbox::preview::Store store(*directory, clock);
  while (store.progress(entry.id).state == sandbox::preview::Progress::State::being_made) {
    std::this_thread::sleep_for(pause);
  }
  return preview_for(global, entry, clock).made;
}

}  // namespace

Result<int> preview_entry(const GlobalOptions& global, const approve::Entry& entry, const Clock& clock) {
  if (entry.state != approve::State::pending) {
    return fail(Fault::conflict, "Command is already {}", approve::name_of(entry.state));
  }
  auto preview = made_for(global, entry, clock);
  if (!preview) {
    guard::Guard guard = TRY(guard_of(global, entry, clock));
    const StopOnSignal stop;
    guard::Previewed previewed = TRY(guard.preview(entry, stop.token()));
    if (!previewed.cannot.empty()) {
      return fail(Fault::unavailable, "cannot preview: {}", visible(previewed.cannot, Lines::escape));
    }
    preview = std::move(previewed.preview);
  }
  if (global.json) {
    std::cout << to_json_text(sandbox::preview::summary_json(*preview, sandbox::preview::Detail::diffs)) << '\n';
  } else {
    std::cout << sandbox::preview::text_of(*preview, sandbox::preview::Detail::diffs);
    std::cout << "To apply exactly this: sandbox-queue approve " << entry.id << " --commit\n";
  }
  return exit_code::done;
}

Result<int> reject_entry(const GlobalOptions& global, const approve::Entry& entry, const std::string& by,
                         const std::string& reason, const Clock& clock) {
  guard::Guard guard = TRY(guard_of(global, entry, clock));
  const approve::Entry rejected = TRY(guard.reject(entry.id, by.empty() ? TRY(user_name()) : by, reason));
  if (global.json) {
    std::cout << to_json_text(guard::rejected_json(rejected)) << '\n';
  } else if (!global.quiet) {
    std::cout << "Rejected " << entry.id << ".\n";
  }
  return exit_code::done;
}

}  // namespace cordon::app
