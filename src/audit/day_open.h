// The first line of a day, which carries the tree as it was before.
#pragma once

#include <optional>
#include <string_view>

#include "audit/tree.h"

namespace cordon::audit {

/// Nothing when it is no day.open line, or its root is not that of its frontier.
std::optional<Tree> parse_day_open(std::string_view line);

}  // namespace cordon::audit
