// A network namespace of the sandbox's own.
#pragma once

namespace cordon::sandbox::native {

class Child;
class Companion;

/// Enters the prepared one, or the one that the companion makes; brings loopback up if that was asked for, and hands
/// out the socket on which the network proxy listens, so that nothing of ours needs to be inside.
bool enter_network(Child& child, const Companion& companion);

}  // namespace cordon::sandbox::native
