#include "serve/mcp/conversation.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cordon::serve::mcp {

namespace {

constexpr const char* modern_version = "2026-07-28";
constexpr std::array<std::string_view, 4> legacy_versions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr const char* with_batches = "2025-03-26";

constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";
constexpr const char* capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* info_key = "io.modelcontextprotocol/serverInfo";
constexpr const char* subscription_key = "io.modelcontextprotocol/subscriptionId";

// Long enough to spare requests, short enough that a changed tool policy shows.
constexpr int list_lasts_ms = 60'000;

constexpr const char* instructions =
    "Cordon judges shell commands, runs them isolated in the workspace and records them. Run commands with "
    "sandbox_exec. "
    "A command that needs approval is queued and has not run: tell the user what you want to run and why, ask them to "
    "run `sandbox-queue approve <id>`, then call sandbox_exec again with the same arguments. You cannot approve your "
    "own requests. A refused command stays refused; look at `safer` and choose another way.";

Json capabilities() { return {{"tools", Json::object()}}; }

Json meta_of(const Json& message) {
  if (!message.contains("params")) return Json::object();
  const Json meta = message["params"].value("_meta", Json::object());
  return meta.is_object() ? meta : Json::object();
}

}  // namespace

Conversation::Conversation(Toolset& tools, RequestStates& states, Outlet& outlet, ConversationOptions options)
    : tools_(tools), states_(states), outlet_(outlet), options_(std::move(options)), legacy_(options_.begun) {}

Conversation::~Conversation() { end(); }

void Conversation::receive(std::string_view text) {
  const auto message = read_message(text, options_.bounds);
  if (!message) return refuse(nullptr, code::parse_error, message.error().sentence);
  sweep();
  const bool batch = message->is_array() && !message->empty() && legacy_ && legacy_->version == with_batches;
  if (!batch) return take(*message);
  for (const Json& one : *message) take(one);
}

void Conversation::receive_too_long() {
  refuse(nullptr, code::parse_error,
         fmt::format("a message of more than {} bytes is not read", options_.bounds.message_bytes));
}

void Conversation::take(const Json& message) {
  switch (shape_of(message)) {
    case Shape::request:
      return take_request(message);
    case Shape::notification:
      return take_notification(message);
    case Shape::response:
      return take_response(message);
    case Shape::wrong: {
      const Json id = message.is_object() ? message.value("id", Json()) : Json();
      return refuse(is_id(id) ? id : Json(), code::invalid_request, "not a JSON-RPC 2.0 message");
    }
  }
}

void Conversation::take_request(const Json& message) {
  const std::string method = message["method"].get<std::string>();
  if (method == "initialize" && !meta_of(message).contains(version_key)) return initialize(message);
  // Answered to everyone: it is how a client finds out which era we speak.
  if (method == "server/discover" && !meta_of(message).contains(version_key)) return discover(message["id"]);
  const auto peer = peer_of(message);
  if (peer) answer(message, *peer);
}

void Conversation::answer(const Json& message, const Peer& peer) {
  const std::string method = message["method"].get<std::string>();
  if (method == "tools/list") return list_tools(message, peer);
  if (method == "tools/call") return call_tool(message, peer);
  if (peer.modern && method == "server/discover") return discover(message["id"]);
  if (peer.modern && method == "subscriptions/listen") return listen(message);
  if (!peer.modern && method == "ping") return reply(message["id"], peer, Json::object());
  refuse(message["id"], code::unknown_method,
         fmt::format("there is no method '{}' here", visible(method.substr(0, 80), Lines::escape)));
}

std::optional<Peer> Conversation::peer_of(const Json& message) {
  const Json& id = message["id"];
  const Json meta = meta_of(message);
  if (!meta.contains(version_key)) {
    const std::lock_guard lock(mutex_);
    if (legacy_) return legacy_;
    if (message["method"] == "ping") return Peer{};
    refuse(id, code::invalid_params,
           fmt::format("params._meta must hold \"{}\" (this server speaks {}), or begin with initialize", version_key,
                       modern_version));
    return std::nullopt;
  }
  const Json version = meta[version_key];
  if (version != modern_version) {
    refuse(id, code::unsupported_version, "this protocol version is not spoken here",
           {{"supported", {modern_version}}, {"requested", version.is_string() ? version : Json("")}});
    return std::nullopt;
  }
  const Json offered = meta.value(capabilities_key, Json());
  if (!offered.is_object()) {
    refuse(id, code::invalid_params, fmt::format("params._meta must hold \"{}\", an object", capabilities_key));
    return std::nullopt;
  }
  return Peer{.modern = true, .version = modern_version, .capabilities = offered};
}

void Conversation::initialize(const Json& message) {
  const Json params = message.value("params", Json::object());
  const Json wanted = params.value("protocolVersion", Json());
  if (!wanted.is_string()) {
    return refuse(message["id"], code::invalid_params, "params.protocolVersion must be a string");
  }
  const bool known = std::ranges::find(legacy_versions, wanted.get<std::string>()) != legacy_versions.end();
  Peer peer{.version = known ? wanted.get<std::string>() : std::string(legacy_versions.front())};
  if (const Json offered = params.value("capabilities", Json::object()); offered.is_object())
    peer.capabilities = offered;
  {
    const std::lock_guard lock(mutex_);
    legacy_ = peer;
  }
  reply(message["id"], peer,
        {{"protocolVersion", peer.version},
         {"capabilities", capabilities()},
         {"serverInfo", server_info()},
         {"instructions", instructions}});
}

void Conversation::discover(const Json& id) {
  reply(id, {.modern = true},
        {{"supportedVersions", {modern_version}},
         {"capabilities", capabilities()},
         {"instructions", instructions},
         {"ttlMs", list_lasts_ms},
         {"cacheScope", "private"}});
}

// There is nothing here whose change is told, so the stream stays silent; but it is acknowledged, and open until it is
// cancelled or the conversation ends.
void Conversation::listen(const Json& message) {
  const Json params = message.value("params", Json::object());
  if (!params.value("notifications", Json()).is_object()) {
    return refuse(message["id"], code::invalid_params, "params.notifications must be an object");
  }
  {
    const std::lock_guard lock(mutex_);
    if (listening_.size() >= options_.bounds.calls) {
      return refuse(message["id"], code::busy, "too many subscriptions are open; cancel one first");
    }
    listening_.insert(message["id"].dump());
  }
  outlet_.send(notification("notifications/subscriptions/acknowledged",
                            {{"_meta", {{subscription_key, message["id"]}}}, {"notifications", Json::object()}}));
}

void Conversation::list_tools(const Json& message, const Peer& peer) {
  if (message.contains("params") && message["params"].contains("cursor")) {
    return refuse(message["id"], code::invalid_params, "params.cursor is none of ours: the list has one page");
  }
  auto list = tools_.list();
  if (!list) return refuse(message["id"], code::internal, list.error().sentence);
  Json result = {{"tools", *std::move(list)}};
  if (peer.modern) {
    result["ttlMs"] = list_lasts_ms;
    result["cacheScope"] = "private";
  }
  reply(message["id"], peer, std::move(result));
}

void Conversation::take_notification(const Json& message) {
  if (message["method"] != "notifications/cancelled") return;
  const Json id = message.value("params", Json::object()).value("requestId", Json());
  if (!is_id(id)) return;
  const std::lock_guard lock(mutex_);
  listening_.erase(id.dump());
  const auto found = running_.find(id.dump());
  if (found == running_.end()) return;
  found->second->cancelled = true;
  found->second->stop.request_stop();
}

void Conversation::take_response(const Json& message) {
  const std::lock_guard lock(mutex_);
  const Json& id = message["id"];
  const auto found = id.is_string() ? asked_.find(id.get<std::string>()) : asked_.end();
  if (found == asked_.end() || found->second) return;
  found->second = message.value("result", Json::object());
  changed_.notify_all();
}

void Conversation::reply(const Json& id, const Peer& peer, Json result) {
  if (peer.modern) {
    if (!result.contains("resultType")) result["resultType"] = "complete";
    result["_meta"][info_key] = server_info();
  }
  outlet_.send(response(id, std::move(result)));
}

void Conversation::refuse(const Json& id, int code, std::string_view sentence, Json data) {
  outlet_.send(error_response(id, code, sentence, std::move(data)));
}

Json Conversation::server_info() const {
  return {{"name", "cordon"}, {"title", "Cordon"}, {"version", options_.version}};
}

void Conversation::sweep() {
  std::vector<std::shared_ptr<Running>> over;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(running_, [&](const auto& entry) {
      if (entry.second->over) over.push_back(entry.second);
      return entry.second->over;
    });
  }
  for (const auto& call : over) {
    if (call->thread.joinable()) call->thread.join();
  }
}

std::optional<Peer> Conversation::begun() {
  const std::lock_guard lock(mutex_);
  return legacy_;
}

bool Conversation::is_listening() {
  const std::lock_guard lock(mutex_);
  return !listening_.empty();
}

void Conversation::give_up() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const auto& [id, call] : running_) call->stop.request_stop();
  changed_.notify_all();
}

void Conversation::end() {
  std::map<std::string, std::shared_ptr<Running>> left;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    left.swap(running_);
    for (const auto& [id, call] : left) call->stop.request_stop();
    changed_.notify_all();
  }
  for (const auto& [id, call] : left) {
    if (call->thread.joinable()) call->thread.join();
  }
}

}  // namespace cordon::serve::mcp
