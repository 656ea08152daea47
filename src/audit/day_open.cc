#include "audit/day_open.h"

#include "base/json.h"

namespace cordon::audit {

std::optional<Tree> parse_day_open(std::string_view line) {
  const Json json = parse_json(line);
  if (!json.is_object() || json.value("kind", Json()) != "day.open") return std::nullopt;
  const Json detail = json.value("detail", Json());
  if (!detail.is_object() || !detail.value("size", Json()).is_number_unsigned()) return std::nullopt;
  const Json frontier = detail.value("frontier", Json());
  if (!frontier.is_array()) return std::nullopt;
  std::vector<Digest> peaks;
  for (const Json& hash : frontier) {
    const auto peak = hash.is_string() ? Digest::from_hex(hash.get<std::string>()) : std::nullopt;
    if (!peak) return std::nullopt;
    peaks.push_back(*peak);
  }
  auto tree = Tree::from_peaks(detail["size"].get<std::uint64_t>(), std::move(peaks));
  if (!tree || detail.value("root", Json()) != tree->root().hex()) return std::nullopt;
  return tree;
}

}  // namespace cordon::audit
