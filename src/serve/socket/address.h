// Where the daemon of a state listens, and who is at the other end.
#pragma once

#include <sys/un.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::serve::socket {

/// `$XDG_RUNTIME_DIR/cordon/serve-HASH.sock`, where the hash is of the state's directory; without a runtime directory,
/// in the state itself. CORDON_SOCKET names another place.
std::string address_of(const std::string& state_dir);

/// A path that is too long for a socket is an error.
Result<sockaddr_un> address_at(const std::string& path);

/// A socket that only our user can reach, and the lock that keeps it ours. One that nobody listens on is replaced; a
/// second daemon for the same path is refused.
struct Bound {
  sys::FileLock lock;
  sys::Fd listening;
};
Result<Bound> listen_at(const std::string& path);

/// The user at the other end, as the kernel knows it.
Result<std::uint32_t> peer_of(const sys::Fd& connection);
/// From inside a sandbox a process has our uid as well, but not our user namespace.
bool shares_user_namespace(const sys::Fd& connection);

}  // namespace cordon::serve::socket
