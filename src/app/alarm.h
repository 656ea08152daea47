// Alerts of the guard → notices to people, as the user's settings say.
#pragma once

#include <vector>

#include "audit/redactor.h"
#include "config/load.h"
#include "guard/guard.h"

namespace cordon::app {

/// For every guard that a verb opens. Costs nothing until there is something to tell.
guard::Alarm alarm_for(config::Sources sources, std::vector<audit::KnownSecret> secrets);

}  // namespace cordon::app
