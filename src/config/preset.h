// Network presets: which hosts `preset:npm` and the like mean on this machine. Resolved at `init` and `trust`, kept in
// the state directory, and changed only there: what a workspace says has no part in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cordon::config {

/// Preset → "host:port", sorted.
using Presets = std::map<std::string, std::vector<std::string>>;

std::string presets_file(const std::string& state_dir);
Result<Presets> load_presets(const std::string& state_dir);
Result<void> save_presets(const std::string& state_dir, const Presets& presets);

}  // namespace cordon::config
