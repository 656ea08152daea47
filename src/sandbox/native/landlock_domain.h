// The second lock on files: even if a mount were too wide, only what is listed here could be written.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// After the last mount: a rule is for what is there, and a bound process cannot mount. Everything may be read and
/// executed that the new root holds; written only what was given to be written. `ruleset` is −1 where there is to be
/// none.
bool make_landlock_ruleset(Child& child, int& ruleset);

/// Binds the caller by it.
bool enter_landlock(Child& child);

}  // namespace cordon::sandbox::native
