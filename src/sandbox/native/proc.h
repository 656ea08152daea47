// A /proc of the sandbox's own.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// Shows only the sandbox's processes. Read-only as a whole, so that no knob of the kernel can be turned through it;
/// what tells about the host beyond need is covered.
bool mount_proc(Child& child);

}  // namespace cordon::sandbox::native
