// The guard that answers a request.
#pragma once

#include "app/asker.h"
#include "app/presence.h"
#include "base/clock.h"
#include "guard/guard.h"

namespace cordon::app {

/// The guard for that request's workspace. Options that loosen (another settings file, a main session, a workspace
/// above the one found) need presence.
Result<guard::Guard> guard_for(const GlobalOptions& global, const Request& request, const PresenceOptions& presence,
                               const Clock& clock);
/// The guard that fits a request stored in the queue.
Result<guard::Guard> guard_for_stored(const GlobalOptions& global, const Request& request, const Clock& clock);

}  // namespace cordon::app
