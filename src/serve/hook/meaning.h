// What the tools of each agent are, in the words of tool policy, and where in their input the paths stand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cordon::serve::hook {

enum class Touch {
  nothing,   // no file of the machine
  commands,  // runs a shell command
  reads,
  searches,  // reads whatever lies below a directory
  writes,
};

struct Meaning {
  std::string tool;  // of tool policy; empty: not under it
  Touch touch = Touch::nothing;
  std::vector<std::string> paths;  // as written
};

/// A tool that no table knows keeps its own name, so that tool policy decides; what looks like a path in its input is
/// held to be written.
Meaning meaning_of(std::string_view agent, std::string_view tool, const Json& input);

}  // namespace cordon::serve::hook
