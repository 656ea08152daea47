// The queue as a live view on a terminal.
#pragma once

#include "app/command_line.h"
#include "app/presence.h"
#include "base/result.h"

namespace cordon::app {

Result<int> watch(const GlobalOptions& global, const PresenceOptions& presence);

}  // namespace cordon::app
