// The second lock on files: even if a mount were too wide, only what is listed here could be written.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// In the child, after the last mount: a bound process cannot mount. Everything may be read and executed that the new
/// root holds; written only what was given to be written.
bool enter_landlock(Child& child);

}  // namespace cordon::sandbox::native
