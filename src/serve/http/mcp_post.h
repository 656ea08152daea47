// The Model Context Protocol over streamable HTTP. Since 2026-07-28 every POST stands for itself; before, `initialize`
// begins a session that later ones name.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "serve/http/events.h"
#include "serve/http/exchange.h"
#include "serve/mcp/conversation.h"

namespace cordon::serve::http {

/// The tools of a caller in a place.
using MakeToolset = std::function<std::unique_ptr<mcp::Toolset>(const Premises& premises, const Caller& caller)>;

class McpPosts {
 public:
  /// All must outlive it.
  McpPosts(mcp::RequestStates& states, Events& events, std::string version, MakeToolset make_tools)
      : states_(states), events_(events), version_(std::move(version)), make_tools_(std::move(make_tools)) {}

  /// Answers one POST and returns when it is answered. On a worker.
  void post(const Premises& premises, const std::shared_ptr<Exchange>& exchange);
  /// DELETE: the end of a session.
  void remove(Exchange& exchange);

 private:
  using Moment = std::chrono::steady_clock::time_point;
  struct Session {
    std::string visitor;
    mcp::Peer peer;
    Moment used{};
    std::uint64_t posts = 0;
    std::set<mcp::Conversation*> open;
  };
  /// What a POST is taken for.
  struct Era {
    bool modern = false;
    std::string session;  // empty: none
    std::string asks_as = "cordon";
    std::optional<mcp::Peer> begun;
  };
  std::optional<Response> place(const Json& message, const Exchange& exchange, Era& era);
  std::optional<Response> join(const Exchange& exchange, Era& era);
  void converse(const Premises& premises, const std::shared_ptr<Exchange>& exchange, const Era& era);
  void deliver(const std::string& session, const std::string& text);
  std::string begin_session(const Exchange& exchange, const mcp::Peer& peer);
  void attend(const std::string& session, mcp::Conversation& conversation, bool there);

  mcp::RequestStates& states_;
  Events& events_;
  std::string version_;
  MakeToolset make_tools_;
  std::mutex lock_;
  std::map<std::string, Session> sessions_;
};

}  // namespace cordon::serve::http
