// The program that becomes pid 1, in a sealed memory file.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

/// Nobody can write to it, whatever way leads there: /proc/1/exe of a sandbox is this file.
Result<sys::Fd> make_pid1_image();

/// The same as bytes, for containers, which start it from a file.
std::string_view pid1_program();

}  // namespace cordon::sandbox::native
