#include "serve/socket/address.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/small_sha256.h"
#include "base/text.h"
#include "sys/file.h"

namespace cordon::serve::socket {

namespace {

/// Sixteen digits of the path's hash.
std::string short_name_of(const std::string& path) {
  SmallSha256 hash;
  hash.add(reinterpret_cast<const unsigned char*>(path.data()), path.size());
  unsigned char digest[SmallSha256::digest_bytes];
  hash.finish(digest);
  std::string name;
  for (int i = 0; i < 8; ++i) name += fmt::format("{:02x}", digest[i]);
  return name;
}

}  // namespace

std::string address_of(const std::string& state_dir) {
  const char* given = std::getenv("CORDON_SOCKET");
  if (given != nullptr && *given == '/') return given;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime == nullptr || *runtime != '/') return state_dir + "/run/serve.sock";
  return std::string(runtime) + "/cordon/serve-" + short_name_of(state_dir) + ".sock";
}

Result<sockaddr_un> address_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(Fault::invalid_input, "{} is too long for a socket's path ({} bytes at most); give --socket PATH", path,
                sizeof address.sun_path - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<Bound> listen_at(const std::string& path) {
  constexpr int backlog = 256;
  const sockaddr_un address = TRY(address_at(path));
  CHECK_OK(sys::ensure_private_directory(std::filesystem::path(path).parent_path().string()));
  auto lock = TRY(sys::FileLock::try_take(path + ".lock"));
  if (!lock) return fail(Fault::conflict, "a daemon listens on {} already", path);
  // Ours by the lock: whoever made it is gone.
  ::unlink(path.c_str());
  sys::Fd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listening.get() < 0) return fail(Fault::unavailable, "socket: {}", sys::errno_text(errno));
  const mode_t before = ::umask(0177);
  const int bound = ::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(before);
  if (bound != 0 || ::listen(listening.get(), backlog) != 0) {
    return fail(Fault::unavailable, "listen on {}: {}", path, sys::errno_text(errno));
  }
  return Bound{*std::move(lock), std::move(listening)};
}

namespace {

Result<ucred> credentials_of(const sys::Fd& connection) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
    return fail(Fault::unavailable, "SO_PEERCRED: {}", sys::errno_text(errno));
  }
  return peer;
}

}  // namespace

Result<std::uint32_t> peer_of(const sys::Fd& connection) { return TRY(credentials_of(connection)).uid; }

bool shares_user_namespace(const sys::Fd& connection) {
  const auto peer = credentials_of(connection);
  struct stat theirs {};
  struct stat ours {};
  return peer && ::stat(fmt::format("/proc/{}/ns/user", peer->pid).c_str(), &theirs) == 0 &&
         ::stat("/proc/self/ns/user", &ours) == 0 && theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

}  // namespace cordon::serve::socket
