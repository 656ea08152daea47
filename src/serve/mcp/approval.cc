#include "serve/mcp/approval.h"

#include "base/text.h"
#include "plan/plan.h"

namespace cordon::serve::mcp {

namespace {

std::string message_for(const Json& answer) {
  std::string text = "An agent wants to run: " + visible(answer.value("command", std::string()), Lines::keep);
  for (const Json& reason : answer["safety"].value("risk_reasons", Json::array())) {
    text += "\n- " + visible(reason.get<std::string>(), Lines::escape);
  }
  return text;
}

}  // namespace

const char* name_of(Way way) {
  switch (way) {
    case Way::none:
      return "none";
    case Way::page:
      return "page";
    case Way::form:
      return "form";
  }
  return "none";
}

Way way_for(const Json& client_capabilities, const Settings& settings, const Caller& caller) {
  if (!client_capabilities.is_object()) return Way::none;
  const auto elicitation = client_capabilities.find("elicitation");
  if (elicitation == client_capabilities.end() || !elicitation->is_object()) return Way::none;
  if (elicitation->contains("url") && !settings.approval.page.value.empty()) return Way::page;
  // Without a mode it is the form that every client that can ask has.
  const bool has_form = elicitation->contains("form") || !elicitation->contains("url");
  return has_form && is_surface(settings, caller) ? Way::form : Way::none;
}

Json elicitation_for(Way way, const Json& answer, const Settings& settings) {
  const std::string id = answer["queue_id"].get<std::string>();
  if (way == Way::page) {
    std::string page = settings.approval.page.value;
    if (!page.ends_with('/')) page += '/';
    return {{"mode", "url"}, {"message", message_for(answer)}, {"url", page + id}};
  }
  return {
      {"mode", "form"},
      {"message", message_for(answer)},
      {"requestedSchema",
       {{"type", "object"},
        {"properties",
         {{"approve",
           {{"type", "boolean"}, {"title", "Let it run once"}, {"description", "Request " + id}, {"default", false}}}}},
        {"required", {"approve"}}}}};
}

Reply reply_of(Way way, const Json& result) {
  const std::string action = result.is_object() ? result.value("action", std::string()) : "";
  if (way == Way::page) return action == "accept" ? Reply::wait : Reply::leave;
  if (action == "decline") return Reply::rejected;
  if (action != "accept") return Reply::leave;
  const Json content = result.value("content", Json::object());
  const bool yes = content.is_object() && content.value("approve", Json()) == true;
  return yes ? Reply::approved : Reply::rejected;
}

Result<void> vote(const Premises& premises, const Caller& caller, const std::string& id, Reply reply) {
  if (!is_surface(*TRY(premises.settings()), caller)) {
    return fail(Fault::denied, "the settings do not name '{}' as a place where a person approves",
                caller.principal.agent);
  }
  auto queue = TRY(approve::Queue::open(premises.sources().state_dir, premises.clock(), {}));
  const approve::Entry entry = TRY(queue.find(id));
  guard::Guard guard = TRY(premises.guard_for_stored(TRY(plan::request_of(entry.request.plan))));
  const std::string by = fmt::format("{} in {}", caller.principal.user, caller.principal.agent);
  if (reply == Reply::rejected) {
    TRY(guard.reject(id, by, "declined in the client"));
    return {};
  }
  TRY(guard.approve(id, {.by = by, .presence = approve::Presence::surface, .inside_sandbox = caller.inside_sandbox}));
  return {};
}

}  // namespace cordon::serve::mcp
