#include "app/daemon.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "app/stop.h"
#include "app/world.h"
#include "sys/fd.h"

namespace cordon::app {

Result<std::optional<serve::socket::Answer>> ask_daemon(serve::socket::Question question, const DaemonUse& use) {
  using serve::socket::Passed;
  std::optional<serve::socket::Answer> nothing;
  const GlobalOptions& global = use.global;
  const char* off = std::getenv("CORDON_NO_DAEMON");
  const bool has_token = std::getenv("CORDON_APPROVER_TOKEN") != nullptr || !use.presence.token_file.empty();
  if (off != nullptr || has_token || !global.config.empty() || question.request.tty) return nothing;
  const sys::Fd cwd(::open(question.request.cwd.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (cwd.get() < 0) return nothing;
  std::vector<int> descriptors = {cwd.get()};
  question.passed = {Passed::cwd};
  const auto pass = [&](Passed what, int number) {
    question.passed.push_back(what);
    descriptors.push_back(number);
  };
  if (use.input) pass(Passed::input, STDIN_FILENO);
  if (!global.json) {
    pass(Passed::output, STDOUT_FILENO);
    pass(Passed::errors, STDERR_FILENO);
  }
  serve::socket::Conversation conversation;
  std::optional<HangUpOnSignal> hang_up;
  conversation.sent = [&hang_up](int connection) { hang_up.emplace(connection); };
  conversation.waiting = [quiet = global.quiet || global.json](const std::string& id) {
    if (!quiet) std::cerr << "cordon: waiting for approval of " << id << "; run: sandbox-queue approve " << id << '\n';
  };
  auto told =
      TRY(serve::socket::ask(question, descriptors, TRY(sources_of(global, question.request.cwd)), conversation));
  auto* answer = std::get_if<serve::socket::Answer>(&told);
  if (answer == nullptr) return nothing;
  return std::optional(std::move(*answer));
}

}  // namespace cordon::app
