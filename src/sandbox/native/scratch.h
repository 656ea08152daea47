// What a run can write to besides its workspace: /tmp, /dev/shm and HOME.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// One memory file system behind all of them, so that one size is the limit of their sum; or the session's directories on
/// disk for /tmp and HOME.
bool place_scratch(Child& child);

}  // namespace cordon::sandbox::native
