// Where the server can be reached: a Unix socket of the user's own, and TCP.
#pragma once

#include <optional>
#include <string>

#include "serve/http/door.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::serve::http {

struct Listener {
  sys::Fd listening;  // non-blocking
  Entrance entrance;
  std::string shown;      // for people: "unix:/run/…", "http://127.0.0.1:8080"
  std::string path = {};  // of a Unix socket
  std::optional<sys::FileLock> lock = {};
};

/// `$XDG_RUNTIME_DIR/cordon/http-HASH.sock`, beside the daemon's own.
std::string http_socket_for(const std::string& daemon_socket);

Result<Listener> listen_unix(const std::string& path);
/// "127.0.0.1:8080" or "[::1]:8080". Without TLS only a loopback address: what goes over a network is tokens and
/// commands.
Result<Listener> listen_tcp(const std::string& address, bool tls);

/// The next client; nothing when nobody waits. Who is not our user, or inside a sandbox, is dropped.
struct Accepted {
  std::optional<sys::Fd> socket;
  bool exhausted = false;  // no descriptor is free: come back later
};
Accepted accept_from(const Listener& listener);

}  // namespace cordon::serve::http
