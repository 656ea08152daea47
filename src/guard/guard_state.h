// The inside of Guard, shared by the files that implement it.
#pragma once

#include <mutex>

#include "guard/backend.h"
#include "guard/contacts.h"
#include "guard/guard.h"
#include "sandbox/preview/store.h"

namespace cordon::guard {

/// Where something is to be done, and what was built of it while the record was written.
struct Place {
  sandbox::Sandbox& sandbox;
  std::unique_ptr<sandbox::Preparation> prepared;
};

/// What is done with a clearance, in the place where it is to be done. Whom it reaches for goes to `contacts`, `output`
/// into the record.
using Deed = std::function<RunReport(Place place, Clearance clearance, Contacts& contacts, std::string& output)>;

struct Guard::State {
  State(GuardOptions given, const Clock& time)
      : options(std::move(given)), clock(&time), contents(options.sources.state_dir, time) {}

  GuardOptions options;
  const Clock* clock;
  std::shared_ptr<const Rules> rules;
  plan::Contents contents;
  std::shared_ptr<audit::Log> log_;
  std::optional<approve::Queue> queue_;

  /// Reads settings and allowlist as they are now.
  Result<void> reload();
  Result<audit::Log*> log();
  Result<approve::Queue*> queue();
  /// What isolates this request, as the settings and the request say.
  Result<Isolator> isolator(const Request& request);
  Result<sandbox::Sandbox*> sandbox(Where where, const std::string& backend);

  Judgement judge(const Request& request) const;
  enum class Entering { yes, only_looking };
  /// Looking leaves nothing behind, not even the session's directory.
  Result<plan::Plan> freeze(const Request& request, const Judgement& judgement, Entering entering);
  /// Code is run by the runner.
  Result<void> add_runner(plan::Plan& plan);
  /// Why this is not even asked about.
  std::optional<Refused> refusal(const Request& request, const Judgement& judgement) const;

  /// Judges and freezes anew, with settings as they are now; a verdict that became a refusal is an error.
  Result<plan::Plan> freeze_again(const Request& request, Execution& execution);
  /// True: it may run, and `plan` is what runs. False: `execution` says why not (yet).
  Result<bool> ask(const Request& request, plan::Plan& plan, const Asking& asking, Execution& execution,
                   std::stop_token stop);
  /// A new entry or the one that waits already; nothing: refused, and `execution` says why.
  Result<std::optional<approve::Entry>> submit(const Request& request, const plan::Plan& plan, Execution& execution);
  /// Gets a person's answer if one can be had now; `entry` is then as it stands. False: declined on the spot.
  Result<bool> answer(const plan::Plan& plan, approve::Entry& entry, const Asking& asking, Execution& execution,
                      const std::stop_token& stop);
  /// What waits gets its preview, without anybody waiting for that.
  void start_preview(const plan::Plan& plan, const approve::Entry& entry, const Asking& asking) const;
  /// The entry's preview was, or is not going to be, applied in place of a run.
  static void tell_commit(const approve::Entry& entry, Execution& execution);
  Result<bool> spend(const Request& request, plan::Plan& plan, const approve::Entry& entry, Execution& execution);
  /// Judges and freezes once more, then spends; what cannot be frozen any more is drifted.
  Result<bool> spend_frozen_again(const Request& request, plan::Plan& plan, const approve::Entry& entry,
                                  Execution& execution);
  Result<approve::Entry> approve(std::string_view id, const approve::Vote& vote);
  Result<approve::Entry> reject(std::string_view id, std::string_view by, std::string_view reason);

  void refuse(const Request& request, Execution& execution, Refused refused);
  /// Judged already. True: it may run, and `plan` is what runs. False: `execution` says why not (yet).
  bool clear(const Request& request, const Asking& asking, plan::Plan& plan, Execution& execution,
             const std::stop_token& stop);
  void run(const plan::Plan& plan, Execution& execution, const Deed& deed);
  enum class RunKind { real, preview, preview_for_approver };
  void run_recorded(const plan::Plan& plan, Execution& execution, const Deed& deed, RunKind kind = RunKind::real);
  /// Runs a plan's program as it is.
  static Deed plain_deed(sandbox::Io& io, std::stop_token stop);
  Result<std::shared_ptr<const code::Runtime>> runtime();
  code::CodeResult run_snippet(const plan::Plan& plan, const code::CodeRequest& code, Clearance clearance,
                               code::RunContext context);
  code::CodeResult call_live_session(const plan::Plan& plan, const code::CodeRequest& code, Clearance clearance,
                                     const code::RunContext& context);
  /// The intent of something that changes the workspace without running anything.
  struct Change {
    AuditRecord line;
    Clearance clearance;
  };
  Result<Change> intend_change(const plan::Plan& plan, const Execution& execution, Json detail);

  /// Runs a plan as a preview and reads what it did; keeps it where that is asked for.
  void preview(const plan::Plan& plan, const PreviewOptions& wanted, Previewed& previewed, std::stop_token stop);
  /// The same for a queue entry, by whoever holds its `making`.
  void preview_for_queue(const plan::Plan& plan, const PreviewOptions& wanted, Previewed& previewed,
                         sandbox::preview::Making& making, std::stop_token stop);
  Result<void> commit(const plan::Plan& plan, const sandbox::preview::Preview& preview, Committed& committed);
  /// The entry says how its commit ended.
  void conclude_commit(const std::string& approval, const sandbox::preview::Preview& preview,
                       const Committed& committed, const Result<void>& done);
  /// A dry run may have asked before; now the request itself did.
  void note_earnest(const Execution& execution) const;
  sandbox::preview::Store previews() const { return {options.sources.state_dir, *clock}; }
  /// Tells when the command looks as if it carried secrets out.
  void suspect(const Request& request, const Execution& execution) const;
  void keep_house();

  void alarm(Alert::Kind kind, const Request& request, std::string sentence, std::string approval = {}) const;
  AuditRecord record(RecordKind kind, const Request& request, const Judgement& judgement) const;
  Result<void> record_entry(RecordKind kind, const approve::Entry& entry, std::string status, Json detail);
  /// Expiries that nobody has recorded yet.
  Result<void> record_expired();

 private:
  /// Opened when first needed, by name.
  std::map<std::string, std::shared_ptr<sandbox::Sandbox>, std::less<>> sandboxes_;
  std::shared_ptr<const code::Runtime> runtime_;
};

}  // namespace cordon::guard
