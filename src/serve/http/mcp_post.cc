#include "serve/http/mcp_post.h"

#include "base/digest.h"
#include "base/text.h"

namespace cordon::serve::http {

namespace {

constexpr std::string_view modern_version = "2026-07-28";
constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";
constexpr int header_mismatch = -32020;
constexpr std::size_t most_sessions = 1000;
constexpr std::size_t most_sessions_of_one = 64;
constexpr auto session_idle = std::chrono::minutes(30);

Response rpc_error(unsigned status, const Json& id, int code, std::string_view sentence) {
  return json_response(status, mcp::error_response(id, code, sentence));
}

/// How an error of the protocol is told by the status, since 2026-07-28.
unsigned status_of(const Json& message) {
  const auto error = message.find("error");
  if (error == message.end()) return 200;
  switch (error->value("code", 0)) {
    case mcp::code::unknown_method:
      return 404;
    case mcp::code::internal:
      return 500;
    case mcp::code::busy:
      return 429;
    default:
      return 400;
  }
}

Json id_of(const Json& message) {
  const Json id = message.is_object() ? message.value("id", Json()) : Json();
  return mcp::is_id(id) ? id : Json();
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Json member(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object[key] : Json();
}

/// A field must say what the body says: what stands between us and the client may have decided by the field.
std::string contradiction(const Json& message, const Head& head, const std::string& version) {
  const std::string* told = head.field("mcp-protocol-version");
  if (told == nullptr || *told != version) return "MCP-Protocol-Version must be the version that params._meta names";
  const std::string* method = head.field("mcp-method");
  if (method == nullptr || *method != text_of(message, "method")) return "Mcp-Method must be the method of the body";
  if (text_of(message, "method") != "tools/call") return "";
  const std::string* name = head.field("mcp-name");
  if (name == nullptr || *name != text_of(member(message, "params"), "name")) {
    return "Mcp-Name must be the name of the tool in the body";
  }
  return "";
}

/// A lone answer goes back as JSON. What comes before it makes a stream of both.
class PostOutlet : public mcp::Outlet {
 public:
  PostOutlet(Exchange& exchange, bool modern, bool streams) : exchange_(exchange), modern_(modern), streams_(streams) {}

  void send(const Json& message) override {
    const bool answer = !message.contains("method");
    if (!answer && !streams_) return;
    if (answer && !exchange_.begun()) {
      Response response = json_response(modern_ ? status_of(message) : 200, message);
      response.fields = fields;
      return exchange_.finish(response);
    }
    if (!exchange_.begun()) exchange_.begin({.type = "text/event-stream", .fields = fields});
    const std::string event = sse_event("message", trim(mcp::to_line(message)));
    // Not for what comes before: the conversation must not wait for a client that does not read.
    if (!answer) return static_cast<void>(exchange_.try_write(event));
    exchange_.write(event);
    exchange_.end();
  }

  Fields fields;

 private:
  Exchange& exchange_;
  bool modern_;
  bool streams_;
};

}  // namespace

std::optional<Response> McpPosts::place(const Json& message, const Exchange& exchange, Era& era) {
  const Head& head = exchange.request.head;
  const Json meta = member(member(message, "params"), "_meta");
  const std::string* told = head.field("mcp-protocol-version");
  const bool says_modern = told != nullptr && *told == modern_version;
  era.modern = member(meta, version_key).is_string() || says_modern;
  if (!era.modern) return join(exchange, era);
  // A notification says nothing about itself but in the header.
  if (mcp::shape_of(message) != mcp::Shape::request) return std::nullopt;
  if (!member(meta, version_key).is_string()) {
    return rpc_error(400, id_of(message), mcp::code::invalid_params,
                     fmt::format("params._meta must hold \"{}\"", version_key));
  }
  const std::string wrong = contradiction(message, head, text_of(meta, version_key));
  if (wrong.empty()) return std::nullopt;
  return rpc_error(400, id_of(message), header_mismatch, wrong);
}

std::optional<Response> McpPosts::join(const Exchange& exchange, Era& era) {
  const std::string* named = exchange.request.head.field("mcp-session-id");
  if (named == nullptr) return std::nullopt;
  const std::lock_guard lock(lock_);
  const auto found = sessions_.find(*named);
  // Another's session is none.
  if (found == sessions_.end() || found->second.visitor != exchange.visitor.key) {
    return error_response(404, "unknown_session", "there is no such session (any more)", "Begin anew with initialize.");
  }
  Session& session = found->second;
  session.used = std::chrono::steady_clock::now();
  era.session = *named;
  era.begun = session.peer;
  era.asks_as = fmt::format("cordon-{}", ++session.posts);
  return std::nullopt;
}

void McpPosts::post(const Premises& premises, const std::shared_ptr<Exchange>& exchange) {
  const std::string& text = exchange->request.body;
  const auto message = mcp::read_message(text, {});
  if (!message) {
    return exchange->finish(rpc_error(400, nullptr, mcp::code::parse_error, message.error().sentence));
  }
  const mcp::Shape shape = mcp::shape_of(*message);
  if (shape == mcp::Shape::wrong) {
    return exchange->finish(
        rpc_error(400, id_of(*message), mcp::code::invalid_request, "the body must be one JSON-RPC 2.0 message"));
  }
  Era era;
  if (auto refused = place(*message, *exchange, era)) return exchange->finish(*refused);
  const bool first = text_of(*message, "method") == "initialize" || text_of(*message, "method") == "server/discover";
  if (!era.modern && era.session.empty() && !first) {
    return exchange->finish(rpc_error(400, id_of(*message), mcp::code::invalid_request,
                                      "name the session by Mcp-Session-Id (initialize begins one), or the version in "
                                      "MCP-Protocol-Version and params._meta"));
  }
  if (shape == mcp::Shape::request) return converse(premises, exchange, era);
  deliver(era.session, text);
  exchange->finish({.status = 202, .type = ""});
}

void McpPosts::converse(const Premises& premises, const std::shared_ptr<Exchange>& exchange, const Era& era) {
  const bool streams = exchange->request.head.names_type("accept", "text/event-stream");
  mcp::ConversationOptions options{.caller = exchange->visitor.caller, .version = version_, .in_place = true};
  options.caller.principal.surface = "mcp";
  options.begun = era.begun;
  options.asks_as = era.asks_as;
  // Who takes no stream cannot be asked anything.
  if (!streams && options.begun) options.begun->capabilities = Json::object();
  PostOutlet outlet(*exchange, era.modern, streams);
  const auto tools = make_tools_(premises, options.caller);
  mcp::Conversation conversation(*tools, states_, outlet, std::move(options));
  const bool begins = !era.modern && era.session.empty();
  if (begins) {
    // The session must be there before the client hears of it.
    struct Held : mcp::Outlet {
      void send(const Json& message) override { kept = message; }
      Json kept;
    } held;
    mcp::Conversation opening(*tools, states_, held,
                              {.caller = exchange->visitor.caller, .version = version_, .in_place = true});
    opening.receive(exchange->request.body);
    if (const auto peer = opening.begun()) {
      const std::string session = begin_session(*exchange, *peer);
      if (session.empty()) {
        return exchange->finish(busy_response(429, "too_many_sessions", "too many sessions are open", 60));
      }
      outlet.fields.emplace_back("Mcp-Session-Id", session);
    }
    return outlet.send(held.kept);
  }
  attend(era.session, conversation, true);
  {
    const std::stop_callback on_gone(exchange->stop(), [&] { conversation.give_up(); });
    conversation.receive(exchange->request.body);
  }
  attend(era.session, conversation, false);
  if (conversation.is_listening()) return events_.listen(exchange, Events::Wants::nothing);
  exchange->end();
}

void McpPosts::attend(const std::string& session, mcp::Conversation& conversation, bool there) {
  const std::lock_guard lock(lock_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  if (there)
    found->second.open.insert(&conversation);
  else
    found->second.open.erase(&conversation);
}

void McpPosts::deliver(const std::string& session, const std::string& text) {
  // Held throughout: no conversation goes while it is spoken to.
  const std::lock_guard lock(lock_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  for (mcp::Conversation* one : found->second.open) one->receive(text);
}

std::string McpPosts::begin_session(const Exchange& exchange, const mcp::Peer& peer) {
  const auto random = random_bytes(16);
  const std::lock_guard lock(lock_);
  const Moment now = std::chrono::steady_clock::now();
  std::erase_if(sessions_,
                [&](const auto& entry) { return entry.second.open.empty() && now - entry.second.used > session_idle; });
  std::size_t own = 0;
  for (const auto& [id, session] : sessions_) own += session.visitor == exchange.visitor.key ? 1 : 0;
  if (!random || sessions_.size() >= most_sessions || own >= most_sessions_of_one) return "";
  std::string id = to_hex(*random);
  sessions_.emplace(id, Session{.visitor = exchange.visitor.key, .peer = peer, .used = now});
  return id;
}

void McpPosts::remove(Exchange& exchange) {
  Era era;
  if (auto refused = join(exchange, era)) return exchange.finish(*refused);
  {
    const std::lock_guard lock(lock_);
    const auto found = sessions_.find(era.session);
    if (found != sessions_.end()) {
      for (mcp::Conversation* one : found->second.open) one->give_up();
      sessions_.erase(found);
    }
  }
  exchange.finish(era.session.empty()
                      ? error_response(400, "bad_request", "Mcp-Session-Id is missing", "Name the session.")
                      : Response{.status = 204, .type = ""});
}

}  // namespace cordon::serve::http
