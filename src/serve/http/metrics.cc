#include "serve/http/metrics.h"

#include <fmt/format.h>

namespace cordon::serve::http {

namespace {

// Labels are names of ours: routes and tools of the tables, never what a request says.
void head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void gauge(std::string& text, std::string_view name, std::size_t value, std::string_view help) {
  head(text, name, "gauge", help);
  text += fmt::format("{} {}\n", name, value);
}

}  // namespace

void Metrics::answered(std::string_view route, unsigned status, std::chrono::nanoseconds took) {
  const double seconds = std::chrono::duration<double>(took).count();
  const std::lock_guard lock(lock_);
  ++answers_[{std::string(route), status}];
  Times& times = times_[std::string(route)];
  for (std::size_t i = 0; i < edges.size(); ++i) times.under[i] += seconds <= edges[i] ? 1 : 0;
  ++times.count;
  times.seconds += seconds;
}

void Metrics::called(std::string_view tool) {
  const std::lock_guard lock(lock_);
  ++calls_[std::string(tool)];
}

void Metrics::refused(std::string_view why) {
  const std::lock_guard lock(lock_);
  ++refusals_[std::string(why)];
}

std::string Metrics::text(const Now& now) const {
  const std::lock_guard lock(lock_);
  std::string text;
  head(text, "cordon_build_info", "gauge", "The version that runs.");
  text += fmt::format("cordon_build_info{{version=\"{}\"}} 1\n", now.version);
  gauge(text, "cordon_http_connections", now.connections, "Open connections.");
  gauge(text, "cordon_calls_active", now.calls, "Calls of tools that are under way.");
  gauge(text, "cordon_event_listeners", now.listeners, "Clients that listen to events.");
  gauge(text, "cordon_queue_pending", now.pending, "Requests that wait for a person.");
  head(text, "cordon_http_responses_total", "counter", "Answers, by route and status.");
  for (const auto& [key, count] : answers_) {
    text += fmt::format("cordon_http_responses_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  }
  head(text, "cordon_http_refusals_total", "counter", "Requests that got no further than the door, by reason.");
  for (const auto& [why, count] : refusals_) {
    text += fmt::format("cordon_http_refusals_total{{reason=\"{}\"}} {}\n", why, count);
  }
  head(text, "cordon_tool_calls_total", "counter", "Calls, by tool.");
  for (const auto& [tool, count] : calls_) {
    text += fmt::format("cordon_tool_calls_total{{tool=\"{}\"}} {}\n", tool, count);
  }
  head(text, "cordon_http_request_seconds", "histogram", "From the whole request to the end of its answer, by route.");
  for (const auto& [route, times] : times_) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      text += fmt::format("cordon_http_request_seconds_bucket{{route=\"{}\",le=\"{}\"}} {}\n", route, edges[i],
                          times.under[i]);
    }
    text += fmt::format("cordon_http_request_seconds_bucket{{route=\"{}\",le=\"+Inf\"}} {}\n", route, times.count);
    text += fmt::format("cordon_http_request_seconds_sum{{route=\"{}\"}} {}\n", route, times.seconds);
    text += fmt::format("cordon_http_request_seconds_count{{route=\"{}\"}} {}\n", route, times.count);
  }
  return text;
}

}  // namespace cordon::serve::http
