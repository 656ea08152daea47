// Starting a run that outlives this process.
#pragma once

#include <string>

#include "app/command_line.h"
#include "app/presence.h"
#include "model/request.h"

namespace cordon::app {

/// Forks a keeper that goes the whole way of the request and holds the run; returns when it has started, was refused
/// or waits for approval. Must be called before this process has threads.
Result<int> detach(const GlobalOptions& global, Request request, const PresenceOptions& presence,
                   const std::string& approval);

}  // namespace cordon::app
