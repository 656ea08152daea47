// How presence (presence.h) may be proved where nobody types.
#pragma once

#include <string>

#include "app/command_line.h"

namespace cordon::app {

struct PresenceOptions {
  std::string token_file;  // --token-file; else CORDON_APPROVER_TOKEN
};
void add_presence_options(const Verb& verb, PresenceOptions& options);

}  // namespace cordon::app
