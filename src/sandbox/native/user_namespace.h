// Who the sandboxed program is.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

class Child;
struct Blueprint;

/// Inside it is always this user and group.
constexpr std::uint32_t inner_id = 1000;
/// Outside, when started by root: an id that no file and no other process has.
constexpr std::uint32_t unowned_id = 2'147'000'000;

/// Fills in who the child becomes.
void choose_identity(Blueprint& blueprint);

/// Started by root: writes the child's id maps from outside.
Result<void> write_maps(int pid, const Blueprint& blueprint);

/// Started by root: a user namespace in which `owner` appears as the sandbox's outer id, for an id-mapped mount: what
/// the sandbox creates there belongs to `owner`.
Result<sys::Fd> mapping_namespace(std::uint32_t owner_uid, std::uint32_t owner_gid, const Blueprint& blueprint);

/// In the child.
bool become_user(Child& child);

}  // namespace cordon::sandbox::native
