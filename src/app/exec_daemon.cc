#include "app/exec_daemon.h"

#include "app/daemon.h"
#include "app/exec_answer.h"

namespace cordon::app {

Result<std::optional<int>> execute_by_daemon(const GlobalOptions& global, const ExecOptions& options,
                                             const Request& request) {
  // What needs the person at this terminal, or more of the guard than a run, is done here.
  if (options.dry_run || options.keep || options.learn_network || options.detach || !options.ticket.empty()) {
    return std::optional<int>();
  }
  const auto wait = TRY(options.longest_wait());
  serve::socket::Question question{.verb = serve::socket::Verb::exec, .request = request, .approval = options.approval};
  if (wait) question.wait_ms = std::chrono::duration_cast<std::chrono::milliseconds>(*wait).count();
  question.person_is_there = !wait && !options.no_prompt && someone_is_here(global, request);
  question.dry_run_is_fine = options.no_dry_run;
  const auto answer = TRY(ask_daemon(std::move(question), {global, options.request.presence, options.input}));
  if (!answer) return std::optional<int>();
  return std::optional(show_answer(global, options, *answer));
}

}  // namespace cordon::app
