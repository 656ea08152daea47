// What changed between two texts, as people are used to reading it.
#pragma once

#include <string>
#include <string_view>

namespace cordon::config {

/// Unified, three lines of context; empty when both are the same. Text from files: show it through visible().
std::string unified_difference(std::string_view before, std::string_view after, std::string_view name);

}  // namespace cordon::config
