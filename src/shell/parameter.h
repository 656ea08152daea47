// What stands between the braces of ${…}.
#pragma once

#include "shell/syntax.h"

namespace cordon::shell {

/// Never null. What bash would call a bad substitution is named in `trouble`.
Parameter* take_apart(const Parts& inside, Arena& arena);

}  // namespace cordon::shell
