// The order of isolation.
#pragma once

#include "sandbox/native/blueprint.h"

namespace cordon::sandbox::native {

/// The child's entry: isolates itself step by step, then becomes pid 1 of the sandbox. Ends the child if a step fails.
/// `entry` is a ChildEntry. Where that is of a sandbox that is begun ahead, its companion waits until it is told which
/// blueprint to follow, and pid 1 waits for the companion.
void isolate_and_become_pid1(void* entry);

/// For a zygote: only the root that its children will share.
bool build_shared_root(const Blueprint& blueprint, ChildNotes& notes);

}  // namespace cordon::sandbox::native
