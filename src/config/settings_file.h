// A JSON5 settings file → what it says, each with its line.
#pragma once

#include <string_view>
#include <vector>

#include "config/value.h"

namespace cordon::config {

/// Whose file it is decides what an unknown key means.
enum class Dialect {
  cordon,  // an error
  any,     // --config: OpenClaw's own file is recognised, and what means nothing here is listed in one note
};

Result<std::vector<Change>> read_settings_file(std::string_view text, std::string_view name, Dialect dialect,
                                               const Surroundings& around, std::vector<Remark>& remarks);

}  // namespace cordon::config
