// Any bytes as a client's: read whole or in pieces they are the same requests and refusals; and every other text of the
// HTTP interface that is taken apart by hand.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve/http/door.h"
#include "serve/http/message.h"
#include "serve/http/reader.h"
#include "serve/http/tool_call.h"
#include "serve/mcp/message.h"
#include "serve/token.h"
#include "serve/tools/tool.h"

namespace {

using namespace cordon;
using namespace cordon::serve::http;

void demand(bool holds) {
  if (!holds) std::abort();
}

/// What a connection would make of the bytes when they come `piece` at a time.
std::string story(std::string_view bytes, std::size_t piece) {
  std::string told;
  std::string inbox;
  const ReaderBounds bounds{.head_bytes = 1024, .body_bytes = 512};
  auto reader = std::make_unique<RequestReader>(bounds);
  for (;;) {
    const RequestReader::Step step = reader->step(inbox);
    if (step == RequestReader::Step::more) {
      if (bytes.empty()) return told;
      inbox += bytes.substr(0, piece);
      bytes.remove_prefix(std::min(piece, bytes.size()));
      continue;
    }
    if (step == RequestReader::Step::broken) {
      demand(reader->refusal().close && reader->refusal().status >= 400);
      return told + "refused " + std::to_string(reader->refusal().status);
    }
    if (step == RequestReader::Step::head) {
      demand(reader->head().path.starts_with('/'));
      continue;
    }
    const serve::http::Request request = reader->take();
    demand(request.body.size() <= bounds.body_bytes);
    demand(request.head.count("content-length") + request.head.count("transfer-encoding") <= 1);
    demand(request.head.count("host") == 1);
    told += request.head.method + " " + request.head.path + "?" + request.head.query + "\n" + request.body + "\n";
    static_cast<void>(request.head.names_type("accept", "text/event-stream"));
    reader = std::make_unique<RequestReader>(bounds);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size > 8192) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::string whole = story(text, 8192);
  demand(whole == story(text, 1) || whole.find("refused") != std::string::npos);
  demand(story(text, 7).starts_with(whole.substr(0, whole.rfind("refused"))));

  const auto id = serve::id_in(text);
  demand(!id || (id->size() == 20 && id->starts_with("tok_")));
  if (const auto token = bearer(text)) demand(!token->empty() && token->find(' ') == std::string_view::npos);
  if (const auto host = split_host(text)) demand(!host->host.empty());

  // However it was cut, an event is one event: its data never begins a line of its own.
  const std::string event = sse_event("output", text);
  for (std::string_view rest = event; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    demand(line.empty() || line.starts_with("data: ") || line == "event: output");
    demand(line.find('\r') == std::string_view::npos);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }

  TextPieces pieces;
  std::string joined;
  for (std::size_t at = 0; at < text.size(); at += 3) joined += pieces.add(text.substr(at, 3));
  demand(joined + pieces.rest() == text);

  if (const auto body = serve::mcp::read_message(text, {.depth = 32})) {
    for (const serve::Tool& tool : serve::all_tools()) static_cast<void>(serve::check(*body, tool.arguments));
  }
  return 0;
}
