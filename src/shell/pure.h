// The output of programs whose doing is plain enough to be computed.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cordon::shell {

/// Nothing, unless the program, all its options and its input are understood.
std::optional<std::string> pure_output(const std::vector<std::string>& arguments,
                                       const std::optional<std::string>& input);

}  // namespace cordon::shell
