// Reads one JSON5 document per line (base64) and prints for each its value, or "refused: why". Values are spelled so
// that nothing is lost on the way: ["n", "bits"] for numbers, ["s", …], ["a", […]], ["o", [[key, value]…]], null, true,
// false.
#include <bit>
#include <iostream>
#include <string>

#include "base/digest.h"
#include "base/json.h"
#include "base/json5.h"

namespace {

using cordon::Json;
using cordon::json5::Value;

Json spelled(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return nullptr;
    case Value::Kind::boolean:
      return value.boolean;
    case Value::Kind::number: {
      const bool nan = value.number != value.number;
      return Json::array({"n", nan ? "NaN" : fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value.number))});
    }
    case Value::Kind::string:
      return Json::array({"s", value.string});
    case Value::Kind::array: {
      Json items = Json::array();
      for (const Value& item : value.items) items.push_back(spelled(item));
      return Json::array({"a", items});
    }
    case Value::Kind::object: {
      Json members = Json::array();
      for (const auto& member : value.members) members.push_back(Json::array({member.key, spelled(member.value)}));
      return Json::array({"o", members});
    }
  }
  return nullptr;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto text = cordon::from_base64(line);
    if (!text) return 1;
    const auto document = cordon::json5::read(*text, "document", {.bytes = 1 << 20});
    if (document) {
      std::cout << spelled(document->root).dump() << "\n";
    } else {
      std::cout << "refused: " << document.error().sentence << "\n";
    }
  }
}
