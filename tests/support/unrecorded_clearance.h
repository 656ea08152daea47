// Lets tests and benchmarks run a profile without an audit log. Nothing under src/ may include this file.
#pragma once

#include "model/clearance.h"

namespace cordon::testing {

struct UnrecordedClearance {
  static Clearance make(Profile profile) { return Clearance(std::move(profile), 0); }
};

}  // namespace cordon::testing
