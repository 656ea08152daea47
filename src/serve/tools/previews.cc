// Previews that are kept: looked at, committed, dropped.
#include "plan/plan.h"
#include "sandbox/preview/describe.h"
#include "serve/tools/commands.h"

namespace cordon::serve {

namespace {

namespace preview = sandbox::preview;

preview::Store store_of(const Premises& premises) { return {premises.sources().state_dir, premises.clock()}; }

/// An agent sees what it had tried out itself, and nothing of anyone else.
bool is_own(const Caller& caller, const preview::Preview& kept) {
  const auto request = plan::request_of(kept.plan);
  const Principal& me = caller.principal;
  return request && request->asker.user == me.user && request->asker.agent == me.agent &&
         request->asker.session == me.session;
}

/// What a command that waits did is for its approver.
bool may_look(const Caller& caller, const preview::Store& store, const preview::Preview& kept) {
  if (caller.role != Role::agent) return true;
  return is_own(caller, kept) && store.approval_of(kept.id).empty();
}

Result<preview::Preview> find(const Premises& premises, const Call& call) {
  preview::Preview kept = TRY(store_of(premises).find(text_in(call.arguments, "id")));
  if (call.caller.role != Role::agent || is_own(call.caller, kept)) return kept;
  return fail(Fault::invalid_input, "there is no preview '{}'", kept.id);
}

Result<preview::Preview> find_to_look_at(const Premises& premises, const Call& call) {
  preview::Preview kept = TRY(find(premises, call));
  if (may_look(call.caller, store_of(premises), kept)) return kept;
  return fail(Fault::denied, "{} is for the approver of the command, who sees it in the queue", kept.id);
}

}  // namespace

Result<Json> list_previews(const Premises& premises, const Call& call) {
  Json entries = Json::array();
  for (const preview::Preview& kept : TRY(store_of(premises).list())) {
    const bool seen = call.caller.role != Role::agent || is_own(call.caller, kept);
    if (seen) entries.push_back(preview::summary_json(kept, preview::Detail::names));
  }
  const std::size_t count = entries.size();
  return Json{{"entries", std::move(entries)}, {"count", count}};
}

Result<Json> show_preview(const Premises& premises, const Call& call) {
  const preview::Preview kept = TRY(find_to_look_at(premises, call));
  Json object = preview::summary_json(kept, preview::Detail::diffs);
  object["conflicts"] = TRY(preview::conflicts_of(kept));
  return object;
}

Result<Json> commit_preview(const Premises& premises, const Call& call) {
  const preview::Preview kept = TRY(find(premises, call));
  guard::Guard guard = TRY(premises.guard_for_stored(TRY(plan::request_of(kept.plan))));
  guard::Asking asking;
  asking.approval = text_in(call.arguments, "approval");
  return guard::to_json(TRY(guard.commit(kept.id, asking, call.stop)));
}

Result<Json> discard_preview(const Premises& premises, const Call& call) {
  const preview::Preview kept = TRY(find_to_look_at(premises, call));
  guard::Guard guard = TRY(premises.guard_for_stored(TRY(plan::request_of(kept.plan))));
  const guard::Discarded discarded = TRY(guard.discard(kept.id));
  return Json{{"success", true}, {"preview", discarded.id}, {"rolled_back", discarded.rolled_back}};
}

}  // namespace cordon::serve
