// The processes of a sandbox as seen from outside.
#pragma once

#include <cstdint>
#include <vector>

namespace cordon::sandbox::native {

/// A process and all its descendants. Every process of a sandbox descends from its pid 1: orphans return to it.
std::vector<int> process_tree(int root);
/// Resident memory of all of them; shared pages count for each.
std::uint64_t resident_bytes(const std::vector<int>& processes);

/// Processor time of all of them and of those they have already collected.
std::uint64_t cpu_ms(const std::vector<int>& processes);

}  // namespace cordon::sandbox::native
