// Sockets as the proxy uses them: they never block.
#pragma once

#include <cstdint>
#include <optional>

#include "sandbox/network/address.h"
#include "sys/fd.h"

namespace cordon::sandbox::network {

/// SOCK_STREAM or SOCK_DGRAM, of the address's family.
std::optional<sys::Fd> open_socket(const Address& address, int type);
/// True: connected, or on the way.
bool connect_socket(const sys::Fd& socket, const Address& address, std::uint16_t port);

/// Which addresses are delivered to this machine itself, as the kernel's own routes say it: an address outside may
/// still be ours.
class Routes {
 public:
  static std::optional<Routes> open();
  enum class Way { elsewhere, here, none };
  /// An answer that cannot be had counts as `here`.
  Way way_to(const Address& address) const;

 private:
  explicit Routes(sys::Fd netlink) : netlink_(std::move(netlink)) {}
  sys::Fd netlink_;
};

}  // namespace cordon::sandbox::network
