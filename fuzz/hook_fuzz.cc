// Any bytes as what an agent sends: read, given a meaning and answered, in every agent's words.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "serve/hook/dialect.h"
#include "serve/hook/meaning.h"
#include "serve/mcp/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace cordon;
  using namespace cordon::serve::hook;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto sent = serve::mcp::read_message(text, {});
  if (!sent || !sent->is_object()) return 0;
  for (const Dialect& dialect : dialects()) {
    const auto asked = dialect.read(*sent);
    if (!asked) {
      if (print_blocked(dialect, asked.error().sentence).exit_code != 2) std::abort();
      continue;
    }
    const Meaning meaning = meaning_of(dialect.agent, asked->tool, asked->input);
    if (meaning.touch == Touch::nothing && !meaning.paths.empty()) std::abort();
    for (const auto kind : {Said::Kind::pass, Said::Kind::allow, Said::Kind::deny}) {
      const Printed printed = print(dialect, *asked, {.kind = kind, .reason = asked->tool, .input = asked->input});
      if (parse_json(printed.out).is_discarded()) std::abort();
    }
  }
  return 0;
}
