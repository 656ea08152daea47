// What a client sends may be anything: it is read as a question or refused, and a question means the same when it is
// said again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serve/socket/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cordon;
  using namespace cordon::serve::socket;
  const Json body = Json::parse(std::string_view(reinterpret_cast<const char*>(data), size), nullptr, false);
  if (!body.is_object()) return 0;
  const config::Sources world;
  static_cast<void>(stranger(body, world));
  const auto question = decode(body);
  if (!question || question->verb == Verb::ping) return 0;
  const auto again = decode(encode(*question, world));
  if (!again || again->verb != question->verb || again->request.cwd != question->request.cwd ||
      again->request.asker.agent != question->request.asker.agent || again->input != question->input ||
      again->passed != question->passed) {
    std::abort();
  }
  if (question->request.snippet && again->request.snippet->code != question->request.snippet->code) std::abort();
  return 0;
}
