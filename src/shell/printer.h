// Syntax tree → shell text that reads back as the same tree.
#pragma once

#include <string>

#include "shell/syntax.h"

namespace cordon::shell {

std::string print(const List& list);

}  // namespace cordon::shell
