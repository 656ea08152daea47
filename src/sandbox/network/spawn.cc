#include "sandbox/network/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

#include <cerrno>
#include <cstring>

#include "sandbox/network/proxy_image.h"
#include "sys/fd.h"

namespace cordon::sandbox::network {

namespace {

/// A number that none of the new process's own takes.
Result<sys::Fd> moved_up(int fd) {
  constexpr int above = 64;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, above);
  if (moved < 0) return fail(Fault::unavailable, "dup: {}", std::strerror(errno));
  return sys::Fd(moved);
}

}  // namespace

Result<int> spawn_program(const std::vector<std::string>& arguments, const std::vector<int>& descriptors) {
  const sys::Fd image = TRY(moved_up(TRY(proxy_image()).get()));
  std::vector<sys::Fd> moved;
  for (const int descriptor : descriptors) moved.push_back(TRY(moved_up(descriptor)));
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);  // a Ctrl-C on the terminal is for the command
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    posix_spawn_file_actions_adddup2(&actions, moved[i].get(), static_cast<int>(3 + i));
  }
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  char* environment[] = {nullptr};
  const std::string path = fmt::format("/proc/self/fd/{}", image.get());
  pid_t pid = 0;
  const int error = posix_spawn(&pid, path.c_str(), &actions, &attributes, words.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail(Fault::unavailable, "start the network proxy: {}", std::strerror(error));
  return pid;
}

}  // namespace cordon::sandbox::network
