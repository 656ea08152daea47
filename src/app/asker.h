// From the command line to a Request and the guard that answers it.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/presence.h"
#include "base/clock.h"
#include "guard/guard.h"
#include "model/request.h"

namespace cordon::app {

/// What the options of exec-like verbs say.
struct RequestOptions {
  std::string text;
  std::string cwd;                       // empty: here
  std::vector<std::string> environment;  // "NAME=value", or "NAME" for the caller's own value
  PresenceOptions presence;
};

/// A request of whoever typed the command line. `--agent`, CORDON_AGENT or no terminal mark it as an agent's.
Result<Request> request_from(const GlobalOptions& global, const RequestOptions& options);

/// The guard for that request's workspace. Options that loosen (another settings file, a main session, a workspace
/// above the one found) need presence.
Result<guard::Guard> guard_for(const GlobalOptions& global, const Request& request, const PresenceOptions& presence,
                               const Clock& clock);
/// The guard that fits a request stored in the queue.
Result<guard::Guard> guard_for_stored(const GlobalOptions& global, const Request& request, const Clock& clock);

/// "30s", "1500ms", "5m"; a bare number is milliseconds.
Result<std::uint64_t> milliseconds_of(const std::string& text, const char* option);

/// Whether this process runs inside one of our sandboxes.
bool inside_sandbox();

}  // namespace cordon::app
