// The queue: what waits, and a person's answers.
#include "plan/plan.h"
#include "serve/tools/commands.h"
#include "serve/tools/progress.h"

namespace cordon::serve {

namespace {

/// An agent sees what it asked for itself, and nothing of anyone else.
bool may_see(const Caller& caller, const approve::Entry& entry) {
  if (caller.role != Role::agent) return true;
  const approve::Asker& asker = entry.request.asker;
  const Principal& me = caller.principal;
  return asker.user == me.user && asker.agent == me.agent && asker.session == me.session;
}

/// A name is what the call says; the token is what was shown.
std::string signed_by(const Caller& caller, std::string name) {
  return caller.token.empty() ? name : fmt::format("{} ({})", name, caller.token);
}

Result<approve::Queue> open_queue(const Premises& premises) {
  return approve::Queue::open(premises.sources().state_dir, premises.clock(), {});
}

Result<guard::Guard> guard_of(const Premises& premises, const approve::Entry& entry) {
  return premises.guard_for_stored(TRY(plan::request_of(entry.request.plan)));
}

}  // namespace

Result<Json> list_queue(const Premises& premises, const Call& call) {
  const std::string status = text_in(call.arguments, "status", "pending");
  approve::Queue queue = TRY(open_queue(premises));
  const auto state = status == "all" ? std::nullopt : approve::state_named(status);
  Json entries = Json::array();
  for (const approve::Entry& entry : TRY(queue.list(state))) {
    if (may_see(call.caller, entry)) entries.push_back(approve::to_json(entry));
  }
  const std::size_t count = entries.size();
  return Json{{"entries", std::move(entries)}, {"count", count}};
}

Result<Json> approve_entry(const Premises& premises, const Call& call) {
  approve::Queue queue = TRY(open_queue(premises));
  const approve::Entry entry = TRY(queue.find(text_in(call.arguments, "id")));
  if (entry.state != approve::State::pending) {
    return fail(Fault::conflict, "Command is already {}", approve::name_of(entry.state));
  }
  guard::Guard guard = TRY(guard_of(premises, entry));
  const approve::Vote vote{.by = signed_by(call.caller, text_in(call.arguments, "approved_by")),
                           .notes = text_in(call.arguments, "notes"),
                           .presence = call.caller.presence,
                           .inside_sandbox = call.caller.inside_sandbox,
                           .from_agent = call.caller.principal.is_agent};
  const approve::Entry approved = TRY(guard.approve(entry.id, vote));
  const guard::Redeemer redeemer = guard::redeemer_of(approved);
  if (redeemer != guard::Redeemer::this_process) return guard::approved_json(approved, redeemer);
  ReportingIo io(call);
  const guard::Execution execution = TRY(guard.redeem(approved, io, call.stop));
  return guard::to_json(execution, {io.out, io.err});
}

Result<Json> reject_entry(const Premises& premises, const Call& call) {
  approve::Queue queue = TRY(open_queue(premises));
  const approve::Entry entry = TRY(queue.find(text_in(call.arguments, "id")));
  guard::Guard guard = TRY(guard_of(premises, entry));
  return guard::rejected_json(TRY(guard.reject(entry.id, signed_by(call.caller, text_in(call.arguments, "rejected_by")),
                                               text_in(call.arguments, "reason"))));
}

}  // namespace cordon::serve
