#include "serve/http/tool_call.h"

#include <algorithm>
#include <mutex>

#include "base/text.h"
#include "serve/mcp/message.h"
#include "serve/tools/tool.h"

namespace cordon::serve::http {

namespace {

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The answer as events. Output and progress come from different threads.
class CallStream {
 public:
  explicit CallStream(Exchange& exchange) : exchange_(exchange) { exchange_.begin({.type = "text/event-stream"}); }

  void print(sandbox::Stream stream, std::string_view bytes) {
    const std::lock_guard lock(lock_);
    tell(stream, pieces_[index_of(stream)].add(bytes));
  }
  void report(const Progress& progress) {
    const std::lock_guard lock(lock_);
    exchange_.write(sse_event("progress", to_text({{"done", progress.done}, {"message", progress.message}})));
  }
  void finish(std::string_view event, const Json& answer) {
    const std::lock_guard lock(lock_);
    for (const sandbox::Stream stream : {sandbox::Stream::out, sandbox::Stream::err}) {
      tell(stream, pieces_[index_of(stream)].rest());
    }
    exchange_.write(sse_event(event, to_text(answer)));
    exchange_.end();
  }

 private:
  static std::size_t index_of(sandbox::Stream stream) { return stream == sandbox::Stream::out ? 0 : 1; }
  void tell(sandbox::Stream stream, const std::string& text) {
    if (text.empty()) return;
    const char* name = stream == sandbox::Stream::out ? "stdout" : "stderr";
    exchange_.write(sse_event("output", to_text({{"stream", name}, {"text", text}})));
  }

  Exchange& exchange_;
  std::mutex lock_;
  TextPieces pieces_[2];
};

Result<Json> arguments_in(const std::string& body) {
  if (trim(body).empty()) return Json::object();
  auto arguments = mcp::read_message(body, {.message_bytes = body.size()});
  if (!arguments) return fail(Fault::invalid_input, "the body is not JSON that can be read");
  return arguments;
}

}  // namespace

std::string TextPieces::add(std::string_view bytes) {
  std::string text = std::exchange(kept_, {}) + std::string(bytes);
  // At most three bytes of one character can be missing their end.
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto lead = static_cast<unsigned char>(text[text.size() - back]);
    if ((lead & 0xC0U) == 0x80U) continue;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length > back) {
      kept_ = text.substr(text.size() - back);
      text.resize(text.size() - back);
    }
    break;
  }
  return text;
}

void call_tool(std::string_view name, const Premises& premises, Exchange& exchange, Metrics& metrics) {
  const Caller& caller = exchange.visitor.caller;
  const auto settings = premises.settings();
  if (!settings) return exchange.finish(error_response(settings.error()));
  const Tool* tool = find_tool(name, caller, **settings);
  if (tool == nullptr) {
    return exchange.finish(error_response(404, "unknown_tool", "there is no such tool", "See /v1/openapi.json."));
  }
  const auto arguments = arguments_in(exchange.request.body);
  if (!arguments) return exchange.finish(error_response(arguments.error()));
  if (const auto wrong = check(*arguments, tool->arguments); !wrong)
    return exchange.finish(error_response(wrong.error()));
  metrics.called(tool->name);
  Call call{.caller = caller, .arguments = *arguments, .progress = {}, .stop = exchange.stop()};
  if (!exchange.request.head.names_type("accept", "text/event-stream")) {
    const auto answer = serve::call_tool(*tool, premises, call);
    return exchange.finish(answer ? json_response(200, *answer) : error_response(answer.error()));
  }
  CallStream stream(exchange);
  call.progress = [&](const Progress& progress) { stream.report(progress); };
  call.output = [&](sandbox::Stream which, std::string_view bytes) { stream.print(which, bytes); };
  const auto answer = serve::call_tool(*tool, premises, call);
  if (answer) return stream.finish("result", *answer);
  stream.finish("error", parse_json(error_response(answer.error()).body)["error"]);
}

}  // namespace cordon::serve::http
