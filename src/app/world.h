// Where this process is, and where settings and state are found from here.
#pragma once

#include <string>

#include "app/command_line.h"
#include "base/result.h"
#include "config/load.h"

namespace cordon::app {

Result<std::string> current_directory();
/// Without links resolved; relative to here.
Result<std::string> absolute_path(const std::string& path);

Result<std::string> user_name();
Result<std::string> home_directory();

/// `--state-dir`, or $XDG_STATE_HOME/cordon, or ~/.local/state/cordon.
Result<std::string> state_directory(const GlobalOptions& global);

/// The files that settings come from, for this command line.
Result<config::Sources> sources_of(const GlobalOptions& global, const std::string& cwd);

}  // namespace cordon::app
