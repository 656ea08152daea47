// Telling whether a process that left its mark somewhere still runs.
#pragma once

#include <string>

namespace cordon::sys {

/// "PID.STARTTIME" of this process: pids come again, start times of one pid do not.
std::string own_liveness();
/// The same of another process.
std::string liveness_of(int pid);
/// Whether the process with that mark runs. A mark that cannot be read counts as dead.
bool is_alive(const std::string& mark);

}  // namespace cordon::sys
