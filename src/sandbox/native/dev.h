// A minimal /dev.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// null, zero, full, random, urandom and tty of the host, and the usual links.
bool build_dev(Child& child);
/// Pseudo terminals of the sandbox's own: it cannot see or reach the caller's.
bool mount_devpts(Child& child);

}  // namespace cordon::sandbox::native
