// Where the program that runs lies, and what was installed with it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::sys {

/// The path of a file by its place relative to bin/, where this program or the one that it belongs to is, wherever a
/// link to it is.
Result<std::string> beside_own_program(std::string_view relative);

}  // namespace cordon::sys
