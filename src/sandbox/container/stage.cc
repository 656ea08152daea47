#include "sandbox/container/stage.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/digest.h"
#include "sandbox/native/pid1_image.h"
#include "sys/file.h"
#include "sys/liveness.h"

namespace cordon::sandbox::container {

namespace fs = std::filesystem;

namespace {

std::string root_of(const std::string& state_directory) { return state_directory + "/containers"; }

/// The directory may have a longer path than the name of a socket can hold: it is reached through its descriptor.
Result<sys::Fd> listen_in(const std::string& directory) {
  const sys::Fd place(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  sys::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (place.get() < 0 || listener.get() < 0) {
    return fail(Fault::unavailable, "socket in {}: {}", directory, std::strerror(errno));
  }
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/control", place.get());
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  // Whoever comes is inside: the directory is closed to everybody else.
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 ||
      ::chmod((directory + "/control").c_str(), 0666) != 0 || ::listen(listener.get(), 1) != 0) {
    return fail(Fault::unavailable, "socket {}/control: {}", directory, std::strerror(errno));
  }
  return listener;
}

/// What is mounted may be somebody's workspace: a directory that still holds anything after the unmounting is left
/// alone, with everything around it.
bool clear_mount_points(const std::string& path) {
  std::error_code error;
  bool clear = true;
  for (const auto& item : fs::directory_iterator(path + "/mounts", error)) {
    const std::string point = item.path();
    while (::umount2(point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
    }
    clear = (::rmdir(point.c_str()) == 0 || ::unlink(point.c_str()) == 0) && clear;
  }
  return clear && (::rmdir((path + "/mounts").c_str()) == 0 || errno == ENOENT);
}

void remove_stage(const std::string& path) {
  std::error_code error;
  if (clear_mount_points(path)) fs::remove_all(path, error);
}

}  // namespace

Result<Stage> Stage::create(const std::string& state_directory) {
  const std::string id = "cordon-" + to_hex(TRY(random_bytes(8)));
  const std::string path = root_of(state_directory) + "/" + id;
  CHECK_OK(sys::ensure_private_directory(root_of(state_directory)));
  // Under its lock, so that nobody sweeps what has no owner's mark yet.
  const sys::FileLock lock = TRY(sys::FileLock::take(root_of(state_directory) + "/lock"));
  CHECK_OK(sys::ensure_private_directory(path));
  CHECK_OK(sys::create_file(path + "/owner", sys::own_liveness(), 0600));
  Stage stage(path, id, TRY(listen_in(path)));
  CHECK_OK(sys::create_file(stage.init(), native::pid1_program(), 0700));
  // Not by the mode of its making, from which the process's umask takes.
  if (::chmod(stage.init().c_str(), 0555) != 0) {
    return fail(Fault::unavailable, "chmod {}: {}", stage.init(), std::strerror(errno));
  }
  TRY(stage.make_directory("mounts"));
  return stage;
}

Stage::~Stage() {
  if (!path_.empty()) remove_stage(path_);
}

Result<std::string> Stage::write(std::string_view name, std::string_view content) const {
  const std::string path = fmt::format("{}/{}", path_, name);
  CHECK_OK(sys::create_file(path, content, 0600));
  if (::chmod(path.c_str(), 0444) != 0) return fail(Fault::unavailable, "chmod {}: {}", path, std::strerror(errno));
  return path;
}

Result<std::string> Stage::make_directory(std::string_view name) const {
  const std::string path = fmt::format("{}/{}", path_, name);
  if (::mkdir(path.c_str(), 0700) != 0 || ::chmod(path.c_str(), 0755) != 0) {
    return fail(Fault::unavailable, "mkdir {}: {}", path, std::strerror(errno));
  }
  return path;
}

Result<std::string> Stage::make_mount_point(bool directory) {
  const std::string name = fmt::format("mounts/{}", mounts_++);
  if (directory) return make_directory(name);
  const std::string path = path_ + "/" + name;
  CHECK_OK(sys::create_file(path, "", 0600));
  return path;
}

Result<sys::Fd> Stage::wait_for_init(std::chrono::milliseconds patience, int ended) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return fail(Fault::unavailable, "the container did not start within {} s", patience.count() / 1000);
    }
    pollfd wanted[2] = {{listener_.get(), POLLIN, 0}, {ended, POLLIN, 0}};
    if (::poll(wanted, 2, static_cast<int>(left.count())) < 0 && errno != EINTR) {
      return fail(Fault::internal, "poll: {}", std::strerror(errno));
    }
    if (wanted[0].revents != 0) break;
    if (wanted[1].revents != 0) return fail(Fault::unavailable, "the container ended before it could be given orders");
  }
  sys::Fd control(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (control.get() < 0) return fail(Fault::unavailable, "accept: {}", std::strerror(errno));
  // The first caller was pid 1; nobody else is ever let in.
  listener_ = sys::Fd(-1);
  return control;
}

void sweep_stages(const std::string& state_directory, const std::function<void(const std::string&)>& forget) {
  const std::string root = root_of(state_directory);
  std::error_code error;
  if (!fs::exists(root, error)) return;
  const auto lock = sys::FileLock::take(root + "/lock");
  if (!lock) return;
  for (const auto& item : fs::directory_iterator(root, error)) {
    const std::string path = item.path();
    if (!item.is_directory(error)) continue;
    const auto owner = sys::read_file_if_exists(path + "/owner", 256);
    if (!owner || !*owner || sys::is_alive(**owner)) continue;
    forget(item.path().filename());
    remove_stage(path);
  }
}

}  // namespace cordon::sandbox::container
