// Code that asks for more memory or processes than a machine has.
#pragma once

#include <string_view>
#include <vector>

#include "risk/code.h"

namespace cordon::risk {

struct Exhaustion {
  bool memory = false;     // one expression asks for more than any machine has
  bool long_loop = false;  // ends in theory
  bool many_loop = false;  // often enough to matter when each round starts a process
};

Exhaustion exhaustion_of(std::string_view language, const std::vector<Token>& tokens);

}  // namespace cordon::risk
