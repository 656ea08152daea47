// The log for other programs.
#include <algorithm>
#include <array>

#include "audit/sieve.h"
#include "audit/store.h"

namespace cordon::audit {

std::optional<Format> format_named(std::string_view name) {
  if (name == "json") return Format::json;
  if (name == "jsonl") return Format::jsonl;
  if (name == "csv") return Format::csv;
  return std::nullopt;
}

namespace {

constexpr std::array columns = {"timestamp", "command", "user", "status",   "output", "risk",  "seq",
                                "kind",      "request", "rule", "approval", "exit",   "agent", "session"};

/// A spreadsheet takes a cell that begins like this for a formula and runs it; some skip blanks before it, some take
/// the full-width forms for the same.
bool looks_like_formula(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return false;
  text.remove_prefix(begin);
  static constexpr std::array<std::string_view, 4> wide = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
  return std::string_view("=+-@\t\r\n|%").find(text[0]) != std::string_view::npos ||
         std::any_of(wide.begin(), wide.end(), [&](std::string_view form) { return text.starts_with(form); });
}

std::string csv_cell(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
  if (value.is_string() && looks_like_formula(text)) text.insert(0, "'");
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
  if (format == Format::csv) return csv_row(Json::parse(line, nullptr, false));
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
