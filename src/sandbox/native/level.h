// How much isolation a machine gives, as one name and a list of what is missing.
#pragma once

#include "model/outcome.h"
#include "sandbox/native/blueprint.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/launcher.h"

namespace cordon::sandbox::native {

/// Where to start trying: everything, but for what tests switch off.
Ladder highest_ladder(const Weakened& weakened);

/// After a step failed: the next rung on which that step is not needed. False when there is none: the failure is real.
bool step_down(Ladder& ladder, const LaunchTrouble& trouble);

Isolation describe_isolation(const Ladder& ladder, const Cgroups* cgroups, const Weakened& weakened);

/// Whether `isolation` is at least `required`.
bool allows(Level required, const Isolation& isolation);

}  // namespace cordon::sandbox::native
