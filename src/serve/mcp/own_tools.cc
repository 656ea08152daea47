#include "serve/mcp/own_tools.h"

#include <algorithm>

#include "base/text.h"
#include "serve/mcp/approval.h"
#include "serve/mcp/message.h"

namespace cordon::serve::mcp {

namespace {

/// The key under which the one question of a call goes and comes back.
constexpr const char* question_key = "approval";

Json describe(const Tool& tool) {
  return {{"name", std::string(tool.name)},
          {"title", std::string(tool.title)},
          {"description", std::string(tool.description)},
          {"inputSchema", schema_of(tool.arguments)},
          {"outputSchema", tool.output_schema()},
          {"annotations",
           {{"title", std::string(tool.title)},
            {"readOnlyHint", tool.hints.read_only},
            {"destructiveHint", tool.hints.destructive},
            {"idempotentHint", tool.hints.idempotent},
            {"openWorldHint", false}}}};
}

/// The whole answer as structured content, and as text for clients that only read that; what to do next comes first.
Json tool_result(Json answer) {
  Json content = Json::array();
  if (std::string advice = advice_on(answer); !advice.empty()) content.push_back(text_block(std::move(advice)));
  content.push_back(text_block(answer.dump(-1, ' ', false, Json::error_handler_t::replace)));
  const bool failed = is_failure(answer);
  return {{"content", std::move(content)}, {"structuredContent", std::move(answer)}, {"isError", failed}};
}

bool waits(const Json& answer) { return answer.is_object() && answer.value("queued", false); }

bool takes_approval(const Tool& tool) {
  return std::ranges::any_of(tool.arguments, [](const Argument& one) { return one.name == "approval"; });
}

Duration expiry_of(const Settings& settings) { return std::chrono::milliseconds(settings.approval.expiry_ms.value); }

}  // namespace

Result<Json> OwnTools::list() {
  const auto settings = TRY(premises_.settings());
  Json list = Json::array();
  for (const Tool* tool : tools_for(caller_, *settings)) list.push_back(describe(*tool));
  return list;
}

Result<std::optional<Round>> OwnTools::call(const ToolCall& call) {
  const auto settings = TRY(premises_.settings());
  const Tool* tool = find_tool(call.name, caller_, *settings);
  if (tool == nullptr) return std::nullopt;
  return call.state.is_null() ? TRY(begin(call, *tool, *settings)) : TRY(go_on(call, *tool, *settings));
}

Result<Round> OwnTools::begin(const ToolCall& call, const Tool& tool, const Settings& settings) {
  Json answer = TRY(call_once(call, tool, call.arguments, std::nullopt));
  // Who named a time to wait has waited, and wants to know how it stands.
  const bool asks = waits(answer) && takes_approval(tool) && !call.arguments.contains("wait");
  return asks ? ask(call, settings, std::move(answer)) : Round{.result = tool_result(std::move(answer))};
}

Round OwnTools::ask(const ToolCall& call, const Settings& settings, Json answer) const {
  const Way way = way_for(call.peer.capabilities, settings, caller_);
  // Pages came with 2025-11-25.
  const bool unknown_to_peer = way == Way::page && !call.peer.modern && call.peer.version < "2025-11-25";
  if (way == Way::none || unknown_to_peer) return {.result = tool_result(std::move(answer))};
  const std::string id = answer["queue_id"].get<std::string>();
  Json question = elicitation_for(way, answer, settings);
  if (!call.peer.modern && way == Way::page) question["elicitationId"] = id;
  // The form has no mode before 2025-11-25, and none means form since.
  if (!call.peer.modern && way == Way::form) question.erase("mode");
  return {.questions = {{.key = question_key, .method = "elicitation/create", .params = std::move(question)}},
          .state = {{"approval", id}, {"way", name_of(way)}},
          .lasts = expiry_of(settings)};
}

Result<Round> OwnTools::go_on(const ToolCall& call, const Tool& tool, const Settings& settings) {
  // Sealed by us, so its members are what `ask` put there.
  const std::string id = call.state["approval"].get<std::string>();
  const Way way = call.state["way"] == name_of(Way::page) ? Way::page : Way::form;
  const Reply reply = reply_of(way, call.replies.value(question_key, Json()));
  if (reply == Reply::approved || reply == Reply::rejected) CHECK_OK(vote(premises_, caller_, id, reply));
  std::optional<Duration> wait;
  if (reply == Reply::wait) wait = expiry_of(settings);
  Json arguments = call.arguments;
  arguments["approval"] = id;
  return Round{.result = tool_result(TRY(call_once(call, tool, arguments, wait)))};
}

Result<Json> OwnTools::call_once(const ToolCall& call, const Tool& tool, const Json& arguments,
                                 std::optional<Duration> wait) {
  const Call made{
      .caller = caller_, .arguments = arguments, .progress = call.progress, .stop = call.stop, .wait = wait};
  return call_tool(tool, premises_, made);
}

}  // namespace cordon::serve::mcp
