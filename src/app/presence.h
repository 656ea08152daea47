// Presence: proof that a person, and not the agent, wants something loosened.
#pragma once

#include <string>

#include "app/presence_options.h"
#include "app/world.h"
#include "approve/approver.h"
#include "base/result.h"

namespace cordon::app {

/// Proves presence or fails with Fault::denied and what to do. `question` is what a person confirms with y/N where
/// that is enough: at a terminal, not on behalf of an agent, and with no approver set.
Result<approve::Presence> prove_presence(const GlobalOptions& global, const PresenceOptions& options,
                                         const std::string& question);

/// Reads a line from the controlling terminal without showing it.
Result<std::string> ask_secret(const std::string& prompt);
/// A line typed on the controlling terminal.
Result<std::string> ask_line(const std::string& prompt);
/// Nothing but y or yes is a yes.
Result<bool> ask_yes(const std::string& question);

}  // namespace cordon::app
