#include "app/probe.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "app/surroundings.h"
#include "base/text.h"
#include "serve/install/agent.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

using sandbox::native::Check;

struct Ended {
  std::string out;
  int code = -1;
};

/// As an agent does it: by a shell, JSON on stdin.
Result<Ended> run_hook(const std::string& command, std::string_view input) {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe");
  const sys::Fd their_in(in[0]);
  sys::Fd our_end(in[1]);
  sys::Fd their_out(out[1]);
  const sys::Fd answers(out[0]);
  const pid_t child = ::fork();
  if (child < 0) return fail(Fault::unavailable, "fork: {}", sys::errno_text(errno));
  if (child == 0) {
    ::dup2(their_in.get(), STDIN_FILENO);
    ::dup2(their_out.get(), STDOUT_FILENO);
    ::alarm(60);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  std::signal(SIGPIPE, SIG_IGN);
  static_cast<void>(sys::write_all(our_end, "pipe", input));
  our_end = sys::Fd(-1);
  their_out = sys::Fd(-1);
  Ended ended;
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(answers.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    ended.out.append(buffer, static_cast<std::size_t>(count));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return ended;
}

Check probe(const serve::install::Agent& agent, const std::string& file, const std::string& command) {
  Check check{.name = "hook of " + std::string(agent.name), .works = false, .needed = true};
  check.fix = "run: cordon install " + std::string(agent.name);
  const auto ended = run_hook(command, agent.probe);
  if (!ended) {
    check.detail = ended.error().sentence;
    return check;
  }
  const bool denied =
      ended->out.find("deny") != std::string::npos || ended->out.find("\"block\":true") != std::string::npos;
  // 2 is what a hook that cannot judge ends with: the command would be blocked, but so would every other.
  check.works = ended->code == 0 && denied;
  check.detail = check.works        ? file + " (a command that must be refused was refused)"
                 : ended->code == 2 ? file + ": it blocks everything, because it cannot judge"
                                    : fmt::format("{}: it did not refuse (exit code {})", file, ended->code);
  if (check.works) check.fix.clear();
  return check;
}

}  // namespace

std::vector<Check> probe_hooks(const GlobalOptions& global) {
  std::vector<Check> checks;
  const auto cwd = Surroundings::current_directory();
  const auto sources = cwd ? sources_of(global, *cwd) : tl::make_unexpected(cwd.error());
  if (!sources) return checks;
  for (const serve::install::Agent& agent : serve::install::agents()) {
    for (const auto scope : {serve::install::Scope::user, serve::install::Scope::project}) {
      const serve::install::Facts facts{
          .program = "/cordon", .workspace = sources->workspace, .home = sources->home, .scope = scope};
      for (const serve::install::Edit& edit : agent.edits(facts)) {
        const auto text = sys::read_file_if_exists(edit.path, 64U << 20);
        if (!text || !*text) continue;
        const std::string command = serve::install::installed_hook(parse_json(**text), agent.name);
        if (!command.empty()) checks.push_back(probe(agent, edit.path, command));
      }
    }
  }
  return checks;
}

}  // namespace cordon::app
