// Whether the hooks that agents were given answer as they must.
#pragma once

#include <vector>

#include "app/command_line.h"
#include "sandbox/native/doctor.h"

namespace cordon::app {

/// Sends a command that must be refused through every installed hook, by the command line that the agent's file names.
std::vector<sandbox::native::Check> probe_hooks(const GlobalOptions& global);

}  // namespace cordon::app
