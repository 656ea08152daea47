#include "audit/query.h"

#include <algorithm>
#include <array>

#include "audit/store.h"
#include "audit/tail.h"
#include "audit/verify/line_view.h"
#include "base/text.h"

namespace cordon::audit {

namespace {

constexpr std::array<std::string_view, 5> quiet_kinds = {"\"intent\"", "\"day.open\"", "\"start\"", "\"stop\"",
                                                         "\"network\""};

/// A filter made ready for many lines.
class Sieve {
 public:
  explicit Sieve(const Filter& filter) : filter_(filter) {
    const bool glob = filter.command.find_first_of("*?") != std::string::npos;
    if (!filter.command.empty()) command_ = glob ? filter.command : "*" + filter.command + "*";
    if (filter.since) since_ = to_rfc3339(*filter.since);
    if (filter.until) until_ = to_rfc3339(*filter.until);
    if (filter.risk) risk_ = fmt::format("\"{}\"", name_of(*filter.risk));
  }

  bool lets_through(std::string_view line) {
    if (!read_members(line, members_)) return false;
    const std::string_view time = between_quotes(value_of(members_, "timestamp")).value_or("");
    if ((!since_.empty() && time < since_) || (!until_.empty() && time >= until_)) return false;
    const std::string_view kind = value_of(members_, "kind");
    if (!filter_.every_kind && std::find(quiet_kinds.begin(), quiet_kinds.end(), kind) != quiet_kinds.end()) {
      return false;
    }
    if (!risk_.empty() && value_of(members_, "risk") != risk_) return false;
    if (!filter_.status.empty() && unescaped(value_of(members_, "status")) != filter_.status) return false;
    if (!filter_.user.empty() && unescaped(value_of(members_, "user")) != filter_.user) return false;
    return command_.empty() || matches_glob(command_, unescaped(value_of(members_, "command")));
  }
  bool is_before(std::string_view line) const {
    const auto ends = line_ends(line);
    return ends && filter_.since && ends->time < *filter_.since;
  }
  bool wants_day(const std::string& day) const {
    return (since_.empty() || day >= since_.substr(0, 10)) && (until_.empty() || day <= until_.substr(0, 10));
  }
  /// A kept summary may say that a day holds nothing that is asked for.
  Result<bool> may_hold(const sys::Directory& directory, const DayReader& day) const {
    if (!filter_.risk || day.size() < summary_step) return true;
    return TRY(summary_of(directory, day)).lines_by_risk.contains(name_of(*filter_.risk));
  }

 private:
  const Filter& filter_;
  std::string command_;
  std::string since_;
  std::string until_;
  std::string risk_;
  std::vector<Member> members_;
};

Result<sys::Directory> open_directory(const std::string& path) {
  auto directory = sys::Directory::open(path);
  if (!directory) return fail(Fault::unavailable, "there is no audit log: {}", directory.error().sentence);
  return directory;
}

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

Result<std::vector<Json>> last_records(const std::string& path, const Filter& filter, std::size_t count) {
  const sys::Directory directory = TRY(open_directory(path));
  Sieve sieve(filter);
  std::vector<Json> found;
  const auto days = days_among(TRY(directory.list()), ".jsonl");
  for (auto day = days.rbegin(); day != days.rend() && found.size() < count; ++day) {
    if (!sieve.wants_day(*day)) continue;
    const auto reader = TRY(DayReader::open(directory, *day));
    if (!reader || !TRY(sieve.may_hold(directory, *reader))) continue;
    CHECK_OK(reader->backwards([&](std::string_view line, std::uint64_t) {
      if (found.size() == count || sieve.is_before(line)) return Continue::no;
      if (sieve.lets_through(line)) found.push_back(parse_json(line));
      return found.size() == count ? Continue::no : Continue::yes;
    }));
  }
  std::reverse(found.begin(), found.end());
  return found;
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

std::optional<Format> format_named(std::string_view name) {
  if (name == "json") return Format::json;
  if (name == "jsonl") return Format::jsonl;
  if (name == "csv") return Format::csv;
  return std::nullopt;
}

namespace {

constexpr std::array columns = {"timestamp", "command", "user", "status",   "output", "risk",  "seq",
                                "kind",      "request", "rule", "approval", "exit",   "agent", "session"};

/// A spreadsheet takes a cell that begins like this for a formula and runs it.
std::string csv_cell(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
  if (value.is_string() && !text.empty() && std::string_view("=+-@\t\r\n|%").find(text[0]) != std::string_view::npos) {
    text.insert(0, "'");
  }
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

std::string csv_row(const Json& line) {
  std::string row;
  for (const char* column : columns) row += (row.empty() ? "" : ",") + csv_cell(line.value(column, Json()));
  return row + "\r\n";
}

std::string csv_head() {
  std::string row;
  for (const char* column : columns) row += fmt::format("{}\"{}\"", row.empty() ? "" : ",", column);
  return row + "\r\n";
}

std::string exported(Format format, std::string_view line, bool first) {
  if (format == Format::csv) return csv_row(parse_json(line));
  if (format == Format::jsonl) return std::string(line) + "\n";
  return (first ? "\n" : ",\n") + std::string(line);
}

}  // namespace

Result<void> export_records(const std::string& path, const Filter& filter, Format format, const Sink& sink) {
  const sys::Directory directory = TRY(open_directory(path));
  Sieve sieve(filter);
  bool first = true;
  if (format == Format::json) CHECK_OK(sink("["));
  if (format == Format::csv) CHECK_OK(sink(csv_head()));
  for (const std::string& day : days_among(TRY(directory.list()), ".jsonl")) {
    if (!sieve.wants_day(day)) continue;
    const auto reader = TRY(DayReader::open(directory, day));
    if (!reader) continue;
    const std::uint64_t begin = filter.since ? TRY(reader->offset_of_time(*filter.since)) : 0;
    Result<void> given;
    CHECK_OK(reader->forwards(begin, [&](std::string_view line, std::uint64_t) {
      if (!sieve.lets_through(line)) return Continue::yes;
      given = sink(exported(format, line, first));
      first = false;
      return given ? Continue::yes : Continue::no;
    }));
    CHECK_OK(given);
  }
  if (format == Format::json) CHECK_OK(sink(first ? "]\n" : "\n]\n"));
  return {};
}

}  // namespace cordon::audit
