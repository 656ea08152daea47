// A person who is there answers at once.
#pragma once

#include <functional>
#include <optional>

#include "app/command_line.h"
#include "app/presence.h"
#include "approve/queue.h"
#include "model/request.h"

namespace cordon::app {

/// Asks at the terminal; empty where nobody is there to be asked: an agent, a program, a pipe.
std::function<Result<std::optional<approve::Vote>>(const approve::Entry&)> answer_here(const GlobalOptions& global,
                                                                                       const PresenceOptions& presence,
                                                                                       const Request& request);

}  // namespace cordon::app
