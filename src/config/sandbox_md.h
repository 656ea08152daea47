// SANDBOX.md → what it says, each with its line.
#pragma once

#include <string_view>
#include <vector>

#include "config/value.h"

namespace cordon::config {

/// `name` is how the file is called in origins and errors. Needs valid UTF-8 without NUL.
Result<std::vector<Change>> read_sandbox_md(std::string_view text, std::string_view name, const Surroundings& around,
                                            std::vector<Remark>& remarks);

}  // namespace cordon::config
