// The order of isolation.
#pragma once

#include "sandbox/native/blueprint.h"

namespace cordon::sandbox::native {

/// The child's entry: isolates itself step by step, then becomes pid 1 of the sandbox. Ends the child if a step fails.
/// `entry` is a ChildEntry.
void isolate_and_become_pid1(void* entry);

/// The same in two halves: it waits, with the zygote's root and its own namespaces, until it is told which blueprint it
/// is to follow.
void begin_and_wait(void* entry);

/// For a zygote: only the root that its children will share.
bool build_shared_root(const Blueprint& blueprint, ChildNotes& notes);

}  // namespace cordon::sandbox::native
