#include "sandbox/docker/kept.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/digest.h"

namespace cordon::sandbox::docker {

namespace {

constexpr int most_callers = 64;

/// The directory may have a longer path than the name of a socket can hold: it is reached through its descriptor.
sockaddr_un name_in(const sys::Fd& directory) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/socket", directory.get());
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  return name;
}

}  // namespace

bool may_be_kept(const Profile& profile) {
  return !profile.session.path.empty() && profile.workspace.access != WorkspaceAccess::overlay;
}

std::string made_of(const container::Layout& layout, const ContainerRequest& request) {
  Sha256 hash;
  hash.add_field(layout.profile.image).add_field(request.user);
  for (const container::Place& place : layout.places) {
    // What is of this run's stage is another file at each run, with the same content.
    hash.add_field(place.target).add_field(place.ours ? "" : place.source).add_field(place.writable ? "rw" : "ro");
  }
  for (const std::string& place : layout.command.places) hash.add_field(place);
  const Limits& limits = layout.profile.limits;
  for (const std::uint64_t limit : {limits.memory_bytes, limits.pids, limits.file_bytes, limits.open_files,
                                    limits.cpu_ms, layout.profile.kept.idle_ms, layout.profile.kept.age_ms}) {
    hash.add_field(std::to_string(limit));
  }
  hash.add_field(std::to_string(static_cast<std::int64_t>(limits.cpus * 1000)));
  return hash.finish().hex();
}

Result<std::vector<Kept>> find_kept(const Engine& engine, const std::string& session_directory) {
  std::vector<Kept> found;
  for (const ListedContainer& one : TRY(engine.list(fmt::format("{}={}", key_label, session_directory)))) {
    if (one.running) found.push_back({one.id, session_directory});
  }
  return found;
}

Result<KeptPlace> KeptPlace::enter(const std::string& session_directory) {
  const std::string path = session_directory + "/container";
  CHECK_OK(sys::ensure_private_directory(path));
  sys::FileLock lock = TRY(sys::FileLock::take(path + "/lock"));
  sys::Fd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory.get() < 0) return fail(Fault::unavailable, "open {}: {}", path, std::strerror(errno));
  return KeptPlace(std::move(directory), path, std::move(lock));
}

std::optional<KeptPlace::Noted> KeptPlace::noted() const {
  constexpr std::size_t room = 512;
  const auto text = sys::read_file_if_exists(path_ + "/made", room);
  if (!text || !*text) return std::nullopt;
  Noted made;
  std::istringstream words(**text);
  if (!(words >> made.id >> made.pid >> made.made_of) || made.pid <= 0) return std::nullopt;
  return made;
}

Result<void> KeptPlace::note(const Noted& made) const {
  return sys::replace_file_unsynced(path_ + "/made", fmt::format("{} {} {}\n", made.id, made.pid, made.made_of), 0600);
}

std::optional<sys::Fd> KeptPlace::call() const {
  sys::Fd caller(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un name = name_in(directory_);
  if (caller.get() < 0) return std::nullopt;
  if (::connect(caller.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) return std::nullopt;
  ::fcntl(caller.get(), F_SETFL, 0);
  return caller;
}

Result<sys::Fd> KeptPlace::listen() const {
  forget();
  sys::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un name = name_in(directory_);
  if (listener.get() < 0 || ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::listen(listener.get(), most_callers) != 0) {
    return fail(Fault::unavailable, "socket in {}: {}", path_, std::strerror(errno));
  }
  return listener;
}

void KeptPlace::forget() const {
  ::unlink((path_ + "/socket").c_str());
  ::unlink((path_ + "/made").c_str());
}

}  // namespace cordon::sandbox::docker
