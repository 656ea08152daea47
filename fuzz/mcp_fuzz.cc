// Any bytes as messages of a client, line by line, in both eras: always an answer or none, never a crash. The tools are
// none of Cordon's: what those do is fuzzed elsewhere, and it would leave traces on this machine.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve/mcp/conversation.h"

namespace {

using namespace cordon;

class Checking : public serve::mcp::Outlet {
 public:
  void send(const Json& message) override {
    if (parse_json(serve::mcp::to_line(message)).is_discarded()) std::abort();
  }
};

/// Asks first, then answers with what it was told.
class Echo : public serve::mcp::Toolset {
 public:
  Result<Json> list() override { return Json::array(); }
  Result<std::optional<serve::mcp::Round>> call(const serve::mcp::ToolCall& call) override {
    if (call.name.empty()) return std::nullopt;
    if (call.progress) call.progress({.done = 1, .message = call.name});
    if (!call.state.is_null() || call.arguments.empty()) {
      return serve::mcp::Round{.result = {{"content", Json::array()}, {"structuredContent", call.replies}}};
    }
    return serve::mcp::Round{
        .questions = {{.key = call.name, .method = "elicitation/create", .params = call.arguments}},
        .lasts = std::chrono::minutes(1)};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const SystemClock clock;
  Echo tools;
  static serve::mcp::RequestStates states("key", clock);
  Checking outlet;
  serve::mcp::Conversation conversation(
      tools, states, outlet,
      {.caller = {.principal = {.user = "me"}}, .version = "0", .bounds = {.depth = 32, .calls = 4}});
  for (std::string_view rest(reinterpret_cast<const char*>(bytes), size); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    conversation.receive(line);
  }
  static_cast<void>(states.take(std::string_view(reinterpret_cast<const char*>(bytes), size), Digest()));
  conversation.end();
  return 0;
}
