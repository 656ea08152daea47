// Which directory is the root of a piece of work.
#pragma once

#include <string>

namespace cordon::config {

/// The nearest parent that looks like it, else `cwd` itself.
std::string nearest_workspace(const std::string& cwd);

}  // namespace cordon::config
