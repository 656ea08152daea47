#include "sandbox/native/child.h"

#include <ctime>

namespace cordon::sandbox::native {

bool Child::ok(long result, const char* step, const char* object) {
  if (result >= 0) return true;
  std::size_t used = 0;
  for (; object[used] && used + 1 < sizeof notes_.object; ++used) notes_.object[used] = object[used];
  notes_.object[used] = 0;
  notes_.error = static_cast<int>(-result);
  notes_.step = step;
  return false;
}

bool Child::done(const char* step) {
  if (!notes_.timed || notes_.steps >= step_count) return true;
  timespec now{};
  sys::raw::call(SYS_clock_gettime, CLOCK_MONOTONIC, sys::raw::address(&now));
  notes_.step_names[notes_.steps] = step;
  notes_.finished_ns[notes_.steps++] = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  return true;
}

}  // namespace cordon::sandbox::native
