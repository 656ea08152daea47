#include "notify/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::notify {

namespace {

constexpr std::size_t longest_answer = 4096;

void forget_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // A peer that hangs up is an error to report, not a death.
  ::signal(SIGPIPE, SIG_IGN);
}

void point_standard_streams_nowhere() {
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (int standard = 0; standard <= 2; ++standard) {
    if (nowhere < 0)
      ::close(standard);
    else
      ::dup2(nowhere, standard);
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> made;
  for (const std::string& string : strings) made.push_back(const_cast<char*>(string.c_str()));
  made.push_back(nullptr);
  return made;
}

Result<sys::Fd> input_of(const std::string& text) {
  sys::Fd file(::memfd_create("notice", MFD_CLOEXEC));
  if (file.get() < 0) return fail(Fault::unavailable, "memfd_create: {}", sys::errno_text(errno));
  CHECK_OK(sys::write_all(file, "the hook's input", text));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail(Fault::unavailable, "lseek: {}", sys::errno_text(errno));
  return file;
}

}  // namespace

void detach(const std::function<void()>& work, std::chrono::seconds limit) {
  const pid_t middle = ::fork();
  if (middle < 0) return;
  if (middle > 0) {
    wait_for(middle);
    return;
  }
  // Twice, so that nobody has to collect it; nothing here may return into the caller's code.
  if (::setsid() < 0 || ::fork() != 0) ::_exit(0);
  ::alarm(static_cast<unsigned>(limit.count()));
  forget_signals();
  point_standard_streams_nowhere();
  ::close_range(3, ~0U, 0);
  if (::chdir("/") != 0) ::_exit(1);
  work();
  ::_exit(0);
}

Result<void> within(std::chrono::milliseconds limit, const std::function<Result<void>()>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe: {}", sys::errno_text(errno));
  sys::Fd reads(ends[0]), writes(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(Fault::unavailable, "fork: {}", sys::errno_text(errno));
  if (child == 0) {
    // A group of its own: what it starts ends with it.
    ::setpgid(0, 0);
    const auto result = work();
    const std::string answer = result ? "ok" : "-" + result.error().sentence.substr(0, longest_answer - 1);
    static_cast<void>(sys::write_all(writes, "pipe", answer));
    ::_exit(0);
  }
  ::setpgid(child, child);
  { const sys::Fd closed = std::move(writes); }
  pollfd answer{reads.get(), POLLIN, 0};
  const bool in_time = ::poll(&answer, 1, static_cast<int>(limit.count())) > 0;
  std::string said;
  if (in_time) {
    char buffer[longest_answer];
    const ssize_t count = ::read(reads.get(), buffer, sizeof buffer);
    if (count > 0) said.assign(buffer, static_cast<std::size_t>(count));
  }
  ::kill(-child, SIGKILL);
  wait_for(child);
  if (!in_time) return fail(Fault::unavailable, "took longer than {} ms", limit.count());
  if (said == "ok") return {};
  return fail(Fault::unavailable, "{}", said.starts_with("-") ? said.substr(1) : "died");
}

namespace {

Result<pid_t> start(const Hook& hook, int output) {
  const sys::Fd input = TRY(input_of(hook.input));
  const auto argv = pointers(hook.argv);
  const auto environment = pointers(hook.environment);
  const pid_t child = ::fork();
  if (child < 0) return fail(Fault::unavailable, "fork: {}", sys::errno_text(errno));
  if (child > 0) return child;
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(input.get(), 0);
  ::dup2(output >= 0 ? output : nowhere, 1);
  ::dup2(nowhere, 2);
  ::close_range(3, ~0U, 0);
  ::signal(SIGPIPE, SIG_DFL);
  ::execve(argv[0], argv.data(), environment.data());
  ::_exit(127);
}

Result<void> end_of(pid_t child, const std::string& name) {
  const int status = wait_for(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return fail(Fault::unavailable, "{} could not be started", name);
  }
  if (WIFEXITED(status)) return fail(Fault::unavailable, "{} exited with {}", name, WEXITSTATUS(status));
  return fail(Fault::unavailable, "{} was killed", name);
}

}  // namespace

Result<void> run_hook(const Hook& hook) { return end_of(TRY(start(hook, -1)), hook.argv.front()); }

Result<std::string> ask_hook(const Hook& hook, std::size_t most) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe: {}", sys::errno_text(errno));
  sys::Fd reads(ends[0]), writes(ends[1]);
  const pid_t child = TRY(start(hook, writes.get()));
  { const sys::Fd closed = std::move(writes); }
  std::string said(most, '\0');
  std::size_t length = 0;
  while (length < most) {
    const ssize_t count = ::read(reads.get(), said.data() + length, most - length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    length += static_cast<std::size_t>(count);
  }
  { const sys::Fd closed = std::move(reads); }
  CHECK_OK(end_of(child, hook.argv.front()));
  said.resize(length);
  return said;
}

}  // namespace cordon::notify
