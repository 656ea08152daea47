// From the command line to a Request.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/presence_options.h"
#include "base/result.h"
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

/// The same without the caller's name, which is a look-up that a daemon makes itself.
Result<Request> nameless_request_from(const GlobalOptions& global, const RequestOptions& options);

/// Whether there is a person at this terminal who can be asked about it: not an agent, a program or a pipe.
bool someone_is_here(const GlobalOptions& global, const Request& request);

/// "30s", "1500ms", "5m"; a bare number is milliseconds.
Result<std::uint64_t> milliseconds_of(const std::string& text, const char* option);

/// Whether this process runs inside one of our sandboxes.
bool inside_sandbox();

}  // namespace cordon::app
