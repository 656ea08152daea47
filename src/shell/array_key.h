// Indices of arrays as texts that sort as numbers do.
#pragma once

#include <string>

namespace cordon::shell {

inline std::string array_key(long long index) {
  std::string digits = std::to_string(index);
  return std::string(digits.size() < 20 ? 20 - digits.size() : 0, '0') + digits;
}

}  // namespace cordon::shell
