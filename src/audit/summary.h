// What one day of the log adds up to, kept in index/DAY so that a question about a million records reads a few numbers.
// It can always be rebuilt; it proves nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "audit/day_reader.h"
#include "base/result.h"
#include "sys/directory.h"

namespace cordon::audit {

struct Summary {
  std::uint64_t bytes = 0;  // of the day file that are counted
  std::string first_time;   // of the records that count
  std::string last_time;
  /// Each request once: when it was refused, was queued, or began without having been queued.
  std::uint64_t commands = 0;
  std::map<std::string, std::uint64_t> by_risk;        // of the same
  std::map<std::string, std::uint64_t> by_user;        // of the same
  std::map<std::string, std::uint64_t> by_command;     // of the same; the rarest are dropped beyond 8192
  std::map<std::string, std::uint64_t> by_status;      // of all records but intents and the log's own
  std::map<std::string, std::uint64_t> lines_by_risk;  // of all records: whether a search can skip the day

  void add(const Summary& other);
};

/// Counts one line of the log.
void count_line(Summary& summary, std::string_view line);

/// Counts what is new since the last time, and keeps the result.
Result<Summary> summary_of(const sys::Directory& directory, const DayReader& day);

/// How much a day may grow before a writer brings its summary up to date, so that no reader has much to count.
inline constexpr std::uint64_t summary_step = 4 << 20;

}  // namespace cordon::audit
