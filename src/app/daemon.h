// Letting a daemon do it, where one is there that can.
#pragma once

#include <optional>

#include "app/command_line.h"
#include "app/presence_options.h"
#include "serve/socket/client.h"

namespace cordon::app {

struct DaemonUse {
  const GlobalOptions& global;
  const PresenceOptions& presence;
  bool input = false;  // this process's standard input goes with the request
};

/// Until it is answered, SIGINT, SIGTERM and SIGHUP ask the daemon to end it. Nothing: it is to be done here. A request
/// that takes presence, or secrets that only this process knows, is not sent.
Result<std::optional<serve::socket::Answer>> ask_daemon(serve::socket::Question question, const DaemonUse& use);

}  // namespace cordon::app
