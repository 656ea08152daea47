// What the proxy gives up before it reads the first byte of a stranger.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "sys/bpf.h"

namespace cordon::sandbox::network {

/// Sockets of the internet, memory and time; nothing else.
sys::BpfProgram proxy_filter();

/// For ever: another user if it was root, no capabilities, no files, no signals to others, its own filter.
/// `descriptors`: how many it will have open.
Result<void> confine(std::uint64_t descriptors);

}  // namespace cordon::sandbox::network
