// Started by root: directories whose files keep their owner although the sandbox is somebody else.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/native/blueprint.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

/// A detached copy of the tree at `path` in which its owner appears as the sandbox's user: what the sandbox creates
/// there belongs to that owner outside.
Result<sys::Fd> id_mapped_tree(const std::string& path, const Blueprint& blueprint);

}  // namespace cordon::sandbox::native
