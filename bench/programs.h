// Programs that a benchmark starts: whole processes, and a daemon of its own.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

extern char** environ;

namespace cordon::bench {

inline bool spawn_and_wait(std::vector<const char*> arguments) {
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, arguments[0], &actions, nullptr, const_cast<char**>(arguments.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return error == 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The line that everything is measured against.
inline bool bubblewrap(std::vector<const char*> program) {
  std::vector<const char*> line = {"bwrap", "--unshare-all", "--ro-bind", "/",       "/",   "--proc",
                                   "/proc", "--dev",         "/dev",      "--tmpfs", "/tmp"};
  line.insert(line.end(), program.begin(), program.end());
  return spawn_and_wait(std::move(line));
}

inline std::string beside_this_program(const std::string& name) {
  char self[4096] = {};
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  const std::string here(self, length > 0 ? static_cast<std::size_t>(length) : 0);
  return here.substr(0, here.rfind('/') + 1) + name;
}

class Daemon {
 public:
  /// Beside this program; nothing when it cannot be started.
  static std::unique_ptr<Daemon> start(const std::string& cordon) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return nullptr;
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    const char* words[] = {cordon.c_str(), "serve", nullptr};
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, words[0], &actions, nullptr, const_cast<char**>(words), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string line;
    char byte = 0;
    while (error == 0 && ::read(ends[0], &byte, 1) == 1 && byte != '\n') line += byte;
    ::close(ends[0]);
    const std::size_t path = line.rfind(' ');
    if (error != 0 || path == std::string::npos) return nullptr;
    return std::unique_ptr<Daemon>(new Daemon(pid, line.substr(path + 1)));
  }
  ~Daemon() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  const std::string& path() const { return path_; }

 private:
  Daemon(pid_t pid, std::string path) : pid_(pid), path_(std::move(path)) {}
  pid_t pid_;
  std::string path_;
};

}  // namespace cordon::bench
