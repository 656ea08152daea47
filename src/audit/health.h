// What an operator does about the log as a whole: look at it, and start anew when it is beyond repair.
#pragma once

#include <string>

#include "audit/verify/verifier.h"
#include "base/clock.h"
#include "base/result.h"

namespace cordon::audit {

/// verify_log() without a writer in between. When the whole log was looked at, its answer counts for everybody: damage
/// stops every writer until it is answered, and a log that is sound again may be written again.
Result<VerifyReport> examine(const VerifyRequest& request);

/// Answers damage that cannot be undone: moves the whole log to quarantine/TIME, where it still can be verified, and
/// begins a new one with a key of its own, whose first record tells of the old one, who did it and why. Returns where
/// it was moved. Fails when there is no damage to answer.
struct Answer {
  std::string by;
  std::string reason;
};
Result<std::string> quarantine(const std::string& directory, const Clock& clock, const Answer& answer);

}  // namespace cordon::audit
