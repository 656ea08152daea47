// The body of a request to make a container: a profile in the engine's words.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "sandbox/container/layout.h"

namespace cordon::sandbox::docker {

// Labels, by which containers are found again.
constexpr const char* state_label = "cordon.state";  // which state directory's
constexpr const char* owner_label = "cordon.owner";  // the mark of the process that must remove it
constexpr const char* key_label = "cordon.session";  // one that is kept: whose
constexpr const char* maker_label = "cordon.maker";  // one that is kept: the mark of the process that made it

struct Mount {
  std::string source;
  std::string target;
  bool read_only = true;  // for the engine to make so
  bool recursive = false;
};

struct ContainerRequest {
  std::string user;  // "UID:GID"
  std::vector<std::string> arguments;
  bool input = false;
  std::vector<Mount> mounts;
  std::map<std::string, std::string> labels;
};

Json body_of(const container::Layout& layout, const ContainerRequest& request);

}  // namespace cordon::sandbox::docker
