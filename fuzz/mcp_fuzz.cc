// Any bytes as messages of a client, line by line, in both eras: always an answer or none, never a crash. Tools are not
// called: what they do is fuzzed elsewhere, and it would leave traces on this machine.
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const SystemClock clock;
  static const serve::Premises premises({.sources = {.workspace = "/nonexistent/work", .home = "/nonexistent"}}, clock);
  static serve::mcp::RequestStates states("key", clock);
  Checking outlet;
  serve::mcp::Conversation conversation(
      premises, states, outlet, {.caller = {.principal = {.user = "me"}}, .version = "0", .bounds = {.depth = 32}});
  for (std::string_view rest(reinterpret_cast<const char*>(bytes), size); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.find("tools/call") != std::string_view::npos) continue;
    conversation.receive(line);
  }
  static_cast<void>(states.take(std::string_view(reinterpret_cast<const char*>(bytes), size), Digest()));
  conversation.end();
  return 0;
}
