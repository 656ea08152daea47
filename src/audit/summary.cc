#include "audit/summary.h"

#include <algorithm>
#include <vector>

#include "audit/tree.h"
#include "audit/verify/line_view.h"
#include "base/json.h"

namespace cordon::audit {

namespace {

constexpr int version = 1;
constexpr std::size_t most_commands = 8192;
constexpr std::size_t most_users = 1024;
constexpr std::size_t largest_file = 16 << 20;
constexpr std::size_t longest_command = 200;

using Counts = std::map<std::string, std::uint64_t>;

void count(Counts& counts, const std::string& key, std::uint64_t number, std::size_t most) {
  const auto found = counts.find(key);
  if (found != counts.end()) {
    found->second += number;
  } else if (counts.size() < most) {
    counts.emplace(key, number);
  } else {
    counts["(others)"] += number;
  }
}

/// Forgets the rarer half.
void thin_out(Counts& counts) {
  std::vector<std::uint64_t> numbers;
  for (const auto& [key, number] : counts) numbers.push_back(number);
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2), numbers.end());
  const std::uint64_t middle = numbers[numbers.size() / 2];
  std::erase_if(counts, [&](const auto& entry) { return entry.second <= middle; });
}

void count_command(Counts& counts, const std::string& command, std::uint64_t number) {
  counts[command.substr(0, longest_command)] += number;
  if (counts.size() > most_commands) thin_out(counts);
}

class Counter {
 public:
  explicit Counter(Summary& summary) : summary_(summary) {}

  void look_at(std::string_view line) {
    if (!read_members(line, members_) || members_.size() < 9) return;
    const std::string_view kind = *between_quotes(value_of(members_, "kind"));
    const std::string risk = unescaped(value_of(members_, "risk"));
    if (!risk.empty()) ++summary_.lines_by_risk[risk];
    if (kind == "day.open" || kind == "gap" || kind == "retention" || kind == "start" || kind == "stop") return;
    if (kind != "intent") count(summary_.by_status, unescaped(value_of(members_, "status")), 1, most_users);
    const bool queued_before = !value_of(members_, "approval").empty();
    const bool counts = kind == "approval.requested" || ((kind == "intent" || kind == "refused") && !queued_before);
    if (!counts) return;
    ++summary_.commands;
    if (!risk.empty()) ++summary_.by_risk[risk];
    count(summary_.by_user, unescaped(value_of(members_, "user")), 1, most_users);
    count_command(summary_.by_command, unescaped(value_of(members_, "command")), 1);
    const std::string time(between_quotes(members_[0].value).value_or(""));
    if (summary_.first_time.empty()) summary_.first_time = time;
    summary_.last_time = time;
  }

 private:
  Summary& summary_;
  std::vector<Member> members_;
};

Json to_json(const Summary& summary, const std::string& last_leaf) {
  return {{"version", version},
          {"bytes", summary.bytes},
          {"last", last_leaf},
          {"first_time", summary.first_time},
          {"last_time", summary.last_time},
          {"commands", summary.commands},
          {"by_risk", summary.by_risk},
          {"by_user", summary.by_user},
          {"by_command", summary.by_command},
          {"by_status", summary.by_status},
          {"lines_by_risk", summary.lines_by_risk}};
}

struct Kept {
  Summary summary;
  std::string last_leaf;
};

/// Nothing for anything that is not wholly as we wrote it.
std::optional<Kept> from_json(const Json& json) {
  if (!json.is_object() || json.value("version", Json()) != version) return std::nullopt;
  try {
    Kept kept;
    kept.summary.bytes = json.at("bytes").get<std::uint64_t>();
    kept.last_leaf = json.at("last").get<std::string>();
    kept.summary.first_time = json.at("first_time").get<std::string>();
    kept.summary.last_time = json.at("last_time").get<std::string>();
    kept.summary.commands = json.at("commands").get<std::uint64_t>();
    kept.summary.by_risk = json.at("by_risk").get<Counts>();
    kept.summary.by_user = json.at("by_user").get<Counts>();
    kept.summary.by_command = json.at("by_command").get<Counts>();
    kept.summary.by_status = json.at("by_status").get<Counts>();
    kept.summary.lines_by_risk = json.at("lines_by_risk").get<Counts>();
    return kept;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// Counted up to `bytes`, and the line before that place is still the one that was counted last.
Result<std::optional<Kept>> read_kept(const sys::Directory& directory, const DayReader& day) {
  const auto text = directory.read("index/" + day.day(), largest_file);
  if (!text || !*text) return std::nullopt;
  auto kept = from_json(parse_json(**text));
  if (!kept || kept->summary.bytes > day.size()) return std::nullopt;
  std::string last_leaf;
  CHECK_OK(day.backwards_from(kept->summary.bytes, [&](std::string_view line, std::uint64_t) {
    last_leaf = leaf_hash(line).hex();
    return Continue::no;
  }));
  if (last_leaf != kept->last_leaf) return std::nullopt;
  return kept;
}

}  // namespace

void Summary::add(const Summary& other) {
  if (first_time.empty() || (!other.first_time.empty() && other.first_time < first_time)) first_time = other.first_time;
  last_time = std::max(last_time, other.last_time);
  commands += other.commands;
  for (const auto& [key, number] : other.by_risk) by_risk[key] += number;
  for (const auto& [key, number] : other.by_user) count(by_user, key, number, most_users);
  for (const auto& [key, number] : other.by_command) count_command(by_command, key, number);
  for (const auto& [key, number] : other.by_status) count(by_status, key, number, most_users);
  for (const auto& [key, number] : other.lines_by_risk) lines_by_risk[key] += number;
}

void count_line(Summary& summary, std::string_view line) { Counter(summary).look_at(line); }

Result<Summary> summary_of(const sys::Directory& directory, const DayReader& day) {
  const auto kept = TRY(read_kept(directory, day));
  Summary summary = kept ? kept->summary : Summary{};
  if (kept && summary.bytes == day.size()) return summary;
  Counter counter(summary);
  std::string last_line;
  const std::uint64_t begin = summary.bytes;
  CHECK_OK(day.forwards(begin, [&](std::string_view line, std::uint64_t offset) {
    counter.look_at(line);
    summary.bytes = offset + line.size() + 1;
    if (summary.bytes == day.size()) last_line = line;
    return Continue::yes;
  }));
  // Not kept is only slower.
  if (summary.bytes == day.size() && day.size() - begin >= (64 << 10) && directory.make_directory("index")) {
    (void)directory.replace_cached("index/" + day.day(), to_json(summary, leaf_hash(last_line).hex()).dump());
  }
  return summary;
}

}  // namespace cordon::audit
