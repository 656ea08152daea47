#include "audit/tail.h"

#include <charconv>

namespace cordon::audit {

namespace {

constexpr std::string_view checksum_key = "sha256 ";

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Takes the text up to the next `until` off the front.
std::string_view take(std::string_view& text, char until) {
  const auto end = text.find(until);
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

}  // namespace

std::string frontier_text(const Tail& tail) {
  std::string text = fmt::format("cordon-frontier-1\n{}\n{} {}\n{}\n{}\n{} {}\n{}\n{}", tail.day, tail.bytes,
                                 tail.last_length, tail.last_leaf.hex(), to_rfc3339(tail.last_time),
                                 tail.day_start.size, tail.day_start.root.hex(), tail.boot, tail.tree.size());
  for (const Digest& peak : tail.tree.peaks()) text += " " + peak.hex();
  text += '\n';
  return fmt::format("{}{}{}\n", text, checksum_key, sha256(text).hex());
}

std::optional<Tail> parse_frontier(std::string_view text) {
  const auto checksum = text.find(std::string("\n") + std::string(checksum_key));
  if (checksum == std::string_view::npos) return std::nullopt;
  const std::string_view body = text.substr(0, checksum + 1);
  if (text.substr(body.size() + checksum_key.size(), 65) != sha256(body).hex() + "\n") return std::nullopt;

  std::string_view rest = body;
  if (take(rest, '\n') != "cordon-frontier-1") return std::nullopt;
  Tail tail;
  tail.day = take(rest, '\n');
  const auto bytes = number(take(rest, ' '));
  const auto length = number(take(rest, '\n'));
  const auto leaf = Digest::from_hex(take(rest, '\n'));
  const auto time = from_rfc3339(take(rest, '\n'));
  const auto start = number(take(rest, ' '));
  const auto start_root = Digest::from_hex(take(rest, '\n'));
  tail.boot = take(rest, '\n');
  std::string_view peaks_line = take(rest, '\n');
  const auto size = number(take(peaks_line, ' '));
  if (!bytes || !length || !leaf || !time || !start || !start_root || !size) return std::nullopt;
  std::vector<Digest> peaks;
  while (!peaks_line.empty()) {
    const auto peak = Digest::from_hex(take(peaks_line, ' '));
    if (!peak) return std::nullopt;
    peaks.push_back(*peak);
  }
  auto tree = Tree::from_peaks(*size, std::move(peaks));
  if (!tree) return std::nullopt;
  tail.bytes = *bytes;
  tail.last_length = *length;
  tail.last_leaf = *leaf;
  tail.last_time = *time;
  tail.day_start = {*start, *start_root};
  tail.tree = *std::move(tree);
  return tail;
}

std::optional<LineEnds> line_ends(std::string_view line) {
  constexpr std::string_view time_key = "{\"timestamp\":\"";
  constexpr std::string_view seq_key = ",\"seq\":";
  constexpr std::string_view prev_key = ",\"prev\":\"";
  constexpr std::size_t time_length = 27;
  if (!line.starts_with(time_key) || !line.ends_with("\"}")) return std::nullopt;
  const auto time = from_rfc3339(line.substr(time_key.size(), time_length));
  // Inside a JSON string a quote has a backslash before it, so this is the key and nothing that a command said.
  const auto seq_at = line.find(seq_key);
  if (!time || seq_at == std::string_view::npos) return std::nullopt;
  std::string_view after_seq = line.substr(seq_at + seq_key.size());
  const auto seq = number(take(after_seq, ','));
  if (line.size() < prev_key.size() + 66) return std::nullopt;
  const std::string_view end = line.substr(line.size() - prev_key.size() - 66);
  const auto prev = Digest::from_hex(end.substr(prev_key.size(), 64));
  if (!seq || !prev || !end.starts_with(prev_key)) return std::nullopt;
  return LineEnds{*time, *seq, *prev};
}

bool is_day(std::string_view text) { return text.size() == 10 && from_rfc3339(text).has_value(); }

std::string next_day(const std::string& day) { return day_of(*from_rfc3339(day) + std::chrono::hours(24)); }

}  // namespace cordon::audit
