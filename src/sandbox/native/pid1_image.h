// The program that becomes pid 1, in a sealed memory file.
#pragma once

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

/// Nobody can write to it, whatever way leads there: /proc/1/exe of a sandbox is this file.
Result<sys::Fd> make_pid1_image();

}  // namespace cordon::sandbox::native
