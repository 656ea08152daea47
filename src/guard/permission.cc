// A person's answer: asked for, waited for, spent.
#include <unistd.h>

#include <thread>

#include "guard/guard_state.h"
#include "sys/liveness.h"

namespace cordon::guard {

namespace {

approve::Asker asker_of(const Request& request) {
  const Principal& asker = request.asker;
  return {.working_dir = request.cwd,
          .user = asker.user,
          .agent = asker.agent,
          .session = asker.session,
          .surface = asker.surface,
          .is_agent = asker.is_agent};
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : "; ") + sentence;
  return text;
}

/// Whether the entry was made by this asker for this text in this directory.
bool is_about(const approve::Entry& entry, const Request& request) {
  const approve::Asker& asked = entry.request.asker;
  const approve::Asker asks = asker_of(request);
  return entry.request.command == request.text && asked.working_dir == asks.working_dir && asked.user == asks.user &&
         asked.agent == asks.agent && asked.session == asks.session && asked.is_agent == asks.is_agent;
}

std::string text_in(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

std::string committer_of(const approve::Entry& entry) { return text_in(entry.result, "committer"); }

/// Whether the entry was answered by applying its preview, however that ended.
bool is_commit(const approve::Entry& entry) {
  const bool over = entry.state == approve::State::executed || entry.state == approve::State::failed;
  return over && (approve::is_committing(entry) || !text_in(entry.result, "committed").empty());
}

/// Returns when the entry is no longer pending, when the time is over, or when the asker gives up.
Result<approve::Entry> wait_for_answer(approve::Queue& queue, std::string_view id, const Clock& clock,
                                       Duration patience, const std::stop_token& stop) {
  constexpr auto pause = std::chrono::milliseconds(100);
  const Time until = clock.now() + patience;
  for (;;) {
    approve::Entry entry = TRY(queue.find(id));
    // Who commits it died on the way, and says no more.
    const bool answered =
        approve::is_committing(entry) ? !sys::is_alive(committer_of(entry)) : entry.state != approve::State::pending;
    if (answered || clock.now() >= until || stop.stop_requested()) return entry;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

Result<plan::Plan> Guard::State::freeze_again(const Request& request, Execution& execution) {
  CHECK_OK(reload());
  execution.judgement = judge(request);
  if (const auto refused = refusal(request, execution.judgement)) return fail(Fault::denied, "{}", refused->reason);
  return freeze(request, execution.judgement, Entering::yes);
}

Result<bool> Guard::State::ask(const Request& request, plan::Plan& plan, const Asking& asking, Execution& execution,
                               std::stop_token stop) {
  approve::Queue& waiting_line = *TRY(queue());
  CHECK_OK(record_expired());
  std::optional<approve::Entry> entry;
  if (!asking.approval.empty()) {
    entry = TRY(waiting_line.find(asking.approval));
    // Not a drift: whoever names somebody else's approval must not be able to spoil it.
    if (!is_about(*entry, request)) {
      refuse(request, execution, {"approval.other", fmt::format("{} is for another request", entry->id)});
      return false;
    }
    execution.approval = entry->id;
    if (is_commit(*entry)) {
      tell_commit(*entry, execution);
      return false;
    }
    if (entry->state != approve::State::pending) return spend(request, plan, *entry, execution);
    execution.merged = true;
  } else if (const auto approved = TRY(waiting_line.approved_for(plan.digest(), asker_of(request)))) {
    return spend(request, plan, *approved, execution);
  } else {
    entry = TRY(submit(request, plan, execution));
    if (!entry) return false;
  }
  const bool declined = !TRY(answer(plan, *entry, asking, execution, stop));
  if (declined) return false;
  switch (entry->state) {
    case approve::State::pending:
      execution.report.outcome = Waiting{entry->id, entry->expires_at};
      return false;
    case approve::State::approved:
      return spend_frozen_again(request, plan, *entry, execution);
    default:
      CHECK_OK(record_expired());
      if (is_commit(*entry)) {
        tell_commit(*entry, execution);
        return false;
      }
      refuse(request, execution,
             {fmt::format("approval.{}", approve::name_of(entry->state)),
              entry->reason.empty() ? fmt::format("{} is {}", entry->id, approve::name_of(entry->state))
                                    : fmt::format("{}: {}", approve::name_of(entry->state), entry->reason)});
      return false;
  }
}

Result<std::optional<approve::Entry>> Guard::State::submit(const Request& request, const plan::Plan& plan,
                                                           Execution& execution) {
  approve::Queue& waiting_line = *TRY(queue());
  auto submitted = waiting_line.submit({.command = request.text,
                                        .risk = execution.judgement.verdict.risk,
                                        .reasons = reasons_of(execution.judgement),
                                        .asker = asker_of(request),
                                        .digest = plan.digest(),
                                        .plan = plan::to_json(plan)});
  if (!submitted && submitted.error().fault == Fault::conflict) {
    alarm(Alert::Kind::queue_full, request, submitted.error().sentence);
    refuse(request, execution, {"queue.full", submitted.error().sentence});
    return std::optional<approve::Entry>();
  }
  if (!submitted) return tl::make_unexpected(submitted.error());
  const approve::Entry& entry = submitted->entry;
  execution.approval = entry.id;
  execution.merged = submitted->merged;
  if (submitted->merged) return std::optional(std::move(submitted->entry));
  if (auto recorded = record_entry(RecordKind::approval_requested, entry, "queued", {}); !recorded) {
    static_cast<void>(waiting_line.reject(entry.id, "cordon", "the request could not be recorded"));
    return tl::make_unexpected(recorded.error());
  }
  suspect(request, execution);
  return std::optional(std::move(submitted->entry));
}

Result<bool> Guard::State::answer(const plan::Plan& plan, approve::Entry& entry, const Asking& asking,
                                  Execution& execution, const std::stop_token& stop) {
  const Request& request = plan.request;
  approve::Queue& waiting_line = *TRY(queue());
  if (asking.on_the_spot) {
    auto vote = asking.on_the_spot(entry);
    if (vote && !*vote) {
      const auto rejected = reject(entry.id, request.asker.user, "declined at the terminal");
      if (!rejected && rejected.error().fault != Fault::conflict) return tl::make_unexpected(rejected.error());
      refuse(request, execution, {"approval.rejected", "declined at the terminal"});
      return false;
    }
    const auto approved = vote ? approve(entry.id, **vote) : tl::make_unexpected(vote.error());
    if (!approved && approved.error().fault != Fault::denied && approved.error().fault != Fault::conflict) {
      return tl::make_unexpected(approved.error());
    }
    // No proof that a person said yes: it stays in the queue for one who can give it. Or another answer came first.
    if (!approved) execution.alerts.push_back("not approved here: " + approved.error().sentence);
    entry = TRY(waiting_line.find(entry.id));
    if (entry.state == approve::State::pending && !execution.merged) start_preview(plan, entry, asking);
    return true;
  }
  if (!execution.merged) {
    start_preview(plan, entry, asking);
    alarm(Alert::Kind::approval_wanted, request, joined(reasons_of(execution.judgement)), entry.id);
  }
  if (!asking.wait) return true;
  const std::string& mark = sys::own_liveness();
  CHECK_OK(waiting_line.set_waiter(entry.id, mark));
  if (asking.waiting) asking.waiting(entry);
  const auto seen = wait_for_answer(waiting_line, entry.id, *clock, *asking.wait, stop);
  CHECK_OK(waiting_line.clear_waiter(entry.id, mark));
  if (!seen) return tl::make_unexpected(seen.error());
  // Looked at once more after giving up the wait: an approver who still saw us waiting leaves the run to us.
  entry = TRY(waiting_line.find(entry.id));
  return true;
}

void Guard::State::tell_commit(const approve::Entry& entry, Execution& execution) {
  const Json& result = entry.result;
  if (approve::is_committing(entry)) {
    const std::string id = text_in(result, "committing");
    execution.report.outcome = Broken{
        {Fault::unavailable,
         sys::is_alive(committer_of(entry))
             ? fmt::format("{} is being committed by its approver", entry.id)
             : fmt::format("the commit of {} was cut off; go on with it: cordon preview commit {}", entry.id, id)}};
    return;
  }
  if (entry.state == approve::State::failed) {
    const std::string why = text_in(result, "error");
    execution.report.outcome =
        Refused{"approval.failed",
                fmt::format("its approver wanted to apply its preview, but {}", why.empty() ? "that failed" : why)};
    return;
  }
  const auto number = [&](const char* key) {
    return result.contains(key) && result[key].is_number_integer() ? result[key].get<std::int64_t>() : 0;
  };
  execution.report.outcome = Exited{static_cast<int>(number("exit_code"))};
  execution.committed = CommittedRun{.preview = text_in(result, "committed"),
                                     .applied = static_cast<std::size_t>(number("applied")),
                                     .output = {text_in(result, "stdout"), text_in(result, "stderr")}};
}

Result<bool> Guard::State::spend(const Request& request, plan::Plan& plan, const approve::Entry& entry,
                                 Execution& execution) {
  approve::Queue& waiting_line = *TRY(queue());
  execution.approval = entry.id;
  const Json now = plan::to_json(plan);
  const std::string difference = joined(plan::differences(entry.request.plan, now));
  const auto redeemed = waiting_line.redeem(entry.id, plan.digest(), asker_of(request), difference);
  if (redeemed) {
    CHECK_OK(record_entry(RecordKind::approval_consumed, *redeemed, "redeemed", {}));
    return true;
  }
  if (redeemed.error().fault == Fault::unavailable) return tl::make_unexpected(redeemed.error());
  const auto after = TRY(waiting_line.find(entry.id));
  if (after.state == approve::State::drifted && entry.state != approve::State::drifted) {
    previews().let_go(entry.id);
    CHECK_OK(
        record_entry(RecordKind::approval_drifted, after, "drifted", {{"difference", difference.substr(0, 4096)}}));
  }
  refuse(request, execution, {fmt::format("approval.{}", approve::name_of(after.state)), redeemed.error().sentence});
  return false;
}

Result<bool> Guard::State::spend_frozen_again(const Request& request, plan::Plan& plan, const approve::Entry& entry,
                                              Execution& execution) {
  execution.approval = entry.id;
  auto now = freeze_again(request, execution);
  if (now) {
    plan = *std::move(now);
    return spend(request, plan, entry, execution);
  }
  // What can no longer be frozen, or would be refused now, is not what was approved either: the approval ends here.
  approve::Queue& waiting_line = *TRY(queue());
  const std::string difference = now.error().sentence;
  const auto redeemed = waiting_line.redeem(entry.id, Digest(), asker_of(request), difference);
  const auto after = TRY(waiting_line.find(entry.id));
  if (!redeemed && after.state == approve::State::drifted && entry.state != approve::State::drifted) {
    previews().let_go(entry.id);
    CHECK_OK(
        record_entry(RecordKind::approval_drifted, after, "drifted", {{"difference", difference.substr(0, 4096)}}));
  }
  refuse(request, execution,
         {fmt::format("approval.{}", approve::name_of(after.state)),
          after.state == approve::State::drifted ? fmt::format("changed since it was approved: {}", difference)
                                                 : fmt::format("{} is {}", entry.id, approve::name_of(after.state))});
  return false;
}

Result<approve::Entry> Guard::State::approve(std::string_view id, const approve::Vote& vote) {
  approve::Queue& waiting_line = *TRY(queue());
  CHECK_OK(record_expired());
  const approve::Entry entry = TRY(waiting_line.find(id));
  if (entry.state != approve::State::pending) {
    return fail(Fault::conflict, "Command is already {}", approve::name_of(entry.state));
  }
  const Json& plan = entry.request.plan;
  if ((vote.uses > 1 || vote.lasts) && plan.contains("not_twice") && plan["not_twice"].is_string()) {
    return fail(Fault::denied, "{} can only be approved for one run: {}", id, plan["not_twice"].get<std::string>());
  }
  CHECK_OK(waiting_line.may_approve(entry, vote));
  CHECK_OK(waiting_line.may_last(vote));
  // Recorded first: an approval that is not in the log must not exist.
  Json detail = {{"by", vote.by},
                 {"presence", approve::name_of(vote.presence)},
                 {"notes", vote.notes.substr(0, 2048)},
                 {"uses", vote.uses}};
  if (!vote.commit.empty()) detail["commit"] = vote.commit;
  CHECK_OK(record_entry(RecordKind::approval_decided, entry, "approved", std::move(detail)));
  auto approved = waiting_line.approve(id, vote);
  if (!approved) {
    static_cast<void>(record_entry(RecordKind::approval_decided, entry, "superseded", {{"by", vote.by}}));
  }
  return approved;
}

Result<approve::Entry> Guard::State::reject(std::string_view id, std::string_view by, std::string_view reason) {
  approve::Queue& waiting_line = *TRY(queue());
  CHECK_OK(record_expired());
  approve::Entry rejected = TRY(waiting_line.reject(id, by, reason));
  previews().let_go(rejected.id);
  CHECK_OK(record_entry(RecordKind::approval_decided, rejected, "rejected",
                        {{"by", std::string(by)}, {"reason", std::string(reason.substr(0, 2048))}}));
  return rejected;
}

Result<approve::Entry> Guard::approve(std::string_view id, const approve::Vote& vote) {
  return state_->approve(id, vote);
}

Result<approve::Entry> Guard::reject(std::string_view id, std::string_view by, std::string_view reason) {
  return state_->reject(id, by, reason);
}

Json approved_json(const approve::Entry& entry, Redeemer redeemer) {
  Json answer = approve::to_json(entry);
  answer["success"] = true;
  answer["message"] = "Command approved";
  answer["redeemer"] = redeemer == Redeemer::asker_waits ? "asker_waits" : "asker_retries";
  return answer;
}

Json rejected_json(const approve::Entry& entry) {
  Json answer = approve::to_json(entry);
  answer["success"] = true;
  answer["message"] = "Command rejected";
  return answer;
}

Result<Execution> Guard::redeem(const approve::Entry& entry, sandbox::Io& io, std::stop_token stop) {
  const Request request = TRY(plan::request_of(entry.request.plan));
  if (request.asker.uid != ::geteuid()) return fail(Fault::denied, "{} was asked for by another user", entry.id);
  if (request.snippet) return fail(Fault::denied, "{} is for code, which whoever asked for it runs", entry.id);
  Execution execution;
  plan::Plan plan;
  if (!TRY(state_->spend_frozen_again(request, plan, entry, execution))) return execution;
  state_->run(plan, execution, State::plain_deed(io, std::move(stop)));
  return execution;
}

}  // namespace cordon::guard
