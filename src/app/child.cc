#include "app/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "sys/file.h"

namespace cordon::app {

namespace {

constexpr unsigned longest_s = 60;

}  // namespace

Result<Child> Child::start(const std::string& command) {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe: {}", sys::errno_text(errno));
  const sys::Fd their_in(in[0]);
  sys::Fd our_in(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe: {}", sys::errno_text(errno));
  sys::Fd our_out(out[0]);
  const sys::Fd their_out(out[1]);
  std::signal(SIGPIPE, SIG_IGN);
  const pid_t number = ::fork();
  if (number < 0) return fail(Fault::unavailable, "fork: {}", sys::errno_text(errno));
  if (number == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    ::dup2(their_in.get(), STDIN_FILENO);
    ::dup2(their_out.get(), STDOUT_FILENO);
    ::alarm(longest_s);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  return Child(number, std::move(our_in), std::move(our_out));
}

Child::Child(Child&& other) noexcept
    : number_(std::exchange(other.number_, -1)), input_(std::move(other.input_)), output_(std::move(other.output_)) {}

Child::~Child() {
  if (number_ <= 0) return;
  ::kill(number_, SIGKILL);
  static_cast<void>(wait());
}

int Child::wait() {
  int status = 0;
  while (::waitpid(number_, &status, 0) < 0 && errno == EINTR) {
  }
  number_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

Result<Ended> run_with(const std::string& command, std::string_view input) {
  Child child = TRY(Child::start(command));
  static_cast<void>(sys::write_all(child.input(), "pipe", input));
  child.end_input();
  Ended ended;
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(child.output().get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    ended.out.append(buffer, static_cast<std::size_t>(count));
  }
  ended.code = child.wait();
  return ended;
}

}  // namespace cordon::app
