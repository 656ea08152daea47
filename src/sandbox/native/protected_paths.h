// Paths of a writable workspace that stay as they are: hooks, settings and start files, through which a sandboxed
// program could have its way outside of the sandbox later.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// In the child: read-only mounts over each, and a mount over every directory on the way, because what is a mount point
/// cannot be renamed or removed.
bool mount_protected_paths(Child& child, const char* workspace);

}  // namespace cordon::sandbox::native
