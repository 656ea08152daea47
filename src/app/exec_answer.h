// What `cordon exec` says when it is done, whoever did it.
#pragma once

#include "app/exec_options.h"
#include "serve/socket/client.h"

namespace cordon::app {

/// The exit code.
int show_answer(const GlobalOptions& global, const ExecOptions& options, const serve::socket::Answer& answer);

/// Trouble of ours before anything ran is 125: the command's own exit code may be anything else.
int finish_exec(const GlobalOptions& global, const Result<int>& result);

}  // namespace cordon::app
