// Paths that stand for a descriptor which is open already.
#pragma once

#include <optional>
#include <string_view>

namespace cordon {

/// 0 for /dev/stdin, 3 for /dev/fd/3 or /proc/self/fd/3; nothing for any other path.
std::optional<int> descriptor_named(std::string_view path);

/// "3" → 3; nothing for anything but digits.
std::optional<int> descriptor_number(std::string_view digits);

}  // namespace cordon
