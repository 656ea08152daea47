// tools/call: every call on a thread of its own, from its arguments to its answer.
#include <algorithm>

#include "base/text.h"
#include "serve/mcp/approval.h"
#include "serve/mcp/conversation.h"

namespace cordon::serve::mcp {

namespace {

Json text_block(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

/// The whole answer as structured content, and as text for clients that only read that; what to do next comes first.
Json tool_result(Json answer) {
  Json content = Json::array();
  if (std::string advice = advice_on(answer); !advice.empty()) content.push_back(text_block(std::move(advice)));
  content.push_back(text_block(answer.dump(-1, ' ', false, Json::error_handler_t::replace)));
  const bool failed = is_failure(answer);
  return {{"content", std::move(content)}, {"structuredContent", std::move(answer)}, {"isError", failed}};
}

/// A model reads this and can do better; a protocol error it may never see.
Json tool_trouble(const Error& error) {
  return {{"content", {text_block(visible(error.sentence, Lines::keep))}}, {"isError", true}};
}

/// The key under which the one question of a call goes and comes back.
constexpr const char* question_key = "approval";

bool waits(const Json& answer) { return answer.is_object() && answer.value("queued", false); }

}  // namespace

void Conversation::call_tool(const Json& message, const Peer& peer) {
  const Json& id = message["id"];
  const Json params = message.value("params", Json::object());
  const auto wrong = [&](std::string_view sentence) { refuse(id, code::invalid_params, sentence); };
  if (!params.value("name", Json()).is_string()) return wrong("params.name must be a string");
  ToolCall call{.id = id, .peer = peer, .name = params["name"].get<std::string>()};
  call.arguments = params.value("arguments", Json::object());
  if (!call.arguments.is_object()) return wrong("params.arguments must be an object");
  if (params.contains("requestState")) {
    if (!params["requestState"].is_string()) return wrong("params.requestState must be a string");
    call.state = params["requestState"].get<std::string>();
  }
  call.replies = params.value("inputResponses", Json::object());
  if (!call.replies.is_object()) return wrong("params.inputResponses must be an object");
  const Json meta = params.value("_meta", Json::object());
  if (meta.is_object() && is_id(meta.value("progressToken", Json()))) call.progress_token = meta["progressToken"];
  start(std::move(call));
}

void Conversation::start(ToolCall call) {
  std::unique_lock lock(mutex_);
  const std::string key = call.id.dump();
  if (ended_) return;
  if (running_.contains(key)) return refuse(call.id, code::invalid_request, "a call with this id is still running");
  if (running_.size() >= options_.bounds.calls) {
    return refuse(call.id, code::busy,
                  fmt::format("{} calls are running already; wait until one has ended", running_.size()));
  }
  auto running = std::make_shared<Running>();
  running_.emplace(key, running);
  if (options_.in_place) {
    lock.unlock();
    return run(call, running);
  }
  running->thread = std::thread([this, call = std::move(call), running] { run(call, running); });
}

void Conversation::run(const ToolCall& call, const std::shared_ptr<Running>& running) {
  const auto settings = premises_.settings();
  if (settings && find_tool(call.name, options_.caller, *settings) == nullptr) {
    refuse(call.id, code::invalid_params,
           fmt::format("Unknown tool: {}", visible(call.name.substr(0, 80), Lines::escape)));
  } else {
    const auto result = settings ? perform(call, running->stop.get_token()) : tl::make_unexpected(settings.error());
    bool cancelled = false;
    {
      const std::lock_guard lock(mutex_);
      cancelled = running->cancelled;
    }
    // Who cancelled wants no answer.
    if (!cancelled) reply(call.id, call.peer, result ? *result : tool_trouble(result.error()));
  }
  const std::lock_guard lock(mutex_);
  running->over = true;
}

Result<Json> Conversation::perform(const ToolCall& call, const std::stop_token& stop) {
  const Settings settings = TRY(premises_.settings());
  const Tool* tool = find_tool(call.name, options_.caller, settings);
  if (tool == nullptr) return fail(Fault::denied, "this tool is not available any more");
  if (call.state) return go_on(call, *tool, stop);
  Json answer = TRY(call_once(call, *tool, call.arguments, std::nullopt, stop));
  // Who named a time to wait has waited, and wants to know how it stands.
  const bool takes_approval =
      std::ranges::any_of(tool->arguments, [](const Argument& one) { return one.name == "approval"; });
  if (!waits(answer) || !takes_approval || call.arguments.contains("wait")) return tool_result(std::move(answer));
  return ask(call, *tool, settings, std::move(answer), stop);
}

Result<Json> Conversation::call_once(const ToolCall& call, const Tool& tool, const Json& arguments,
                                     std::optional<Duration> wait, const std::stop_token& stop) {
  Call made{.caller = options_.caller, .arguments = arguments, .progress = {}, .stop = stop, .wait = wait};
  if (!call.progress_token.is_null()) {
    made.progress = [this, token = call.progress_token](const Progress& progress) {
      outlet_.send(
          notification("notifications/progress",
                       {{"progressToken", token}, {"progress", progress.done}, {"message", progress.message}}));
    };
  }
  return serve::call_tool(tool, premises_, made);
}

Result<Json> Conversation::ask(const ToolCall& call, const Tool& tool, const Settings& settings, Json answer,
                               const std::stop_token& stop) {
  const Way way = way_for(call.peer.capabilities, settings, options_.caller);
  // Pages came with 2025-11-25.
  const bool unknown_to_peer = way == Way::page && !call.peer.modern && call.peer.version < "2025-11-25";
  if (way == Way::none || unknown_to_peer) return tool_result(std::move(answer));
  const std::string id = answer["queue_id"].get<std::string>();
  Json question = elicitation_for(way, answer, settings);
  const Duration lasts = std::chrono::milliseconds(settings.approval.expiry_ms.value);
  if (call.peer.modern) {
    const Digest digest = digest_of_call(options_.caller, "tools/call", call.name, call.arguments);
    return Json{
        {"resultType", "input_required"},
        {"inputRequests", {{question_key, {{"method", "elicitation/create"}, {"params", std::move(question)}}}}},
        {"requestState", TRY(states_.issue({.approval = id, .way = name_of(way)}, digest, lasts))}};
  }
  if (way == Way::page) question["elicitationId"] = id;
  // The form has no mode before 2025-11-25, and none means form since.
  if (way == Way::form) question.erase("mode");
  const auto result = ask_client("elicitation/create", std::move(question), stop);
  const Reply reply = result ? reply_of(way, *result) : Reply::leave;
  if (reply == Reply::leave) return tool_result(std::move(answer));
  if (reply != Reply::wait) CHECK_OK(vote(premises_, options_.caller, id, reply));
  return call_by_approval(call, tool, id, lasts, stop);
}

Result<Json> Conversation::go_on(const ToolCall& call, const Tool& tool, const std::stop_token& stop) {
  const Digest digest = digest_of_call(options_.caller, "tools/call", call.name, call.arguments);
  const RequestState state = TRY(states_.take(*call.state, digest));
  const Way way = state.way == name_of(Way::page) ? Way::page : Way::form;
  const Reply reply = reply_of(way, call.replies.value(question_key, Json()));
  if (reply == Reply::approved || reply == Reply::rejected) {
    CHECK_OK(vote(premises_, options_.caller, state.approval, reply));
  }
  const Settings settings = TRY(premises_.settings());
  std::optional<Duration> wait;
  if (reply == Reply::wait) wait = std::chrono::milliseconds(settings.approval.expiry_ms.value);
  return call_by_approval(call, tool, state.approval, wait, stop);
}

Result<Json> Conversation::call_by_approval(const ToolCall& call, const Tool& tool, const std::string& approval,
                                            std::optional<Duration> wait, const std::stop_token& stop) {
  Json arguments = call.arguments;
  arguments["approval"] = approval;
  return tool_result(TRY(call_once(call, tool, arguments, wait, stop)));
}

}  // namespace cordon::serve::mcp
