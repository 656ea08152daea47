#include "app/preview_maker.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "sys/file.h"
#include "sys/own_program.h"

namespace cordon::app {

namespace {

/// Only calls that are safe between fork and exec of a process with threads.
[[noreturn]] void become_maker(const char* program, int lock, char* const* words) {
  // Twice, so that nobody has to collect it.
  if (::setsid() < 0) ::_exit(1);
  const pid_t maker = ::fork();
  if (maker != 0) ::_exit(maker < 0 ? 1 : 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (nowhere < 0 || ::dup2(lock, STDIN_FILENO) < 0) ::_exit(1);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close_range(3, ~0U, 0);
  if (::chdir("/") != 0) ::_exit(1);
  ::execve(program, words, environ);
  ::_exit(1);
}

}  // namespace

guard::PreviewMaker preview_maker(const std::string& state_dir) {
  return [state_dir](const std::string& approval, const sandbox::preview::Making& making) -> Result<void> {
    std::array<std::string, 7> texts = {"cordon",  "--state-dir", state_dir,     "queue",
                                        "preview", approval,      "--background"};
    std::array<char*, 8> words{};
    for (std::size_t i = 0; i < texts.size(); ++i) words[i] = texts[i].data();
    const std::string program = TRY(sys::beside_own_program("cordon"));
    const pid_t middle = ::fork();
    if (middle < 0) return fail(Fault::unavailable, "fork: {}", sys::errno_text(errno));
    if (middle == 0) become_maker(program.c_str(), making.file().get(), words.data());
    int status = 0;
    while (::waitpid(middle, &status, 0) < 0) {
      if (errno != EINTR) return fail(Fault::unavailable, "wait: {}", sys::errno_text(errno));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return fail(Fault::unavailable, "the process that was to make it could not be started");
  };
}

}  // namespace cordon::app
