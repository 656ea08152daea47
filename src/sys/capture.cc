#include "sys/capture.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::sys {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> made;
  for (const std::string& word : words) made.push_back(const_cast<char*>(word.c_str()));
  made.push_back(nullptr);
  return made;
}

Result<pid_t> spawn(const Question& question, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  // A group of its own, so that what it starts is killed with it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, question.directory.c_str());
  pid_t child = 0;
  const int error = posix_spawn(&child, question.argv[0].c_str(), &actions, &attributes, pointers(question.argv).data(),
                                pointers(question.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail(Fault::unavailable, "cannot start {}: {}", question.argv[0], errno_text(error));
  return child;
}

/// Nothing when it said too much or took too long.
std::optional<std::string> read_answer(int input, const Question& question) {
  const auto end = std::chrono::steady_clock::now() + question.patience;
  std::string answer;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd waiting{input, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
    char buffer[4096];
    const ssize_t count = ::read(input, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return answer;
    answer.append(buffer, static_cast<std::size_t>(count));
    if (answer.size() > question.limit) return std::nullopt;
  }
}

}  // namespace

Result<std::string> capture(const Question& question) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::internal, "cannot make a pipe: {}", errno_text(errno));
  const Fd input(ends[0]);
  std::optional<Fd> output(std::in_place, ends[1]);
  const pid_t child = TRY(spawn(question, output->get()));
  output.reset();
  std::optional<std::string> answer = read_answer(input.get(), question);
  if (!answer) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // Whatever it left running in its group must not outlive the question.
  ::kill(-child, SIGKILL);
  if (!answer) return fail(Fault::unavailable, "{} gave no answer in time", question.argv[0]);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail(Fault::unavailable, "{} failed", question.argv[0]);
  return *std::move(answer);
}

}  // namespace cordon::sys
