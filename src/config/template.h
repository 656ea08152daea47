// The SANDBOX.md that `cordon init` writes.
#pragma once

#include <string>
#include <vector>

#include "config/preset.h"
#include "config/project.h"

namespace cordon::config {

struct TemplateFacts {
  std::vector<const ProjectKind*> kinds;
  std::vector<Toolchain> toolchains;      // bound read-only; those that were refused are named in a comment
  std::vector<std::string> open_presets;  // "npm": network that is opened
  Presets found_presets;                  // offered in a comment, with the hosts they mean
  std::string home;                       // paths below it are written with ~
};

/// Passes `cordon config check` without a warning.
std::string sandbox_md_for(const TemplateFacts& facts);

}  // namespace cordon::config
