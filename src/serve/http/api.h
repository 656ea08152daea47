// What each path does. Routes are rows; what takes long is done by the workers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "serve/http/door.h"
#include "serve/http/events.h"
#include "serve/http/mcp_post.h"
#include "serve/http/metrics.h"
#include "serve/http/quota.h"
#include "serve/http/workers.h"
#include "serve/service.h"

namespace cordon::serve::http {

struct ApiOptions {
  std::string version;
  DoorOptions door;
  QuotaLimits quota;
  std::size_t workers = 256;
  /// Where the tools work for who has this workspace; guards are the service's.
  std::function<Result<PremisesOptions>(const std::string& workspace)> place;
  MakeToolset make_tools = {};  // for MCP; empty: Cordon's own
};

class Api {
 public:
  /// All must outlive it.
  static Result<std::unique_ptr<Api>> open(ApiOptions options, Service& service, const Clock& clock);

  /// Before the body is read: who it is, or the refusal.
  std::variant<Visitor, Response> admit(const Head& head, const Entrance& entrance);
  /// Never waits.
  void answer(const std::shared_ptr<Exchange>& exchange);
  /// Ends every stream that has no end of its own.
  void end_streams() { events_->close(); }
  void count_connections(std::size_t now) { connections_ = now; }
  /// It was answered.
  void note(const Exchange& exchange, std::chrono::nanoseconds took);

 private:
  struct Route;
  static const Route* route_of(std::string_view path);
  Api(ApiOptions options, Service& service, const Clock& clock, std::string key);

  void health(const std::shared_ptr<Exchange>& exchange);
  void show_metrics(const std::shared_ptr<Exchange>& exchange);
  void show_openapi(const std::shared_ptr<Exchange>& exchange);
  void listen(const std::shared_ptr<Exchange>& exchange);
  void use_tool(const std::shared_ptr<Exchange>& exchange);
  void use_mcp(const std::shared_ptr<Exchange>& exchange);
  Result<std::shared_ptr<const Premises>> premises_of(const std::string& workspace);

  ApiOptions options_;
  Service& service_;
  const Clock& clock_;
  TokenCheck tokens_;
  Door door_;
  Quota quota_;
  Metrics metrics_;
  std::atomic<std::size_t> connections_ = 0;
  mcp::RequestStates states_;
  std::mutex lock_;
  std::map<std::string, std::shared_ptr<const Premises>> premises_;
  std::unique_ptr<Events> events_;
  std::unique_ptr<McpPosts> mcp_;
  Workers workers_;  // last: what they do uses all the rest
};

}  // namespace cordon::serve::http
