#include "audit/sieve.h"

#include <algorithm>
#include <array>

#include "audit/tail.h"

namespace cordon::audit {

namespace {

constexpr std::array<std::string_view, 5> quiet_kinds = {"\"intent\"", "\"day.open\"", "\"start\"", "\"stop\"",
                                                         "\"network\""};

}  // namespace

Result<sys::Directory> open_directory(const std::string& path) {
  auto directory = sys::Directory::open(path);
  if (!directory) return fail(Fault::unavailable, "there is no audit log: {}", directory.error().sentence);
  return directory;
}

Sieve::Sieve(const Filter& filter) : filter_(filter) {
  const bool glob = filter.command.find_first_of("*?") != std::string::npos;
  if (!filter.command.empty()) command_ = glob ? filter.command : "*" + filter.command + "*";
  if (filter.since) since_ = to_rfc3339(*filter.since);
  if (filter.until) until_ = to_rfc3339(*filter.until);
  if (filter.risk) risk_ = fmt::format("\"{}\"", name_of(*filter.risk));
}

bool Sieve::lets_through(std::string_view line) {
  // Cheap first: what was looked for is in few lines.
  if (!filter_.holds.empty() && line.find(filter_.holds) == std::string_view::npos) return false;
  if (!read_members(line, members_)) return false;
  const std::string_view time = between_quotes(value_of(members_, "timestamp")).value_or("");
  if ((!since_.empty() && time < since_) || (!until_.empty() && time >= until_)) return false;
  if (!filter_.every_kind && std::find(quiet_kinds.begin(), quiet_kinds.end(), kind()) != quiet_kinds.end()) {
    return false;
  }
  if (!risk_.empty() && value_of(members_, "risk") != risk_) return false;
  if (!filter_.status.empty() && unescaped(value_of(members_, "status")) != filter_.status) return false;
  if (!filter_.user.empty() && unescaped(value_of(members_, "user")) != filter_.user) return false;
  if (!filter_.agent.empty() && unescaped(value_of(members_, "agent")) != filter_.agent) return false;
  return command_.empty() || matches_glob(command_, unescaped(value_of(members_, "command")));
}

bool Sieve::is_before(std::string_view line) const {
  const auto ends = line_ends(line);
  return ends && filter_.since && ends->time < *filter_.since;
}

bool Sieve::wants_day(const std::string& day) const {
  return (since_.empty() || day >= since_.substr(0, 10)) && (until_.empty() || day <= until_.substr(0, 10));
}

Result<bool> Sieve::may_hold(const sys::Directory& directory, const DayReader& day) const {
  if (!filter_.risk || day.size() < summary_step) return true;
  return TRY(summary_of(directory, day)).lines_by_risk.contains(name_of(*filter_.risk));
}

}  // namespace cordon::audit
