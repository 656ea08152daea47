// Time as a value that tests can set.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cordon {

using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;
using Duration = std::chrono::microseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override;
};

/// Stands still until it is told otherwise.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start) : now_(start) {}
  Time now() const override { return now_; }
  void set(Time time) { now_ = time; }
  void advance(Duration by) { now_ += by; }

 private:
  Time now_;
};

/// RFC 3339 in UTC with microseconds: "2026-02-25T10:11:12.123456Z".
std::string to_rfc3339(Time time);
/// Reads RFC 3339 with any offset, and a bare date as its first moment in UTC. Years 1970 to 9999.
std::optional<Time> from_rfc3339(std::string_view text);
/// "2026-02-25".
std::string day_of(Time time);

/// "30s", "15 min", "7d", "250ms", "1h30m"; a bare number is not a duration.
std::optional<Duration> parse_duration(std::string_view text);
/// The shortest exact spelling: "90s" is "1m30s".
std::string to_text(Duration duration);

}  // namespace cordon
