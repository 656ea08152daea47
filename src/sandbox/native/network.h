// A network namespace of the sandbox's own.
#pragma once

namespace cordon::sandbox::native {

class Child;

/// Enters the prepared one or makes one; brings loopback up if that was asked for, and hands out the socket on which
/// the network proxy listens, so that nothing of ours needs to be inside.
bool enter_network(Child& child);
/// Once there is a /proc: to whoever leads connections to published ports into it.
bool hand_out_network(Child& child);

}  // namespace cordon::sandbox::native
