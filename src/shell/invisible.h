// Text that does not look like what it is.
#pragma once

#include "model/script.h"

namespace cordon::shell {

/// Notes control characters, odd blanks, characters without width or that turn the line around, and letters of other
/// alphabets in what looks like a command's name. Tabs and newlines are ordinary.
void note_invisible(Script& script);

}  // namespace cordon::shell
