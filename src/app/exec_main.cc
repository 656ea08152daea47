// sandbox-exec: the same as `cordon exec`, small and static, so that it costs little where a daemon does the work: it
// asks the daemon, and becomes cordon-exec where there is none or it is not the daemon's to do.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "app/account.h"
#include "app/exec_answer.h"
#include "app/exec_daemon.h"
#include "app/exec_options.h"
#include "app/world.h"
#include "serve/socket/address.h"
#include "sys/own_program.h"

namespace cordon::app {

/// In the place of account.cc, which would look for shared libraries to ask.
std::optional<Account> own_account() { return std::nullopt; }

namespace {

/// False: no daemon can be meant, whatever else the arguments say. Costs one look, before anything is read or made.
bool a_daemon_may_be_there(int argc, char** argv) {
  // Without a HOME the list of users has to be asked.
  const char* home = std::getenv("HOME");
  if (std::getenv("CORDON_NO_DAEMON") != nullptr || home == nullptr || *home != '/') return false;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--st")) return true;  // --state-dir, also shortened
  }
  GlobalOptions global;
  if (const char* given = std::getenv("CORDON_STATE_DIR"); given != nullptr) global.state_dir = given;
  const auto state = state_directory(global);
  return state && ::access(serve::socket::address_of(*state).c_str(), F_OK) == 0;
}

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
  if (!a_daemon_may_be_there(argc, argv)) return finish_exec({}, become_cordon_exec(argv));
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
