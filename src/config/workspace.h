// Which directory is the root of a piece of work.
#pragma once

#include <string>

namespace cordon::config {

/// Whether the directory itself says that it is one.
bool is_marked_workspace(const std::string& directory);

/// The nearest parent that looks like it, else `cwd` itself.
std::string nearest_workspace(const std::string& cwd);

}  // namespace cordon::config
