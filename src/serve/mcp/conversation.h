// One client's conversation in the Model Context Protocol, whatever carries it. Speaks both eras: since 2026-07-28
// every request says itself what it needs to be understood; before, `initialize` said it once.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "serve/mcp/message.h"
#include "serve/mcp/request_state.h"
#include "serve/mcp/toolset.h"
#include "serve/premises.h"

namespace cordon::serve::mcp {

/// Takes what is to be sent. Called from many threads; must not throw and must not block for long.
class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void send(const Json& message) = 0;
};

struct ConversationOptions {
  Caller caller;
  std::string version;  // of Cordon
  Bounds bounds;
  /// Calls are made by whoever brings a message, which then takes as long as they do; else on threads of their own.
  bool in_place = false;
  std::optional<Peer> begun = {};  // an `initialize` that came earlier
  std::string asks_as = "cordon";  // what the ids of our own requests begin with
};

class Conversation {
 public:
  /// All must outlive it. `states` may be shared by the conversations of one server.
  Conversation(Toolset& tools, RequestStates& states, Outlet& outlet, ConversationOptions options);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// One message as it came. Never blocks on a tool, unless calls are made in place.
  void receive(std::string_view text);
  /// The same for a message that was too long to be kept.
  void receive_too_long();
  /// Ends every call, whose commands are killed with all their children, and waits for that.
  void end();
  /// Asks for the end of every call, and does not wait. May be called from any thread.
  void give_up();
  /// What `initialize` said; nothing before it.
  std::optional<Peer> begun();
  /// Whether a subscription is open.
  bool is_listening();

 private:
  struct Running {
    std::stop_source stop;
    bool cancelled = false;
    bool over = false;
    std::thread thread;
  };
  struct PendingCall {
    Json id;
    ToolCall call;
    std::optional<std::string> state;  // as the client carried it
  };
  /// An error of the protocol.
  struct Refusal {
    int code;
    std::string sentence;
    Json data = {};
  };
  using Answer = std::variant<Json, Refusal>;

  void take(const Json& message);
  void take_request(const Json& message);
  void take_notification(const Json& message);
  void take_response(const Json& message);
  void answer(const Json& message, const Peer& peer);

  /// Which era the request is of, and whether it says what its era demands; nothing when it was refused.
  std::optional<Peer> peer_of(const Json& message);
  void initialize(const Json& message);
  void discover(const Json& id);
  void listen(const Json& message);
  void list_tools(const Json& message, const Peer& peer);
  void call_tool(const Json& message, const Peer& peer);

  void start(PendingCall pending);
  void run(const PendingCall& pending, const std::shared_ptr<Running>& running);
  /// Round by round, until there is an answer.
  Answer perform(const PendingCall& pending);
  /// Since 2026-07-28: the client answers by calling again.
  Answer input_required(const Round& round, const Digest& digest);
  /// Before: it is sent requests, whose results are waited for. Those that never came are missing.
  Json ask_client(const std::vector<Question>& questions, const std::stop_token& stop);

  void reply(const Json& id, const Peer& peer, Json result);
  void refuse(const Json& id, int code, std::string_view sentence, Json data = {});
  Json server_info() const;
  void sweep();

  Toolset& tools_;
  RequestStates& states_;
  Outlet& outlet_;
  ConversationOptions options_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Peer> legacy_;  // since initialize
  std::map<std::string, std::shared_ptr<Running>> running_;
  std::set<std::string> listening_;
  std::map<std::string, std::optional<Json>> asked_;  // our own requests
  std::uint64_t asked_so_far_ = 0;
  bool ended_ = false;
};

}  // namespace cordon::serve::mcp
