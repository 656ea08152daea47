// The guard: nothing runs without a verdict, an approval where one is due, and a durable record. The only folder that
// knows the order of the steps.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "approve/queue.h"
#include "audit/log.h"
#include "base/clock.h"
#include "code/live_session.h"
#include "code/runtime.h"
#include "config/load.h"
#include "guard/execution.h"
#include "guard/preview.h"
#include "guard/rules.h"
#include "guard/session.h"
#include "model/request.h"
#include "plan/freeze.h"
#include "policy/allowlist.h"
#include "sandbox/sandbox.h"

namespace cordon::guard {

/// Something that a person may want to hear of at once. Telling never blocks and never fails a run.
struct Alert {
  enum class Kind { approval_wanted, blocked, disallowed, exfiltration_suspected, queue_full, audit_trouble };
  Kind kind;
  std::string command;
  std::string sentence;
  std::string approval;  // queue id, where there is one
};
const char* name_of(Alert::Kind kind);
using Alarm = std::function<void(const Alert&)>;

/// How an asker can be answered when the verdict is "ask".
struct Asking {
  std::string approval;          // an approval given earlier, by its id
  std::optional<Duration> wait;  // stay until a person has decided, at most so long
  /// A person who is there right now; nothing when they say no. Empty: nobody is there.
  std::function<Result<std::optional<approve::Vote>>(const approve::Entry&)> on_the_spot;
  /// Told once when a request starts to wait.
  std::function<void(const approve::Entry&)> waiting;
  /// A kept preview that is to be committed: the entry carries it, and no other is made.
  std::string preview;
};

/// Starts a process that makes the preview of a queue entry and outlives us, and hands it what it holds on to while it
/// does. Never blocks; an error is what the approver is told.
using PreviewMaker = std::function<Result<void>(const std::string& approval, const sandbox::preview::Making& making)>;

/// What a process that answers many requests keeps open between them.
struct Kept {
  std::shared_ptr<sandbox::Sandbox> native;
  std::shared_ptr<audit::Log> log;
  std::shared_ptr<const code::Runtime> runtime;
  std::shared_ptr<code::LiveSessions> live;  // without it, no interpreter outlives its call
  std::shared_ptr<std::mutex> starting;      // held while a live session is looked for and started
  std::shared_ptr<RuleBook> rules;
};

/// Where code reads and what it is told to whom.
struct CodeStreams {
  code::Sink* sink = nullptr;  // told of output as it comes
  std::string input;
  std::optional<int> input_descriptor;  // after it
};

struct GuardOptions {
  config::Sources sources;
  Alarm alarm;
  PreviewMaker make_preview;  // without it, what waits carries a preview only if somebody asks for one
  std::vector<audit::KnownSecret> secrets;
  /// For tests: another backend in place of the native one.
  std::shared_ptr<sandbox::Sandbox> sandbox;
  Kept kept;
  /// False: nothing of the workspace is given to what runs, so that it may be any directory.
  bool uses_workspace = true;
};

class Guard {
 public:
  /// Reads settings and allowlist. Log, queue and sandbox are opened when they are first needed.
  static Result<Guard> open(GuardOptions options, const Clock& clock);
  Guard(Guard&&) noexcept;
  Guard& operator=(Guard&&) noexcept;
  ~Guard();

  const Settings& settings() const;
  const policy::Allowlist& allowlist() const;
  const config::Sources& sources() const;

  Judgement judge(const Request& request) const;
  /// The whole way: judge, freeze, ask, record, run, record.
  Execution execute(const Request& request, const Asking& asking, sandbox::Io& io, std::stop_token stop);
  /// The same for code, which is the request's snippet; its text is set here.
  CodeExecution run_code(Request request, const Asking& asking, const CodeStreams& streams, std::stop_token stop);
  /// The same up to the record: what would happen, and nothing does.
  Execution rehearse(const Request& request, Json& plan);
  /// What would happen, tried out where nothing stays: a run of its own, with its own record.
  Previewed preview(const Request& request, const PreviewOptions& options, std::stop_token stop);
  /// The same for a request that waits, so that its approver sees the changes; kept with the entry.
  Result<Previewed> preview(const approve::Entry& entry, std::stop_token stop);
  /// The same, made because it waits and before anybody looked: with tight limits, nothing that only an approval opens,
  /// and no longer than it waits. What becomes of it is told by the store.
  void make_preview(const approve::Entry& entry, sandbox::preview::Making making);

  /// Does for real what a kept preview did, after the approval that the command itself would need. A commit that was
  /// cut off is gone on with.
  Result<Committed> commit(std::string_view id, const Asking& asking, std::stop_token stop);
  /// A person's answer that means: not a run, but exactly the changes of the preview that they looked at, which the
  /// vote names. Where they cannot be applied any more nothing is approved.
  Result<Committed> approve_and_commit(std::string_view id, const approve::Vote& vote);
  /// Drops a kept preview; a commit of it that was cut off is undone first.
  Result<Discarded> discard(std::string_view id);
  sandbox::preview::Store previews() const;

  /// A person's answers. Recorded.
  Result<approve::Entry> approve(std::string_view id, const approve::Vote& vote);
  Result<approve::Entry> reject(std::string_view id, std::string_view by, std::string_view reason);
  /// Runs what was approved, where the approving process is the one to do it (see `redeemer_of`).
  Result<Execution> redeem(const approve::Entry& entry, sandbox::Io& io, std::stop_token stop);

  Result<approve::Queue*> queue();
  Result<audit::Log*> log();

 private:
  struct State;
  explicit Guard(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Who runs an approved entry.
enum class Redeemer { asker_waits, this_process, asker_retries };
Redeemer redeemer_of(const approve::Entry& entry);

/// The entry with what a person's answer made of it, as every interface shows it.
Json approved_json(const approve::Entry& entry, Redeemer redeemer);
Json rejected_json(const approve::Entry& entry);

}  // namespace cordon::guard
