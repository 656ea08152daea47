// What a makefile, or a justfile, runs for the goals it is given.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::risk {

/// The command lines in the order they stand. `variables` are those set by the caller. What cannot be known stands as a
/// shell variable that nobody has set; a goal that no rule names makes every rule count.
std::vector<std::string> makefile_commands(std::string_view text, const std::vector<std::string>& goals,
                                           std::map<std::string, std::string> variables);

}  // namespace cordon::risk
