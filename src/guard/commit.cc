// Doing for real what a preview did.
#include "sandbox/preview/commit.h"

#include <unistd.h>

#include "base/text.h"
#include "guard/guard_state.h"
#include "sandbox/preview/describe.h"

namespace cordon::guard {

namespace preview = sandbox::preview;

namespace {

Json commit_detail(const preview::Preview& kept, const char* what) {
  const preview::Counts counts = preview::count(kept.list);
  return {{what, kept.id},
          {"changes", kept.list.digest().hex()},
          {"deleted", counts.deleted},
          {"modified", counts.modified},
          {"added", counts.added},
          {"workspace", kept.workspace}};
}

const char* status_of(preview::CommitReport::End end) {
  switch (end) {
    case preview::CommitReport::End::applied:
      return "committed";
    case preview::CommitReport::End::conflicts:
      return "conflict";
    case preview::CommitReport::End::rolled_back:
      return "rolled back";
  }
  return "conflict";
}

Json sentences(const std::vector<std::string>& list) {
  constexpr std::size_t most_recorded = 20;
  Json json = Json::array();
  for (const std::string& sentence : list) {
    if (json.size() < most_recorded) json.push_back(sentence.substr(0, 300));
  }
  return json;
}

/// As text, and no more of it than a queue should hold.
std::string shown_start(const std::string& output) {
  constexpr std::size_t most = 16UL * 1024;
  std::string text = output.substr(0, most);
  // Not in the middle of a letter.
  while (output.size() > most && !text.empty() && (static_cast<unsigned char>(output[text.size()]) & 0xc0U) == 0x80U) {
    text.pop_back();
  }
  if (!is_utf8(text)) text = visible(text, Lines::keep);
  if (output.size() > most) text += fmt::format("\n… ({} bytes in all)\n", output.size());
  return text;
}

Result<plan::Plan> plan_of(const preview::Preview& kept, const Request& request) {
  plan::Plan plan;
  plan.request = request;
  plan.profile.workspace.path = kept.workspace;
  return plan;
}

}  // namespace

Result<void> Guard::State::commit(const plan::Plan& plan, const preview::Preview& kept, Committed& committed) {
  Execution& execution = committed.execution;
  Change change = TRY(intend_change(plan, execution, commit_detail(kept, "commit")));
  auto report = preview::commit(std::move(change.clearance), previews(), kept, plan.profile.workspace.protected_paths);
  AuditRecord line = std::move(change.line);
  line.status = report ? status_of(report->end) : "broken";
  if (report && !report->conflicts.empty()) line.detail["conflicts"] = sentences(report->conflicts);
  if (report) line.detail["left_out"] = report->left_out.size();
  if (!report) line.detail["error"] = report.error().sentence.substr(0, 1000);
  const auto written = (*log())->conclude(std::move(line));
  if (!written) execution.alerts.push_back("the outcome could not be recorded: " + written.error().sentence);
  if (!report) return tl::make_unexpected(report.error());
  committed.report = *std::move(report);
  return {};
}

Result<Committed> Guard::commit(std::string_view id, const Asking& asking, std::stop_token stop) {
  const preview::Store store = previews();
  const preview::Preview kept = TRY(store.find(id));
  const Request request = TRY(plan::request_of(kept.plan));
  if (request.asker.uid != ::geteuid()) return fail(Fault::denied, "{} was made by another user", id);
  Committed committed{.id = kept.id};
  Execution& execution = committed.execution;
  execution.judgement = state_->judge(request);
  // What was begun was approved and recorded; only the end of it is missing.
  const bool half_done = preview::is_half_committed(store, kept);
  if (!half_done && kept.expires <= state_->clock->now()) return fail(Fault::expired, "{} has expired", id);
  if (auto refused = state_->refusal(request, execution.judgement); refused && !half_done) {
    state_->refuse(request, execution, *std::move(refused));
    return committed;
  }
  auto plan = state_->freeze(request, execution.judgement, State::Entering::only_looking);
  if (!plan && half_done) plan = plan_of(kept, request);
  if (!plan) return tl::make_unexpected(plan.error());
  if (!half_done) {
    // Before anybody is asked: a person is not to approve what cannot be done.
    auto conflicts = TRY(preview::conflicts_of(kept));
    if (!conflicts.empty()) {
      committed.report = preview::CommitReport{.conflicts = std::move(conflicts)};
      return committed;
    }
    Asking with_preview = asking;
    with_preview.preview = kept.id;
    if (execution.judgement.verdict.action == Action::ask &&
        !TRY(state_->ask(request, *plan, with_preview, execution, std::move(stop)))) {
      // The same request waited already; if it has no preview, this is it.
      const bool without = execution.merged &&
                           store.progress(execution.approval).state != preview::Progress::State::being_made &&
                           !TRY(store.find_for_approval(execution.approval));
      if (without) CHECK_OK(store.attach(id, execution.approval));
      return committed;
    }
  }
  if (half_done) execution.approval = store.approval_of(kept.id);
  const auto done = state_->commit(*plan, kept, committed);
  state_->conclude_commit(execution.approval, kept, committed, done);
  if (!done) return tl::make_unexpected(done.error());
  return committed;
}

Result<Committed> Guard::approve_and_commit(std::string_view id, const approve::Vote& vote) {
  const approve::Entry entry = TRY((*TRY(queue())).find(id));
  const preview::Store store = previews();
  auto found = TRY(store.find_for_approval(entry.id));
  if (!found || found->id != vote.commit) {
    return fail(Fault::conflict, "{} does not carry the preview {} (any more)", entry.id, vote.commit);
  }
  const preview::Preview kept = *std::move(found);
  const Request request = TRY(plan::request_of(entry.request.plan));
  if (request.asker.uid != ::geteuid()) return fail(Fault::denied, "{} was asked for by another user", entry.id);
  Committed committed{.id = kept.id};
  Execution& execution = committed.execution;
  execution.judgement = state_->judge(request);
  execution.approval = entry.id;
  if (const auto refused = state_->refusal(request, execution.judgement)) {
    return fail(Fault::denied, "{} would be refused now: {}", entry.id, refused->reason);
  }
  const plan::Plan plan = TRY(state_->freeze(request, execution.judgement, State::Entering::only_looking));
  if (plan.digest() != entry.request.digest) {
    return fail(Fault::conflict, "{} would not run as it was asked: something changed since; see: sandbox-queue show",
                entry.id);
  }
  auto conflicts = TRY(preview::conflicts_of(kept));
  if (!conflicts.empty()) {
    committed.report = preview::CommitReport{.conflicts = std::move(conflicts)};
    return committed;
  }
  const approve::Entry approved = TRY(state_->approve(entry.id, vote));
  Result<void> done = state_->record_entry(RecordKind::approval_consumed, approved, "redeemed", {{"commit", kept.id}});
  if (done) done = state_->commit(plan, kept, committed);
  state_->conclude_commit(entry.id, kept, committed, done);
  if (!done) return tl::make_unexpected(done.error());
  return committed;
}

void Guard::State::conclude_commit(const std::string& approval, const preview::Preview& kept,
                                   const Committed& committed, const Result<void>& done) {
  if (approval.empty()) return;
  Json result = {{"committed", kept.id}, {"status", committed.done() ? "committed" : "failed"}};
  if (!done) result["error"] = done.error().sentence.substr(0, 1000);
  if (done && !committed.done()) result["error"] = sentence_of(committed);
  if (committed.done()) {
    // For who asked: by approving, what it wrote is theirs.
    result["applied"] = committed.report->applied;
    result["exit_code"] = kept.result.contains("exit_code") ? kept.result["exit_code"] : Json(0);
    result["stdout"] = shown_start(kept.out);
    result["stderr"] = shown_start(kept.err);
  }
  if (const auto waiting_line = queue()) {
    static_cast<void>((*waiting_line)->conclude(approval, result, committed.done()));
  }
  if (!committed.done()) previews().let_go(approval);
}

Result<Discarded> Guard::discard(std::string_view id) {
  const preview::Store store = previews();
  const preview::Preview kept = TRY(store.find(id));
  Discarded discarded{.id = kept.id};
  if (preview::is_half_committed(store, kept)) {
    const Request request = TRY(plan::request_of(kept.plan));
    Execution execution{.judgement = state_->judge(request)};
    const plan::Plan plan = TRY(plan_of(kept, request));
    State::Change change = TRY(state_->intend_change(plan, execution, commit_detail(kept, "roll_back")));
    const auto undone = preview::roll_back(std::move(change.clearance), store, kept);
    change.line.status = undone ? "rolled back" : "broken";
    state_->conclude_commit(store.approval_of(kept.id), kept, {},
                            fail(Fault::conflict, "its commit was cut off and then undone"));
    static_cast<void>((*state_->log())->conclude(std::move(change.line)));
    discarded.rolled_back = TRY(undone);
  }
  CHECK_OK(store.remove(id));
  return discarded;
}

Json to_json(const Committed& committed) {
  Json object = {{"success", committed.done()}, {"preview", committed.id}, {"committed", committed.done()}};
  const auto& report = committed.report;
  object["applied"] = report ? report->applied : 0;
  object["conflicts"] = report ? Json(report->conflicts) : Json::array();
  object["left_out"] = report ? Json(report->left_out) : Json::array();
  object["resumed"] = report && report->resumed;
  object["rolled_back"] = report && report->end == preview::CommitReport::End::rolled_back;
  const Execution& execution = committed.execution;
  object["queued"] = std::holds_alternative<Waiting>(execution.report.outcome);
  object["queue_id"] = execution.approval.empty() ? Json() : Json(execution.approval);
  const std::string sentence = sentence_of(committed);
  object["error"] = committed.done() || sentence.empty() ? Json() : Json(sentence);
  return object;
}

int exit_code_of(const Committed& committed) {
  if (committed.report) return committed.done() ? 0 : 1;
  return exit_code_of(committed.execution);
}

std::string sentence_of(const Committed& committed) {
  if (const auto* waiting = std::get_if<Waiting>(&committed.execution.report.outcome)) {
    return fmt::format("not committed: waits for approval as {}. Run: sandbox-queue approve {} --commit", waiting->id,
                       waiting->id);
  }
  if (!committed.report) return sentence_of(committed.execution);
  switch (committed.report->end) {
    case preview::CommitReport::End::applied:
      return "";
    case preview::CommitReport::End::conflicts:
      return "not committed: the workspace changed since the preview";
    case preview::CommitReport::End::rolled_back:
      return "not committed: something changed while it was being applied, and all was undone";
  }
  return "";
}

}  // namespace cordon::guard
