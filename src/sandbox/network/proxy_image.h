// The proxy's program, carried inside of this one.
#pragma once

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sandbox::network {

Result<sys::Fd> proxy_image();

}  // namespace cordon::sandbox::network
