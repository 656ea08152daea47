// What a run can write to besides its workspace: /tmp, /dev/shm and HOME.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// Where the memory file system is mounted while things are taken from it: inside what goes away with the host's files,
/// because every unmounting waits for all processors (RCU) and so one must do. Nobody's workspace is in /proc.
constexpr const char* scratch_root = "/.host/proc";

/// One memory file system behind all of them, so that one size is the limit of their sum. A second one covers the
/// first.
bool mount_scratch(Child& child);
/// From there to where they are seen; for /tmp and HOME it may be the session's directories on disk.
bool place_scratch(Child& child);

}  // namespace cordon::sandbox::native
