#include "guard/explain.h"

#include <algorithm>

#include "base/text.h"
#include "model/tools.h"

namespace cordon::guard {

namespace {

const char* word_of(Where where) { return where == Where::host ? "HOST" : "SANDBOX"; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

std::vector<std::string> values_of(const std::vector<Entry>& entries) {
  std::vector<std::string> values;
  for (const Entry& entry : entries) values.push_back(visible(entry.value, Lines::escape));
  return values;
}

const char* sentence_of(Action action) {
  switch (action) {
    case Action::allow:
      return "runs";
    case Action::ask:
      return "waits for approval";
    case Action::deny:
      return "is refused";
  }
  return "is refused";
}

}  // namespace

Explanation explain(const Settings& settings, const std::string& agent, const std::string& session,
                    const std::vector<Session>& seen) {
  const AgentSettings& own = settings.agent(agent);
  Explanation explanation{.agent = agent, .sandbox = own.sandbox, .tools = own.tools};
  const auto add = [&](const std::string& key, const std::string& whose) {
    const bool known = std::ranges::any_of(explanation.sessions, [&](const auto& row) { return row.key == key; });
    if (!known) explanation.sessions.push_back({key, policy::placement_of(settings, whose, key)});
  };
  if (!session.empty()) add(session, agent);
  for (const Session& one : seen) add(one.key, one.agent);
  explanation.elevated_enabled = own.elevated.enabled.value;
  for (const Entry& pattern : own.elevated.patterns) {
    explanation.elevated.push_back({pattern.value, pattern.origin, own.elevated.require_approval.value});
  }
  explanation.effective_tools = effective_tools(settings, agent);
  return explanation;
}

std::string to_text(const Explanation& explanation) {
  std::string text = fmt::format("Sandbox mode:     {}\nSandbox scope:    {}\nWorkspace access: {}\n",
                                 name_of(explanation.sandbox.mode.value), name_of(explanation.sandbox.scope.value),
                                 name_of(explanation.sandbox.workspace.value));
  if (!explanation.sessions.empty()) text += "\n";
  for (const auto& row : explanation.sessions) {
    text += fmt::format("Session \"{}\" → {}{}\n", visible(row.key, Lines::escape), word_of(row.placement.where),
                        row.placement.reason.empty() ? "" : " (" + row.placement.reason + ")");
  }
  if (explanation.elevated_enabled && !explanation.elevated.empty()) {
    std::size_t width = 0;
    for (const auto& row : explanation.elevated) width = std::max(width, visible(row.pattern, Lines::escape).size());
    text += "\nElevated patterns:\n";
    for (const auto& row : explanation.elevated) {
      text += fmt::format("  {:<{}} → host ({})\n", visible(row.pattern, Lines::escape), width,
                          row.with_approval ? "with approval" : "without asking");
    }
  }
  text += fmt::format("\nTool policy:\n  Profile: {}\n", name_of(explanation.tools.profile.value));
  if (!explanation.tools.allow.empty()) text += "  Allowed: " + joined(values_of(explanation.tools.allow)) + "\n";
  if (!explanation.tools.deny.empty()) text += "  Denied: " + joined(values_of(explanation.tools.deny)) + "\n";
  text += "  Effective tools: " + joined(explanation.effective_tools) + "\n";
  if (explanation.command) {
    const Verdict& verdict = explanation.command->verdict;
    text += fmt::format("\nCommand: {}\n", visible(explanation.command->script.text, Lines::keep));
    text += fmt::format("  {}: {} {}\n", name_of(verdict.risk), sentence_of(verdict.action),
                        verdict.where == Where::host ? "on the host" : "in the sandbox");
    text += fmt::format("  decided by {} ({})\n", visible(verdict.rule, Lines::escape), verdict.origin.text());
    for (const std::string& reason : reasons_of(*explanation.command))
      text += "  - " + visible(reason, Lines::escape) + "\n";
    if (!explanation.obstacle.empty()) {
      text += "  would not get so far: " + visible(explanation.obstacle, Lines::escape) + "\n";
    }
    for (const Need& grant : verdict.grants)
      text += "  would be opened: " + visible(grant.target, Lines::escape) + "\n";
  }
  if (!explanation.probe.empty()) text += "\nIn force (tried just now):\n";
  for (const std::string& sentence : explanation.probe) text += "  " + visible(sentence, Lines::escape) + "\n";
  return text;
}

Json to_json(const Explanation& explanation) {
  const auto shown = [](const std::string& text) { return is_utf8(text) ? text : visible(text, Lines::escape); };
  Json sessions = Json::array();
  for (const auto& row : explanation.sessions) {
    sessions.push_back({{"session", shown(row.key)},
                        {"where", name_of(row.placement.where)},
                        {"reason", row.placement.reason.empty() ? Json() : Json(row.placement.reason)},
                        {"decided_by", row.placement.origin.text()}});
  }
  Json elevated = Json::array();
  for (const auto& row : explanation.elevated) {
    elevated.push_back(
        {{"pattern", shown(row.pattern)}, {"approval", row.with_approval}, {"decided_by", row.origin.text()}});
  }
  const SandboxSettings& sandbox = explanation.sandbox;
  Json object = {
      {"agent", shown(explanation.agent)},
      {"sandbox_mode", {{"value", name_of(sandbox.mode.value)}, {"decided_by", sandbox.mode.origin.text()}}},
      {"sandbox_scope", {{"value", name_of(sandbox.scope.value)}, {"decided_by", sandbox.scope.origin.text()}}},
      {"workspace_access",
       {{"value", name_of(sandbox.workspace.value)}, {"decided_by", sandbox.workspace.origin.text()}}},
      {"sessions", std::move(sessions)},
      {"elevated", {{"enabled", explanation.elevated_enabled}, {"patterns", std::move(elevated)}}},
      {"tools",
       {{"profile", name_of(explanation.tools.profile.value)},
        {"allow", values_of(explanation.tools.allow)},
        {"deny", values_of(explanation.tools.deny)},
        {"effective", explanation.effective_tools}}}};
  if (explanation.command) {
    object["command"] = to_json(*explanation.command);
    object["plan"] = explanation.plan;
    object["obstacle"] = explanation.obstacle.empty() ? Json() : Json(shown(explanation.obstacle));
  }
  if (!explanation.probe.empty()) object["probe"] = explanation.probe;
  return object;
}

}  // namespace cordon::guard
