// Writes down what a sandbox was refused, while it runs.
#pragma once

#include <optional>
#include <thread>
#include <vector>

#include "model/outcome.h"
#include "sandbox/native/violations.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

/// Refused calls wait for an answer, so somebody else than the monitor gives it: a reader of output that is slow must
/// not make them slow.
class ViolationWatch {
 public:
  ViolationWatch(sys::Fd listener, const FilterOptions& options);
  ~ViolationWatch();
  ViolationWatch(const ViolationWatch&) = delete;
  ViolationWatch& operator=(const ViolationWatch&) = delete;

  /// Ends it, and says what was seen; hints from the error output come last.
  std::vector<cordon::Violation> finish(std::string_view error_output);

 private:
  sys::Fd listener_;
  sys::Fd stop_;
  ViolationRecorder recorder_;
  std::thread thread_;
};

}  // namespace cordon::sandbox::native
