// sandbox-exec: the same as `cordon exec`, and small, so that it costs little where a daemon does the work: it asks the
// daemon, and becomes cordon-exec where there is none or it is not the daemon's to do.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "app/exec_answer.h"
#include "app/exec_daemon.h"
#include "app/exec_options.h"
#include "sys/own_program.h"

namespace cordon::app {

namespace {

Result<int> become_cordon_exec(char** argv) {
  const std::string program = TRY(sys::beside_own_program("../libexec/cordon/cordon-exec"));
  ::execv(program.c_str(), argv);
  return fail(Fault::unavailable, "{}: {} (is Cordon installed whole?)", program, std::strerror(errno));
}

Result<int> run(const GlobalOptions& global, const ExecOptions& options, char** argv) {
  // Trouble with the request is told by who would do it, in the same words.
  const auto request = exec_request(global, options);
  if (!request) return become_cordon_exec(argv);
  if (const auto done = TRY(execute_by_daemon(global, options, *request))) return *done;
  return become_cordon_exec(argv);
}

}  // namespace

}  // namespace cordon::app

int main(int argc, char** argv) {
  using namespace cordon::app;
  std::vector<std::string> arguments = {"exec"};
  if (argc > 1) arguments.insert(arguments.end(), argv + 1, argv + argc);
  CommandLine line;
  ExecOptions options;
  define_exec(line, options, [&] { return finish_exec(line.global(), run(line.global(), options, argv)); });
  const int code = line.run(std::move(arguments));
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(code);
}
