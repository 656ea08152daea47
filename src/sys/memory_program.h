// A program that is carried inside another one and executed from memory: there is no file that could be exchanged.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sys {

/// Sealed, and not readable: executing what one may not read makes a process non-dumpable from its first instruction.
Result<Fd> memory_program(const char* name, std::string_view image);

}  // namespace cordon::sys
