// Whatever the bytes: no crash, bounded depth, and what was read can be written as JSON and read again to the same
// value.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/json.h"
#include "base/json5.h"

namespace {

bool has_odd_number(const cordon::json5::Value& value) {
  if (value.kind == cordon::json5::Value::Kind::number && !std::isfinite(value.number)) return true;
  for (const auto& item : value.items) {
    if (has_odd_number(item)) return true;
  }
  for (const auto& member : value.members) {
    if (has_odd_number(member.value)) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto document = cordon::json5::read(text, "fuzz", {.bytes = 1 << 20});
  if (!document) {
    if (!document.error().sentence.starts_with("fuzz:")) std::abort();
    return 0;
  }
  if (has_odd_number(document->root)) return 0;
  const cordon::Json first = cordon::json5::to_json(document->root);
  const std::string written = first.dump();
  const auto again = cordon::json5::read(written, "again", {.bytes = 16 << 20});
  if (!again || cordon::json5::to_json(again->root).dump() != written) std::abort();
  return 0;
}
