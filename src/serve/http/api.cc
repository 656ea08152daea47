#include "serve/http/api.h"

#include <algorithm>
#include <array>

#include "approve/queue.h"
#include "base/text.h"
#include "serve/http/openapi.h"
#include "serve/http/tool_call.h"
#include "serve/mcp/own_tools.h"

namespace cordon::serve::http {

namespace {

constexpr std::string_view tools_path = "/v1/tools/";
constexpr std::string_view nobody = "nobody";  // who has shown nothing yet counts as one
constexpr std::size_t most_premises = 256;

}  // namespace

struct Api::Route {
  std::string_view path;  // one that ends in a slash takes what begins with it
  std::string_view method;
  std::string_view other_method;  // empty: none
  bool open;                      // without a token
  bool takes_worker;
  void (Api::*answer)(const std::shared_ptr<Exchange>& exchange);
};

const Api::Route* Api::route_of(std::string_view path) {
  static constexpr std::array<Route, 6> routes = {{
      {"/healthz", "GET", "", true, false, &Api::health},
      {"/metrics", "GET", "", false, true, &Api::show_metrics},
      {"/v1/events", "GET", "", false, false, &Api::listen},
      {"/v1/openapi.json", "GET", "", false, true, &Api::show_openapi},
      {tools_path, "POST", "", false, true, &Api::use_tool},
      {"/mcp", "POST", "DELETE", false, true, &Api::use_mcp},
  }};
  for (const Route& route : routes) {
    if (route.path == path || (route.path.ends_with('/') && path.starts_with(route.path))) return &route;
  }
  return nullptr;
}

Result<std::unique_ptr<Api>> Api::open(ApiOptions options, Service& service, const Clock& clock) {
  std::unique_ptr<Api> api(new Api(std::move(options), service, clock, TRY(random_bytes(32))));
  api->events_ = TRY(Events::follow(service.sources().state_dir + "/audit", api->tokens_));
  MakeToolset make_tools = api->options_.make_tools;
  if (!make_tools) {
    make_tools = [](const Premises& premises, const Caller& caller) {
      return std::make_unique<mcp::OwnTools>(premises, caller);
    };
  }
  api->mcp_ = std::make_unique<McpPosts>(api->states_, *api->events_, api->options_.version, std::move(make_tools));
  return api;
}

Api::Api(ApiOptions options, Service& service, const Clock& clock, std::string key)
    : options_(std::move(options)),
      service_(service),
      clock_(clock),
      tokens_(service.sources().state_dir, clock),
      door_(options_.door, tokens_),
      quota_(options_.quota),
      states_(std::move(key), clock),
      workers_(options_.workers) {}

std::variant<Visitor, Response> Api::admit(const Head& head, const Entrance& entrance) {
  const auto refuse = [this](const char* why, Response response) {
    metrics_.refused(why);
    response.close = true;
    return response;
  };
  if (auto wrong = door_.wrong_place(head, entrance)) return refuse("place", *std::move(wrong));
  const Route* route = route_of(head.path);
  std::variant<Visitor, Response> came = Visitor{.key = std::string(nobody)};
  if (route == nullptr || !route->open) came = door_.visitor(head, entrance);
  const auto* visitor = std::get_if<Visitor>(&came);
  const auto wait = quota_.ask(visitor == nullptr ? std::string(nobody) : visitor->key, Quota::Moment::clock::now());
  if (wait) {
    return refuse("rate",
                  busy_response(429, "too_many_requests", "more requests came than are allowed in a second", *wait));
  }
  if (visitor == nullptr) return refuse("token", std::get<Response>(std::move(came)));
  if (route == nullptr) {
    return refuse("path", error_response(404, "not_found", "there is nothing here", "See /v1/openapi.json."));
  }
  if (head.method != route->method && (route->other_method.empty() || head.method != route->other_method)) {
    Response response = error_response(405, "method_not_allowed", "this is not done with that method",
                                       fmt::format("Use {}.", route->method));
    response.fields.emplace_back("Allow", route->other_method.empty()
                                              ? std::string(route->method)
                                              : fmt::format("{}, {}", route->method, route->other_method));
    return refuse("method", std::move(response));
  }
  // A page can send forms to anywhere, but not JSON.
  if (head.method == "POST" && !head.names_type("content-type", "application/json")) {
    return refuse("type", error_response(415, "unsupported_media_type", "the body must be application/json",
                                         "Send Content-Type: application/json."));
  }
  return came;
}

void Api::answer(const std::shared_ptr<Exchange>& exchange) {
  const Route* route = route_of(exchange->request.head.path);
  if (route == nullptr) return exchange->finish(error_response(404, "not_found", "there is nothing here", ""));
  if (!route->takes_worker) return (this->*route->answer)(exchange);
  auto call = quota_.begin_call(exchange->visitor.key);
  if (!call) {
    return exchange->finish(busy_response(429, "too_many_calls", "too many calls of yours are under way", 1));
  }
  const bool taken = workers_.give([this, route, exchange, call = std::move(call)] {
    try {
      (this->*route->answer)(exchange);
    } catch (const std::exception&) {
      // Out of memory, say: one request's trouble is not the others'.
      exchange->finish(error_response(Error{Fault::internal, "the request could not be answered"}));
      exchange->end();
    }
  });
  if (!taken) exchange->finish(busy_response(503, "busy", "the server is busy", 1));
}

void Api::note(const Exchange& exchange, std::chrono::nanoseconds took) {
  const Route* route = route_of(exchange.request.head.path);
  if (route != nullptr && exchange.status() != 0 && !exchange.is_endless())
    metrics_.answered(route->path, exchange.status(), took);
}

void Api::health(const std::shared_ptr<Exchange>& exchange) {
  exchange->finish(json_response(200, {{"status", "ok"}, {"version", options_.version}}));
}

void Api::show_metrics(const std::shared_ptr<Exchange>& exchange) {
  // They tell of everyone.
  if (exchange->visitor.caller.role == Role::agent) {
    return exchange->finish(error_response(Error{Fault::denied, "metrics are for an auditor or an approver"}));
  }
  Metrics::Now now{.version = options_.version,
                   .connections = connections_,
                   .calls = quota_.calls(),
                   .listeners = events_->listeners()};
  if (auto queue = approve::Queue::open(service_.sources().state_dir, clock_, {})) {
    if (const auto pending = queue->list(approve::State::pending)) now.pending = pending->size();
  }
  exchange->finish({.type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics_.text(now)});
}

void Api::show_openapi(const std::shared_ptr<Exchange>& exchange) {
  const auto premises = premises_of(exchange->visitor.workspace);
  if (!premises) return exchange->finish(error_response(premises.error()));
  const auto settings = (*premises)->settings();
  if (!settings) return exchange->finish(error_response(settings.error()));
  exchange->finish(json_response(200, openapi(tools_for(exchange->visitor.caller, **settings), options_.version)));
}

void Api::listen(const std::shared_ptr<Exchange>& exchange) { events_->listen(exchange, Events::Wants::records); }

void Api::use_tool(const std::shared_ptr<Exchange>& exchange) {
  const auto premises = premises_of(exchange->visitor.workspace);
  if (!premises) return exchange->finish(error_response(premises.error()));
  call_tool(exchange->request.head.path.substr(tools_path.size()), **premises, *exchange, metrics_);
}

void Api::use_mcp(const std::shared_ptr<Exchange>& exchange) {
  if (exchange->request.head.method == "DELETE") return mcp_->remove(*exchange);
  const auto premises = premises_of(exchange->visitor.workspace);
  if (!premises) return exchange->finish(error_response(premises.error()));
  mcp_->post(**premises, exchange);
}

Result<std::shared_ptr<const Premises>> Api::premises_of(const std::string& workspace) {
  const std::lock_guard lock(lock_);
  if (const auto found = premises_.find(workspace); found != premises_.end()) return found->second;
  PremisesOptions options = TRY(options_.place(workspace));
  options.open_guard = [this](const cordon::Request& request) { return service_.guard_for(request); };
  options.rules = service_.rules();
  auto premises = std::make_shared<const Premises>(std::move(options), clock_);
  if (premises_.size() >= most_premises) premises_.clear();
  premises_.emplace(workspace, premises);
  return premises;
}

}  // namespace cordon::serve::http
