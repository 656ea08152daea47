// cordon serve: the daemon.
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "app/alarm.h"
#include "app/asker.h"
#include "app/preview_maker.h"
#include "app/streams.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "serve/service.h"
#include "serve/socket/address.h"
#include "serve/socket/server.h"

namespace cordon::app {

namespace {

struct Options {
  std::string socket;
  std::string idle;
  std::string grace;
};

Result<int> run(const GlobalOptions& global, const Options& options) {
  static const SystemClock clock;
  if (inside_sandbox()) return fail(Fault::denied, "a daemon is not started from inside a sandbox");
  std::signal(SIGPIPE, SIG_IGN);
  // Before any thread is there: they all leave signals to the one that waits for them.
  const StopOnSignal stop;
  serve::ServiceOptions service_options;
  service_options.sources = TRY(sources_of(global, "/"));
  service_options.alarm = alarm_for;
  service_options.make_preview = preview_maker(service_options.sources.state_dir);
  if (!options.idle.empty()) {
    service_options.idle = std::chrono::milliseconds(TRY(milliseconds_of(options.idle, "--idle")));
  }
  serve::socket::ServerOptions server_options;
  server_options.path =
      options.socket.empty() ? serve::socket::address_of(service_options.sources.state_dir) : options.socket;
  if (!options.grace.empty()) {
    server_options.grace = std::chrono::milliseconds(TRY(milliseconds_of(options.grace, "--grace")));
  }
  // Whoever started us may remove the directory we were started in.
  if (::chdir("/") != 0) return fail(Fault::internal, "cannot change to /");
  std::string note;
  const auto service = TRY(serve::Service::open(std::move(service_options), clock, note));
  if (!note.empty()) std::cerr << "cordon: " << note << '\n';
  const std::string path = server_options.path;
  const auto server = TRY(serve::socket::Server::listen(std::move(server_options), *service));
  std::cout << "cordon " << CORDON_VERSION << " listening on " << path << std::endl;
  server->serve(stop.token(), stop.again());
  return exit_code::done;
}

}  // namespace

void define_serve(CommandLine& line) {
  const Verb verb = line.verb("serve", "Answer exec and run from a daemon that keeps sandboxes ready");
  const auto options = std::make_shared<Options>();
  verb.add_option("--socket", options->socket, "Listen here (default: in $XDG_RUNTIME_DIR/cordon)").type_name("PATH");
  verb.add_option("--idle", options->idle, "End interpreters that nobody used for so long (default 10m)")
      .type_name("TIME");
  verb.add_option("--grace", options->grace, "When told to end, let what runs finish for so long (default 10s)")
      .type_name("TIME");
  verb.example("cordon serve");
  line.does(verb, [&line, options] { return finish(run(line.global(), *options)); });
}

}  // namespace cordon::app
