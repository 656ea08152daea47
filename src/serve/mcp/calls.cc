// tools/call: every call on a thread of its own, from its arguments to its answer.
#include "base/text.h"
#include "serve/mcp/conversation.h"

namespace cordon::serve::mcp {

namespace {

/// A model reads this and can do better; a protocol error it may never see.
Json tool_trouble(std::string_view sentence) {
  return {{"content", {text_block(visible(sentence, Lines::keep))}}, {"isError", true}};
}

/// What a client must be able to do to be asked this.
std::string capability_for(std::string_view method) { return std::string(method.substr(0, method.find('/'))); }

/// The first capability that a question takes and the client has not; empty: it can be asked.
std::string lacking(const Peer& peer, const std::vector<Question>& questions) {
  for (const Question& question : questions) {
    std::string needed = capability_for(question.method);
    if (!peer.capabilities.contains(needed)) return needed;
  }
  return "";
}

}  // namespace

void Conversation::call_tool(const Json& message, const Peer& peer) {
  const Json& id = message["id"];
  const Json params = message.value("params", Json::object());
  const auto wrong = [&](std::string_view sentence) { refuse(id, code::invalid_params, sentence); };
  if (!params.value("name", Json()).is_string()) return wrong("params.name must be a string");
  PendingCall pending{.id = id};
  ToolCall& call = pending.call;
  call.peer = peer;
  call.name = params["name"].get<std::string>();
  call.arguments = params.value("arguments", Json::object());
  if (!call.arguments.is_object()) return wrong("params.arguments must be an object");
  if (params.contains("requestState")) {
    if (!params["requestState"].is_string()) return wrong("params.requestState must be a string");
    pending.state = params["requestState"].get<std::string>();
  }
  call.replies = params.value("inputResponses", Json::object());
  if (!call.replies.is_object()) return wrong("params.inputResponses must be an object");
  for (const Json& reply : call.replies) {
    if (!reply.is_object()) return wrong("params.inputResponses must hold objects");
  }
  const Json meta = params.value("_meta", Json::object());
  if (meta.is_object() && is_id(meta.value("progressToken", Json()))) {
    call.progress = [this, token = meta["progressToken"]](const Progress& progress) {
      outlet_.send(
          notification("notifications/progress",
                       {{"progressToken", token}, {"progress", progress.done}, {"message", progress.message}}));
    };
  }
  start(std::move(pending));
}

void Conversation::start(PendingCall pending) {
  std::unique_lock lock(mutex_);
  const std::string key = pending.id.dump();
  if (ended_) return;
  if (running_.contains(key)) return refuse(pending.id, code::invalid_request, "a call with this id is still running");
  if (running_.size() >= options_.bounds.calls) {
    return refuse(pending.id, code::busy,
                  fmt::format("{} calls are running already; wait until one has ended", running_.size()));
  }
  auto running = std::make_shared<Running>();
  running_.emplace(key, running);
  pending.call.stop = running->stop.get_token();
  if (options_.in_place) {
    lock.unlock();
    return run(pending, running);
  }
  running->thread = std::thread([this, pending = std::move(pending), running] { run(pending, running); });
}

void Conversation::run(const PendingCall& pending, const std::shared_ptr<Running>& running) {
  const Answer answer = perform(pending);
  bool cancelled = false;
  {
    // Before it is answered: the client may use its id again as soon as it hears.
    const std::lock_guard lock(mutex_);
    cancelled = running->cancelled;
    running->over = true;
  }
  // Who cancelled wants no answer.
  if (const auto* refusal = std::get_if<Refusal>(&answer); refusal != nullptr && !cancelled) {
    refuse(pending.id, refusal->code, refusal->sentence, refusal->data);
  } else if (!cancelled) {
    reply(pending.id, pending.call.peer, std::get<Json>(answer));
  }
}

Conversation::Answer Conversation::perform(const PendingCall& pending) {
  ToolCall call = pending.call;
  const Digest digest = digest_of_call(options_.caller, "tools/call", call.name, call.arguments);
  if (pending.state) {
    auto state = states_.take(*pending.state, digest);
    if (!state) return Refusal{code::invalid_params, state.error().sentence};
    call.state = *std::move(state);
  }
  for (;;) {
    const auto round = tools_.call(call);
    if (!round) return tool_trouble(round.error().sentence);
    if (!*round) {
      return Refusal{code::invalid_params,
                     fmt::format("Unknown tool: {}", visible(call.name.substr(0, 80), Lines::escape))};
    }
    const std::vector<Question>& questions = (*round)->questions;
    if (questions.empty()) return (*round)->result;
    if (const std::string needed = lacking(call.peer, questions); !needed.empty()) {
      const std::string sentence = fmt::format("this takes a client with the capability '{}'", needed);
      if (!call.peer.modern) return tool_trouble(sentence);
      return Refusal{code::missing_capability, sentence, {{"requiredCapabilities", {{needed, Json::object()}}}}};
    }
    if (call.peer.modern) return input_required(**round, digest);
    if (call.stop.stop_requested()) return tool_trouble("the call was given up before it was answered");
    call.state = (*round)->state;
    call.replies = ask_client(questions, call.stop);
  }
}

Conversation::Answer Conversation::input_required(const Round& round, const Digest& digest) {
  auto state = states_.issue(round.state, digest, round.lasts);
  if (!state) return tool_trouble(state.error().sentence);
  Json requests = Json::object();
  for (const Question& question : round.questions) {
    requests[question.key] = {{"method", question.method}, {"params", question.params}};
  }
  return Json{
      {"resultType", "input_required"}, {"inputRequests", std::move(requests)}, {"requestState", *std::move(state)}};
}

Json Conversation::ask_client(const std::vector<Question>& questions, const std::stop_token& stop) {
  Json replies = Json::object();
  for (const Question& question : questions) {
    std::unique_lock lock(mutex_);
    const std::string id = fmt::format("{}-{}", options_.asks_as, ++asked_so_far_);
    asked_.emplace(id, std::nullopt);
    outlet_.send(request(id, question.method, question.params));
    changed_.wait(lock, stop, [&] { return asked_[id].has_value() || ended_; });
    if (asked_[id]) replies[question.key] = *asked_[id];
    asked_.erase(id);
  }
  return replies;
}

}  // namespace cordon::serve::mcp
