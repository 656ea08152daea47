// cordon audit stats: what ran, how it was judged, and by whom it was asked for.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "app/audit_verbs.h"
#include "base/text.h"

namespace cordon::app {

namespace {

constexpr std::size_t widest_bar = 30;
constexpr std::size_t most_rows = 10;

struct Row {
  std::string name;
  std::uint64_t count = 0;
  Style style = Style::plain;
};

/// Eighths of a cell, so that small numbers show too.
std::string bar_of(std::uint64_t count, std::uint64_t most) {
  static constexpr std::array<const char*, 8> parts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::uint64_t eighths =
      most == 0 ? 0 : std::max<std::uint64_t>(count > 0 ? 1 : 0, count * widest_bar * 8 / most);
  std::string bar;
  for (std::uint64_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + parts[eighths % 8];
}

void print_rows(const char* title, std::vector<Row> rows, bool sorted) {
  if (rows.empty()) return;
  if (sorted) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.count > b.count; });
  }
  const std::size_t left = rows.size() > most_rows ? rows.size() - most_rows : 0;
  rows.resize(std::min(rows.size(), most_rows));
  std::uint64_t most = 0;
  for (const Row& row : rows) most = std::max(most, row.count);
  const bool terminal = is_terminal(STDOUT_FILENO);
  std::cout << '\n' << styled(title, Style::bold, STDOUT_FILENO) << '\n';
  for (const Row& row : rows) {
    std::cout << fmt::format("  {:<14} {:>9}", row.name, grouped(row.count));
    if (terminal) std::cout << "  " << styled(bar_of(row.count, most), row.style, STDOUT_FILENO);
    std::cout << '\n';
  }
  if (left > 0) std::cout << "  and " << grouped(left) << " more (--json has them all)\n";
}

std::vector<Row> rows_of(const Json& counts) {
  std::vector<Row> rows;
  for (const auto& [name, count] : counts.items()) {
    rows.push_back({visible(name, Lines::escape), count.get<std::uint64_t>()});
  }
  return rows;
}

void print_top(const Json& commands) {
  if (commands.empty()) return;
  std::cout << '\n' << styled("Most often", Style::bold, STDOUT_FILENO) << '\n';
  for (const Json& entry : commands) {
    std::cout << fmt::format("  {:>9}  {}\n", grouped(entry["count"].get<std::uint64_t>()),
                             visible(entry["command"].get<std::string>(), Lines::escape));
  }
}

void print(const Json& stats) {
  std::cout << grouped(stats["total_commands"].get<std::uint64_t>()) << " commands";
  const Json& range = stats["time_range"];
  if (range["from"].is_string()) {
    std::cout << " from " << range["from"].get<std::string>() << " to " << range["to"].get<std::string>();
  }
  std::cout << '\n';
  std::vector<Row> risks;
  for (const char* risk : {"safe", "normal", "dangerous", "critical", "disallowed"}) {
    risks.push_back({risk, stats[risk].get<std::uint64_t>(), style_of_risk(risk)});
  }
  print_rows("Risk", std::move(risks), false);
  print_rows("Status", rows_of(stats["by_status"]), true);
  print_rows("Asked by", rows_of(stats["by_user"]), true);
  print_top(stats["top_commands"]);
}

Result<std::optional<Time>> beginning_of(const std::string& period, Time now) {
  if (period == "all") return std::optional<Time>();
  const auto lasts = parse_duration(period);
  if (!lasts || *lasts <= Duration(0) || *lasts > now.time_since_epoch()) {
    return fail(Fault::invalid_input, "--period wants 1d, 7d, 30d, another duration, or all; not '{}'", period);
  }
  return std::optional<Time>(now - *lasts);
}

}  // namespace

Result<int> audit_stats(const GlobalOptions& global, const std::string& period) {
  const std::string directory = TRY(audit_directory(global));
  const auto since = TRY(beginning_of(period, SystemClock().now()));
  audit::Summary summary;
  std::error_code ignored;
  if (std::filesystem::exists(directory, ignored)) {
    CHECK_OK(warn_of_damage(directory));
    summary = TRY(audit::summarise(directory, since));
  }
  const Json stats = audit::stats_json(summary);
  if (global.json)
    print_json(stats);
  else
    print(stats);
  return exit_code::done;
}

}  // namespace cordon::app
