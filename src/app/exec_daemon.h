// `cordon exec` by a daemon.
#pragma once

#include <optional>

#include "app/exec_options.h"

namespace cordon::app {

/// The exit code. Nothing: there is no daemon, or it is to be done here for another reason; nothing was started.
Result<std::optional<int>> execute_by_daemon(const GlobalOptions& global, const ExecOptions& options,
                                             const Request& request);

}  // namespace cordon::app
