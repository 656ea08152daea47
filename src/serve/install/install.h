// Wiring an agent to Cordon, and taking it out again: files are backed up, merged, and put back as they were.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "serve/install/agent.h"

namespace cordon::serve::install {

/// What was done, one sentence each.
using Report = std::vector<std::string>;

/// Doing it twice is doing it once. A file that cannot be understood stops everything before anything is changed.
Result<Report> wire(const Agent& agent, const Facts& facts);
/// Removes what is ours. A file that holds nothing else then is as it was before.
Result<Report> unwire(const Agent& agent, const Facts& facts);

}  // namespace cordon::serve::install
