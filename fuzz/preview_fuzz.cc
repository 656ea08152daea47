// A stored preview and the journal of a commit may have been damaged in any way: reading never goes wrong, and what is
// read is written and read as the same again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "sandbox/preview/diff.h"
#include "sandbox/preview/journal.h"
#include "sandbox/preview/store.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cordon::sandbox::preview;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 4 == 0) {
    const auto journal = journal_from(text);
    if (journal && journal_from(to_text(*journal)) != *journal) std::abort();
  } else if (data[0] % 4 == 1) {
    const auto list = change_list_from(cordon::parse_json(text));
    if (!list) return 0;
    const auto again = change_list_from(to_json(*list));
    if (!again || again->digest() != list->digest()) std::abort();
    for (const Change& change : list->changes) {
      if (!is_proper_path(change.path)) std::abort();
    }
  } else if (data[0] % 4 == 2) {
    static_cast<void>(preview_from(text));
  } else {
    const std::size_t half = text.size() / 2;
    const auto difference = diff(text.substr(0, half), text.substr(half), {.output_bytes = 4096, .edits = 30});
    if (difference && difference->text.size() > 4096) std::abort();
  }
  return 0;
}
