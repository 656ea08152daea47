// The workspace and other directories of the host that a run was given.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// Makes every directory of `prefix` + `path`, and at its end a directory or an empty file.
bool make_target(Child& child, const char* prefix, const char* path, bool directory);
/// When the root is shared and read-only (zygote): directories for mount points, in this run's own memory.
bool make_mount_points(Child& child);
/// Workspace and binds, at every path where they appear.
bool place_trees(Child& child);

}  // namespace cordon::sandbox::native
