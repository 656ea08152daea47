#include "serve/hook/dialect.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace cordon::serve::hook {

namespace {

// To every one of them exit code 2 is a no; any other but 0 is a warning, after which the agent goes on.
constexpr int blocks = 2;

Result<std::string> text_of(const Json& sent, const char* key, bool needed) {
  const auto found = sent.find(key);
  if (found == sent.end() && !needed) return std::string();
  if (found == sent.end() || !found->is_string() || (needed && found->get<std::string>().empty())) {
    return fail(Fault::invalid_input, "the agent sent no text \"{}\"", key);
  }
  return found->get<std::string>();
}

Result<Json> object_of(const Json& sent, const char* key) {
  const auto found = sent.find(key);
  if (found == sent.end()) return fail(Fault::invalid_input, "the agent sent no \"{}\"", key);
  if (found->is_object()) return *found;
  // A plain string is what some tools take (a patch).
  if (found->is_string()) return Json{{"input", *found}};
  return fail(Fault::invalid_input, "\"{}\" is neither an object nor a string", key);
}

/// Claude Code, Codex and Gemini CLI send the same members.
Result<Asked> read_tool_event(const Json& sent) {
  Asked asked;
  asked.event = TRY(text_of(sent, "hook_event_name", false));
  asked.tool = TRY(text_of(sent, "tool_name", true));
  asked.input = TRY(object_of(sent, "tool_input"));
  asked.cwd = TRY(text_of(sent, "cwd", false));
  return asked;
}

/// Codex calls the model's choice of a directory `cwd`, and starts the hook where it works itself.
Result<Asked> read_codex(const Json& sent) {
  Asked asked = TRY(read_tool_event(sent));
  asked.directory = std::exchange(asked.cwd, {});
  return asked;
}

Json write_claude_code(const Asked& asked, const Said& said) {
  if (said.kind == Said::Kind::pass) return Json::object();
  const char* word = said.kind == Said::Kind::allow ? "allow" : said.kind == Said::Kind::ask ? "ask" : "deny";
  Json decision = {{"hookEventName", asked.event.empty() ? "PreToolUse" : asked.event},
                   {"permissionDecision", word},
                   {"permissionDecisionReason", said.reason}};
  if (said.kind != Said::Kind::deny && !said.input.is_null()) decision["updatedInput"] = said.input;
  return {{"hookSpecificOutput", std::move(decision)}};
}

/// An allow that changes nothing is an error to Codex, after which it goes on: say nothing instead.
Json write_codex(const Asked& asked, const Said& said) {
  if (said.kind == Said::Kind::allow && said.input.is_null()) return Json::object();
  return write_claude_code(asked, said);
}

Json write_gemini(const Asked& asked, const Said& said) {
  if (said.kind == Said::Kind::pass) return Json::object();
  Json answer = {{"decision", said.kind == Said::Kind::allow ? "allow" : "deny"}, {"reason", said.reason}};
  if (said.kind == Said::Kind::allow && !said.input.is_null()) {
    answer["hookSpecificOutput"] = {{"hookEventName", asked.event.empty() ? "BeforeTool" : asked.event},
                                    {"tool_input", said.input}};
  }
  return answer;
}

/// Its events are tools of their own, with their input beside the event's name.
Result<Asked> read_cursor(const Json& sent) {
  Asked asked;
  asked.event = TRY(text_of(sent, "hook_event_name", true));
  asked.cwd = TRY(text_of(sent, "cwd", false));
  if (asked.cwd.empty() && sent.contains("workspace_roots") && sent["workspace_roots"].is_array() &&
      !sent["workspace_roots"].empty() && sent["workspace_roots"][0].is_string()) {
    asked.cwd = sent["workspace_roots"][0].get<std::string>();
  }
  if (sent.contains("tool_name")) {
    asked.tool = TRY(text_of(sent, "tool_name", true));
    asked.input = TRY(object_of(sent, "tool_input"));
    return asked;
  }
  asked.tool = asked.event;
  asked.input = sent;
  return asked;
}

Json write_cursor(const Asked&, const Said& said) {
  const bool no = said.kind == Said::Kind::deny;
  Json answer = {{"permission", no ? "deny" : "allow"}};
  if (no) answer["user_message"] = "Cordon: " + said.reason;
  if (!said.reason.empty()) answer["agent_message"] = said.reason;
  return answer;
}

/// What our plugin there hands on of `before_tool_call`.
Result<Asked> read_openclaw(const Json& sent) {
  Asked asked;
  asked.event = "before_tool_call";
  asked.tool = TRY(text_of(sent, "toolName", true));
  asked.input = TRY(object_of(sent, "params"));
  asked.cwd = TRY(text_of(sent, "cwd", false));
  return asked;
}

Json write_openclaw(const Asked&, const Said& said) {
  if (said.kind == Said::Kind::deny) return {{"block", true}, {"blockReason", said.reason}};
  if (said.kind == Said::Kind::allow && !said.input.is_null()) return {{"params", said.input}};
  return Json::object();
}

constexpr std::array<Dialect, 5> table = {{
    {"claude-code", true, true, read_tool_event, write_claude_code},
    {"codex", true, false, read_codex, write_codex},
    {"gemini", true, false, read_tool_event, write_gemini},
    {"cursor", false, false, read_cursor, write_cursor},
    {"openclaw", true, false, read_openclaw, write_openclaw},
}};

}  // namespace

std::span<const Dialect> dialects() { return table; }

const Dialect* find_dialect(std::string_view agent) {
  for (const Dialect& dialect : table) {
    if (dialect.agent == agent) return &dialect;
  }
  return nullptr;
}

Printed print(const Dialect& dialect, const Asked& asked, const Said& said) {
  return {.out = dialect.write(asked, said).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

Printed print_blocked(const Dialect& dialect, std::string_view sentence) {
  const std::string reason =
      "Cordon could not judge this, so it is not done: " + visible(sentence, Lines::escape) + " (try: cordon doctor)";
  Printed printed = print(dialect, {}, {.kind = Said::Kind::deny, .reason = reason});
  printed.err = reason + "\n";
  printed.exit_code = blocks;
  return printed;
}

}  // namespace cordon::serve::hook
