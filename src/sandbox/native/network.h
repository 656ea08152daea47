// A network namespace of the sandbox's own.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// Enters the prepared one or makes one.
bool enter_network(Child& child);
/// In it: brings loopback up if that was asked for, and hands out the socket on which the network proxy listens, so
/// that nothing of ours needs to be inside, and the namespace itself to whoever leads connections to published ports
/// into it.
bool furnish_network(Child& child);

}  // namespace cordon::sandbox::native
