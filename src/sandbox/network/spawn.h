// Starting the program that is carried along.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cordon::sandbox::network {

/// `descriptors` become 3, 4, 5 … of the new process, which has no others but /dev/null and our stderr. Returns its
/// pid.
Result<int> spawn_program(const std::vector<std::string>& arguments, const std::vector<int>& descriptors);

}  // namespace cordon::sandbox::network
