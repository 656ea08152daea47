// What a control group used and what it was refused, as its files of either version tell it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sys/fd.h"

namespace cordon::sandbox::native {

struct CgroupReading {
  std::optional<std::uint64_t> cpu_us;
  std::optional<std::uint64_t> memory_peak;
  std::optional<std::uint64_t> processes_peak;
  std::uint64_t processes_now = 0;
  std::uint64_t oom_kills = 0;
  std::uint64_t forks_refused = 0;
};

class CgroupGauges {
 public:
  /// Nothing is known.
  CgroupGauges() = default;
  /// Version 2.
  explicit CgroupGauges(const std::string& directory);
  /// Version 1: directories by controller; what is missing is not known.
  explicit CgroupGauges(const std::map<std::string, std::string>& directories);

  /// Ahead, where there is time: reading then costs a third.
  void open();
  CgroupReading read() const;

 private:
  /// A number in a file; with a key, the one after it.
  struct Gauge {
    std::string path;
    std::string key = {};
    sys::Fd file = sys::Fd(-1);
    void open();
    std::optional<std::uint64_t> read() const;
  };

  Gauge cpu_;
  std::uint64_t cpu_ticks_per_us_ = 1;
  Gauge memory_peak_;
  Gauge processes_peak_;
  Gauge processes_now_;
  Gauge oom_kills_;
  Gauge forks_refused_;
};

}  // namespace cordon::sandbox::native
