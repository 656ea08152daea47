// What has become old enough to go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sys/directory.h"

namespace cordon::audit {

struct DueDay {
  std::string day;
  std::uint64_t bytes = 0;
};

/// The days whose contents Log::retain(keep) would delete; none of them is younger than `keep`.
Result<std::vector<DueDay>> days_due(const sys::Directory& directory, Duration keep, Time now);

}  // namespace cordon::audit
