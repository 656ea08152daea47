// Where the program that runs lies, and what was installed with it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::sys {

/// The path of a file by its place relative to this program's directory, wherever a link to the program is.
Result<std::string> beside_own_program(std::string_view relative);

}  // namespace cordon::sys
