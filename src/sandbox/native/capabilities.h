// Giving up every privilege for good.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// No capability now or ever again: securebits take from uid 0 its meaning, no_new_privs from setuid files theirs.
bool drop_capabilities(Child& child);

}  // namespace cordon::sandbox::native
