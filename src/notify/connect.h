// A connection to a host, each step of it with an end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::notify {

/// Blocking, with `step` as the limit of connecting and of every later read and write.
Result<sys::Fd> connect_to(const std::string& host, std::uint16_t port, std::chrono::seconds step);

}  // namespace cordon::notify
