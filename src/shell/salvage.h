// What is left of a text that could not be read.
#pragma once

#include <cstddef>

#include "model/script.h"

namespace cordon::shell {

/// Adds the words from `begin` on as commands split at every operator, bracket and line, quotes removed: not what would
/// run, but enough for a deny rule to see it.
void salvage(Script& script, std::size_t begin);

}  // namespace cordon::shell
