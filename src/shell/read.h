// Shell text → Script: what would run, as far as that can be known without running it.
#pragma once

#include <string_view>

#include "model/script.h"

namespace cordon::shell {

/// Never fails and never throws on any text: what bash would not read is a Script that says so. Time and memory are
/// bounded by the length of the text.
Script read(std::string_view text, const ShellState& state = {});

}  // namespace cordon::shell
