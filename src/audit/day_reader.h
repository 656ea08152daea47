// One day of the log, read forwards, backwards, or from a record found by bisection: lines are in the order of their
// numbers and times, so no index is needed to find one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "sys/directory.h"

namespace cordon::audit {

enum class Continue { yes, no };
using LineVisitor = std::function<Continue(std::string_view line, std::uint64_t offset)>;

class DayReader {
 public:
  /// Nothing when the day has no file. A line that is being written, or was cut off, is not seen.
  static Result<std::optional<DayReader>> open(const sys::Directory& directory, const std::string& day);

  std::uint64_t size() const { return size_; }
  const std::string& day() const { return day_; }
  /// From the line that begins at `offset`.
  Result<void> forwards(std::uint64_t offset, const LineVisitor& visit) const;
  /// From the last line.
  Result<void> backwards(const LineVisitor& visit) const { return backwards_from(size_, visit); }
  /// From the line that ends before `end`.
  Result<void> backwards_from(std::uint64_t end, const LineVisitor& visit) const;
  /// The first line whose number is not below `seq`; size() when there is none.
  Result<std::uint64_t> offset_of_seq(std::uint64_t seq) const;
  /// The first line that is not before `time`; size() when there is none.
  Result<std::uint64_t> offset_of_time(Time time) const;
  /// The number of the day's first record.
  Result<std::uint64_t> first_seq() const;
  Result<std::string> line_at(std::uint64_t offset) const;

 private:
  DayReader(std::string day, sys::Fd file, std::uint64_t size)
      : day_(std::move(day)), file_(std::move(file)), size_(size) {}
  Result<std::uint64_t> bisect(const std::function<Result<bool>(std::string_view)>& is_before) const;
  /// The beginning of the first line at or after `offset`.
  Result<std::uint64_t> line_start(std::uint64_t offset) const;

  std::string day_;
  sys::Fd file_;
  std::uint64_t size_;
};

}  // namespace cordon::audit
