// cordon serve: the daemon.
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <thread>

#include "app/alarm.h"
#include "app/asker.h"
#include "app/preview_maker.h"
#include "app/streams.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "plan/environment.h"
#include "serve/http/server.h"
#include "serve/service.h"
#include "serve/socket/address.h"
#include "serve/socket/server.h"

namespace cordon::app {

namespace {

struct Options {
  std::string socket;
  std::string idle;
  std::string grace;
  std::string http_socket;
  bool no_http = false;
  std::string listen;
  std::string certificate;
  std::string key;
  std::vector<std::string> hosts;
  std::vector<std::string> origins;
  std::string patience;
  std::uint64_t most_body = 1U << 20;
  std::uint64_t most_connections = 1024;
  std::uint64_t most_calls = 64;
  std::uint64_t rate = 500;
};

/// Where the tools of a token work: what a command line in that workspace would have.
Result<serve::PremisesOptions> place_of(const GlobalOptions& global, const std::string& workspace) {
  GlobalOptions exact = global;
  exact.workspace = workspace;
  exact.config.clear();  // settings that nobody has trusted are not for clients
  serve::PremisesOptions place;
  place.sources = TRY(sources_of(exact, workspace));
  place.cwd = workspace;
  place.inherited = plan::inherited_variables(environ);
  place.of_host = plan::host_variables(environ, {workspace, place.sources.state_dir, "/tmp", "/var/tmp", "/dev/shm"});
  return place;
}

/// The HTTP server with what it is made of, in the order of their lives.
struct Http {
  std::unique_ptr<serve::http::Api> api;
  std::unique_ptr<serve::http::Server> server;
};

Result<Http> open_http(const GlobalOptions& global, const Options& options, const std::string& workspace,
                       serve::Service& service, const Clock& clock) {
  serve::http::ApiOptions api;
  api.version = CORDON_VERSION;
  api.door = {.user = TRY(user_name()),
              .uid = ::geteuid(),
              .workspace = workspace,
              .hosts = options.hosts,
              .origins = options.origins};
  api.quota = {.per_second = static_cast<double>(options.rate), .calls_at_once = options.most_calls};
  api.place = [global](const std::string& where) { return place_of(global, where); };
  serve::http::ServerOptions server;
  server.socket =
      options.http_socket.empty()
          ? serve::http::http_socket_for(options.socket.empty() ? serve::socket::address_of(service.sources().state_dir)
                                                                : options.socket)
          : options.http_socket;
  server.listen = options.listen;
  server.certificate = options.certificate;
  server.key = options.key;
  server.bounds.body_bytes = options.most_body;
  server.connections = options.most_connections;
  if (!options.patience.empty()) {
    server.patience = std::chrono::milliseconds(TRY(milliseconds_of(options.patience, "--patience")));
  }
  if (!options.grace.empty()) {
    server.grace = std::chrono::milliseconds(TRY(milliseconds_of(options.grace, "--grace")));
  }
  if (options.rate == 0 || options.most_calls == 0 || options.most_connections == 0) {
    return fail(Fault::invalid_input, "--rate, --max-calls and --max-connections must be at least 1");
  }
  Http http;
  http.api = TRY(serve::http::Api::open(std::move(api), service, clock));
  http.server = TRY(serve::http::Server::listen(server, *http.api));
  return http;
}

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
  // Of clients that show no token; found before we leave where we were started.
  const std::string workspace = TRY(sources_of(global, TRY(current_directory()))).workspace;
  // Whoever started us may remove the directory we were started in.
  if (::chdir("/") != 0) return fail(Fault::internal, "cannot change to /");
  std::string note;
  const auto service = TRY(serve::Service::open(std::move(service_options), clock, note));
  if (!note.empty()) std::cerr << "cordon: " << note << '\n';
  const std::string path = server_options.path;
  const auto server = TRY(serve::socket::Server::listen(std::move(server_options), *service));
  Http http;
  if (!options.no_http) http = TRY(open_http(global, options, workspace, *service, clock));
  // The first line is what scripts wait for; everything listens by now.
  std::cout << "cordon " << CORDON_VERSION << " listening on " << path << std::endl;
  std::thread web;
  if (http.server) {
    for (const std::string& place : http.server->places()) std::cout << "HTTP on " << place << std::endl;
    web = std::thread([&] { http.server->serve(stop.token(), stop.again()); });
  }
  server->serve(stop.token(), stop.again());
  if (web.joinable()) web.join();
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
  verb.add_option("--http-socket", options->http_socket,
                  "Unix socket of the HTTP interface (default: beside the other)")
      .type_name("PATH");
  verb.add_flag("--no-http", options->no_http, "Without the HTTP interface");
  verb.add_option("--listen", options->listen, "HTTP on TCP too, e.g. 127.0.0.1:8080; beyond loopback only with TLS")
      .type_name("ADDR:PORT");
  verb.add_option("--tls-cert", options->certificate, "Certificate chain (PEM) for --listen").type_name("FILE");
  verb.add_option("--tls-key", options->key, "Its private key (PEM)").type_name("FILE");
  verb.add_option("--host", options->hosts, "A name that clients call this server by, besides its address")
      .type_name("NAME");
  verb.add_option("--origin", options->origins, "Pages of this origin may use the HTTP interface").type_name("URL");
  verb.add_option("--max-body", options->most_body, "Bytes of a request's body at most (default 1048576)")
      .type_name("BYTES");
  verb.add_option("--max-connections", options->most_connections, "HTTP clients at once (default 1024)").type_name("N");
  verb.add_option("--max-calls", options->most_calls, "Calls at once of one token (default 64)").type_name("N");
  verb.add_option("--rate", options->rate, "Requests a second of one token (default 500)").type_name("N");
  verb.add_option("--patience", options->patience, "How long a request may take to arrive (default 10s)")
      .type_name("TIME");
  verb.example("cordon serve");
  verb.example("cordon serve --listen 127.0.0.1:8080 --workspace ~/project");
  line.does(verb, [&line, options] { return finish(run(line.global(), *options)); });
}

}  // namespace cordon::app
