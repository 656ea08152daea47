#include "serve/tools/tool.h"

#include <algorithm>

#include "base/text.h"
#include "model/tools.h"

namespace cordon::serve {

namespace {

bool has(const Tool& tool, const Caller& caller, const ToolSettings& policy) {
  if (std::ranges::find(tool.roles, caller.role) == tool.roles.end()) return false;
  if (!tool.policy_name.empty() && !has_tool(policy, tool.policy_name)) return false;
  // Cordon's own names are in no profile; only a deny takes them away.
  ToolSettings denials = policy;
  denials.profile.value = ToolProfile::full;
  if (!tool.denied_with.empty() && !has_tool(denials, tool.denied_with)) return false;
  return has_tool(denials, tool.name);
}

}  // namespace

std::vector<const Tool*> tools_for(const Caller& caller, const Settings& settings) {
  std::vector<const Tool*> found;
  const ToolSettings& policy = settings.agent(caller.principal.agent).tools;
  for (const Tool& tool : all_tools()) {
    if (has(tool, caller, policy)) found.push_back(&tool);
  }
  return found;
}

const Tool* find_tool(std::string_view name, const Caller& caller, const Settings& settings) {
  const std::span<const Tool> tools = all_tools();
  const auto found = std::ranges::find(tools, name, &Tool::name);
  if (found == tools.end()) return nullptr;
  return has(*found, caller, settings.agent(caller.principal.agent).tools) ? &*found : nullptr;
}

Result<Json> call_tool(const Tool& tool, const Premises& premises, const Call& call) {
  CHECK_OK(check(call.arguments, tool.arguments));
  return tool.call(premises, call);
}

bool is_failure(const Json& answer) {
  if (!answer.is_object() || !answer.contains("executed") || answer.contains("dry_run")) return false;
  return !answer["executed"].get<bool>();
}

std::string advice_on(const Json& answer) {
  if (!is_failure(answer)) return "";
  if (answer.value("queued", false)) {
    const std::string id = answer.value("queue_id", std::string());
    return fmt::format(
        "Not started: waiting for approval {}. Tell the user what you want to run and why, and ask them to run: "
        "sandbox-queue approve {}  Then make the same call again (sandbox_exec also takes \"wait\", to stay for the "
        "answer). It expires at {}.",
        id, id, answer.value("expires_at", std::string("the time set")));
  }
  const Json error = answer.value("error", Json());
  const std::string reason = error.is_string() ? visible(error.get<std::string>(), Lines::escape) : "no reason given";
  if (!answer.value("blocked", false)) return "Could not be run; nothing ran: " + reason;
  std::string advice = "Refused, nothing ran: " + reason + ". Asking again will not help; choose another way.";
  const Json safety = answer.value("safety", Json::object());
  for (const Json& safer : safety.value("safer", Json::array())) {
    advice += " Safer: " + visible(safer.get<std::string>(), Lines::escape);
  }
  return advice;
}

}  // namespace cordon::serve
