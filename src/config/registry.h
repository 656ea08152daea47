// Which registries the user's own tools are set to, for the network presets. Asked outside the workspace, with the
// user's and the system's settings only: a workspace's .npmrc has no say. No host name is built in.
#pragma once

#include <string>
#include <vector>

#include "config/preset.h"

namespace cordon::config {

struct RegistrySearch {
  std::string home;
  std::string path;  // PATH; entries that are relative or in the workspace are passed over
  std::string workspace;
  std::string root;  // "" but in tests: where /etc is
};

/// Only presets for which something was found.
Presets find_registries(const RegistrySearch& search);

/// "host:port" of an address with a scheme, or of git's user@host:path; empty when it is neither. Ports follow from the
/// scheme.
std::string host_of(std::string_view address);

}  // namespace cordon::config
