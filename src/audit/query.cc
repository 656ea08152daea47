#include "audit/query.h"

#include <algorithm>

#include "audit/redactor.h"
#include "audit/sieve.h"
#include "audit/store.h"
#include "base/json.h"
#include "base/text.h"

namespace cordon::audit {

namespace {

/// Where a blob of this line may be: it is filed by the day on which it was made, which at midnight may be another.
std::vector<std::string> blob_places(const Json& line, const char* key) {
  const Json commit = line.value(key, Json());
  const auto time = from_rfc3339(line.value("timestamp", std::string()));
  std::vector<std::string> places;
  if (!commit.is_string() || !time || !Digest::from_hex(commit.get<std::string>())) return places;
  for (const int shift : {0, -24, 24}) {
    places.push_back(fmt::format("output/{}/{}", day_of(*time + std::chrono::hours(shift)), commit.get<std::string>()));
  }
  return places;
}

}  // namespace

Result<std::vector<std::string>> last_lines(const std::string& path, const Filter& filter, std::size_t count) {
  const sys::Directory directory = TRY(open_directory(path));
  Sieve sieve(filter);
  std::vector<std::string> found;
  const auto days = days_among(TRY(directory.list()), ".jsonl");
  for (auto day = days.rbegin(); day != days.rend() && found.size() < count; ++day) {
    if (!sieve.wants_day(*day)) continue;
    const auto reader = TRY(DayReader::open(directory, *day));
    if (!reader || !TRY(sieve.may_hold(directory, *reader))) continue;
    CHECK_OK(reader->backwards([&](std::string_view line, std::uint64_t) {
      if (found.size() == count || sieve.is_before(line)) return Continue::no;
      if (sieve.lets_through(line)) found.emplace_back(line);
      return found.size() == count ? Continue::no : Continue::yes;
    }));
  }
  std::reverse(found.begin(), found.end());
  return found;
}

Result<std::vector<Json>> last_records(const std::string& path, const Filter& filter, std::size_t count) {
  std::vector<Json> records;
  for (const std::string& line : TRY(last_lines(path, filter, count))) {
    records.push_back(parse_json(line));
  }
  return records;
}

Json records_json(const std::vector<std::string>& lines) {
  Json entries = Json::array();
  for (const std::string& line : lines) entries.push_back(parse_json(line));
  return {{"entries", std::move(entries)}, {"count", lines.size()}};
}

Result<std::optional<std::string>> record_line(const std::string& path, std::uint64_t seq) {
  const sys::Directory directory = TRY(open_directory(path));
  const auto days = days_among(TRY(directory.list()), ".jsonl");
  for (auto day = days.rbegin(); day != days.rend(); ++day) {
    const auto reader = TRY(DayReader::open(directory, *day));
    if (!reader || reader->size() == 0 || TRY(reader->first_seq()) > seq) continue;
    const std::uint64_t offset = TRY(reader->offset_of_seq(seq));
    if (offset == reader->size()) return std::nullopt;
    return TRY(reader->line_at(offset));
  }
  return std::nullopt;
}

namespace {

/// Looks for the records of one request around one of them.
class RequestSearch {
 public:
  RequestSearch(const sys::Directory& directory, std::string_view line, const std::vector<Member>& members)
      : directory_(directory), line_(line) {
    filter_.holds = fmt::format(",\"request\":{}", value_of(members, "request"));
    filter_.every_kind = true;
    seq_ = number_of(value_of(members, "seq")).value_or(0);
    day_ = std::string(between_quotes(value_of(members, "timestamp")).value_or("").substr(0, 10));
    kind_ = value_of(members, "kind");
    approved_ = !value_of(members, "approval").empty();
  }

  Result<std::vector<std::string>> run() {
    const auto days = days_among(TRY(directory_.list()), ".jsonl");
    if (!begins(kind_, approved_)) CHECK_OK(look_back(days));
    std::reverse(found_.begin(), found_.end());
    found_.emplace_back(line_);
    if (!ends(kind_)) CHECK_OK(look_ahead(days));
    return std::move(found_);
  }

 private:
  static bool begins(std::string_view kind, bool approved) {
    return kind == "\"approval.requested\"" || (!approved && (kind == "\"intent\"" || kind == "\"refused\""));
  }
  static bool ends(std::string_view kind) {
    return kind == "\"outcome\"" || kind == "\"recovery\"" || kind == "\"refused\"";
  }

  Result<void> look_back(const std::vector<std::string>& days) {
    Sieve sieve(filter_);
    bool complete = false;
    const std::string oldest = day_of(*from_rfc3339(day_) - longest_request);
    for (auto day = days.rbegin(); day != days.rend() && *day >= oldest && !complete; ++day) {
      const auto reader = *day <= day_ ? TRY(DayReader::open(directory_, *day)) : std::nullopt;
      if (!reader) continue;
      CHECK_OK(reader->backwards_from(TRY(reader->offset_of_seq(seq_)), [&](std::string_view other, std::uint64_t) {
        if (!sieve.lets_through(other)) return Continue::yes;
        found_.emplace_back(other);
        complete = begins(sieve.kind(), sieve.approved());
        return complete ? Continue::no : Continue::yes;
      }));
    }
    return {};
  }

  Result<void> look_ahead(const std::vector<std::string>& days) {
    Sieve sieve(filter_);
    bool complete = false;
    for (const std::string& day : days) {
      const auto reader = day >= day_ && !complete ? TRY(DayReader::open(directory_, day)) : std::nullopt;
      if (!reader) continue;
      CHECK_OK(reader->forwards(TRY(reader->offset_of_seq(seq_ + 1)), [&](std::string_view other, std::uint64_t) {
        if (!sieve.lets_through(other)) return Continue::yes;
        found_.emplace_back(other);
        complete = ends(sieve.kind());
        return complete ? Continue::no : Continue::yes;
      }));
    }
    return {};
  }

  static constexpr std::chrono::hours longest_request{24 * 7};

  const sys::Directory& directory_;
  std::string_view line_;
  Filter filter_;
  std::uint64_t seq_ = 0;
  std::string day_;
  std::string_view kind_;
  bool approved_ = false;
  std::vector<std::string> found_;
};

}  // namespace

Result<std::vector<std::string>> records_of_request(const std::string& path, std::string_view line) {
  const sys::Directory directory = TRY(open_directory(path));
  std::vector<Member> members;
  if (!read_members(line, members) || !from_rfc3339(between_quotes(value_of(members, "timestamp")).value_or(""))) {
    return fail(Fault::corrupt, "this is no record");
  }
  if (value_of(members, "request").empty()) return std::vector<std::string>{std::string(line)};
  return RequestSearch(directory, line, members).run();
}

namespace {

Result<bool> holds_in_blob(const std::string& path, std::string_view line, const std::string& tag) {
  if (line.find("_commit\":\"") == std::string_view::npos) return false;
  const Json record = parse_json(line);
  for (const char* key : {"output_commit", "command_commit"}) {
    const auto text = TRY(committed_text(path, record, key));
    if (text && text->find(tag) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<std::string>> lines_with_secret(const std::string& path, std::string_view secret) {
  const sys::Directory directory = TRY(open_directory(path));
  const auto key = TRY(directory.read("redaction.key", 4096));
  if (!key || key->size() != 65) return fail(Fault::unavailable, "the log has no redaction key: no secret was marked");
  const std::string tag = TRY(Redactor::create(key->substr(0, 64), {}, {})).tag(secret);
  std::vector<std::string> found;
  Result<void> searched;
  for (const std::string& day : days_among(TRY(directory.list()), ".jsonl")) {
    const auto reader = TRY(DayReader::open(directory, day));
    if (!reader) continue;
    CHECK_OK(reader->forwards(0, [&](std::string_view line, std::uint64_t) {
      const Result<bool> holds = line.find(tag) != std::string_view::npos ? true : holds_in_blob(path, line, tag);
      if (holds && *holds) found.emplace_back(line);
      if (!holds) searched = tl::make_unexpected(holds.error());
      return holds ? Continue::yes : Continue::no;
    }));
    CHECK_OK(searched);
  }
  return found;
}

Result<std::optional<std::string>> known_damage(const std::string& path) {
  auto text = TRY(TRY(open_directory(path)).read("damaged", 1 << 16));
  if (text) text->resize(std::min(text->size(), text->find('\n')));
  return text;
}

Result<std::optional<std::string>> committed_text(const std::string& path, const Json& line, const char* key) {
  const sys::Directory directory = TRY(open_directory(path));
  for (const std::string& place : blob_places(line, key)) {
    const auto content = TRY(directory.read(place, std::size_t{1} << 30));
    if (!content) continue;
    if (content->size() < 32 || !place.ends_with(sha256(*content).hex())) {
      return fail(Fault::corrupt, "{} is not what record {} committed to", directory.path_of(place),
                  line.value("seq", Json()).dump());
    }
    return content->substr(32);
  }
  return std::nullopt;
}

Result<bool> has_text(const std::string& path, const Json& line, const char* key) {
  const sys::Directory directory = TRY(open_directory(path));
  for (const std::string& place : blob_places(line, key)) {
    if (TRY(directory.has(place))) return true;
  }
  return false;
}

Result<bool> erase_text(const std::string& path, const Json& line, const char* key) {
  const sys::Directory directory = TRY(open_directory(path));
  for (const std::string& place : blob_places(line, key)) {
    if (!TRY(directory.has(place))) continue;
    CHECK_OK(directory.remove(place));
    CHECK_OK(directory.sync());
    return true;
  }
  return false;
}

Result<Summary> summarise(const std::string& path, std::optional<Time> since) {
  const sys::Directory directory = TRY(open_directory(path));
  const std::string from = since ? day_of(*since) : "";
  Summary total;
  for (const std::string& day : days_among(TRY(directory.list()), ".jsonl")) {
    if (day < from) continue;
    const auto reader = TRY(DayReader::open(directory, day));
    if (reader) total.add(TRY(summary_of(directory, *reader)));
  }
  return total;
}

Result<Summary> summarise(const std::string& path, const Filter& filter) {
  constexpr std::size_t most = 100'000;
  Summary total;
  for (const std::string& line : TRY(last_lines(path, filter, most))) count_line(total, line);
  return total;
}

Json stats_json(const Summary& summary) {
  const auto of_risk = [&](const char* risk) {
    const auto found = summary.by_risk.find(risk);
    return found == summary.by_risk.end() ? 0 : found->second;
  };
  std::vector<std::pair<std::string, std::uint64_t>> commands(summary.by_command.begin(), summary.by_command.end());
  std::stable_sort(commands.begin(), commands.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (commands.size() > 10) commands.resize(10);
  Json top = Json::array();
  for (const auto& [command, number] : commands) top.push_back({{"command", command}, {"count", number}});
  Json stats;
  stats["total_commands"] = summary.commands;
  for (const char* risk : {"safe", "normal", "dangerous", "critical", "disallowed"}) stats[risk] = of_risk(risk);
  stats["by_status"] = summary.by_status.empty() ? Json::object() : Json(summary.by_status);
  stats["by_user"] = summary.by_user.empty() ? Json::object() : Json(summary.by_user);
  stats["top_commands"] = std::move(top);
  stats["time_range"] = {{"from", summary.first_time.empty() ? Json() : Json(summary.first_time)},
                         {"to", summary.last_time.empty() ? Json() : Json(summary.last_time)}};
  return stats;
}

std::string table_line(const Json& line) {
  std::string text;
  for (const char* key : {"timestamp", "command", "user", "status", "output", "risk"}) {
    const Json value = line.value(key, Json());
    if (!text.empty()) text += " | ";
    if (value.is_string()) text += visible(value.get<std::string>(), Lines::escape);
  }
  return text;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace cordon::audit
