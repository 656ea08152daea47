// Attaching trees of files inside the child's mount namespace.
#pragma once

#include <cstdint>

namespace cordon::sandbox::native {

class Child;

/// What every mount of a sandbox is at least.
constexpr std::uint64_t guarded = 0x2 | 0x4;  // nosuid, nodev
constexpr std::uint64_t guarded_read_only = guarded | 0x1;

/// Copies the tree at `path` beneath `directory` and attaches it at `target`. Always with everything mounted below it:
/// without, the kernel refuses in a user namespace what could uncover something.
bool bind(Child& child, int directory, const char* path, const char* target, std::uint64_t attributes);

/// Attaches a tree that is not attached anywhere yet.
bool attach(Child& child, int tree, const char* target, std::uint64_t attributes);

/// Opens what the launcher resolved; a symbolic link on the way means that it was swapped since, and fails.
long open_resolved(Child& child, const char* host_path);

/// A memory file system at `target`.
bool mount_memory(Child& child, const char* target, const char* options);

}  // namespace cordon::sandbox::native
