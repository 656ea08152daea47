// cordon mcp: the tools for an agent's client, in the Model Context Protocol on stdin and stdout.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <mutex>

#include "app/alarm.h"
#include "app/guard_for.h"
#include "app/preview_maker.h"
#include "app/streams.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/digest.h"
#include "serve/mcp/conversation.h"
#include "serve/mcp/own_tools.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

struct Options {
  std::string role = "agent";
  PresenceOptions presence;
};

/// One message per line on stdout. Nothing else in this process writes there.
class LineOutlet : public serve::mcp::Outlet {
 public:
  explicit LineOutlet(std::stop_source closed) : closed_(std::move(closed)) {}
  void send(const Json& message) override {
    const std::string line = serve::mcp::to_line(message);
    const std::lock_guard lock(mutex_);
    // Nobody reads any more: nobody is to have commands running either.
    if (!sys::write_all(out_, "stdout", line)) closed_.request_stop();
  }

 private:
  std::mutex mutex_;
  sys::Fd out_{::dup(STDOUT_FILENO)};
  std::stop_source closed_;
};

/// Hands on line by line, until the end of stdin or a stop. A line longer than `most` is passed over.
void read_lines(serve::mcp::Conversation& conversation, std::size_t most, const std::stop_token& stop) {
  const sys::Fd wake(::eventfd(0, EFD_CLOEXEC));
  const std::stop_callback on_stop(stop, [&] {
    const std::uint64_t one = 1;
    static_cast<void>(sys::write_all(wake, "eventfd", {reinterpret_cast<const char*>(&one), sizeof one}));
  });
  std::string kept;
  bool too_long = false;
  std::vector<char> buffer(1 << 16);
  while (!stop.stop_requested()) {
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {wake.get(), POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 && errno != EINTR) return;
    if (ready[1].revents != 0) return;
    if (ready[0].revents == 0) continue;
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return;
    for (std::string_view rest(buffer.data(), static_cast<std::size_t>(count)); !rest.empty();) {
      const std::size_t end = rest.find('\n');
      const std::string_view part = rest.substr(0, end);
      if (!too_long) kept += part;
      if (kept.size() > most) {
        too_long = true;
        kept = std::string();
      }
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      if (too_long)
        conversation.receive_too_long();
      else if (kept.find_first_not_of(" \t\r") != std::string::npos)
        conversation.receive(kept);
      kept.clear();
      too_long = false;
    }
  }
}

Result<serve::Caller> caller_of(const GlobalOptions& global, const Options& options, const Request& request) {
  serve::Caller caller{.principal = request.asker, .inside_sandbox = inside_sandbox()};
  caller.principal.surface = "mcp";
  caller.principal.is_agent = true;
  if (options.role == "agent") return caller;
  // Both see what agents asked for, and one of them lets it run: who asks for that shows presence.
  caller.role = options.role == "approver" ? serve::Role::approver : serve::Role::auditor;
  caller.presence =
      TRY(prove_presence(global, options.presence, "Serve the tools of the " + options.role + " to this program?"));
  if (caller.presence == approve::Presence::confirmed) {
    return fail(Fault::denied, "the tools of the {} need the approver's token (cordon approver init --unattended)",
                options.role);
  }
  caller.principal.is_agent = caller.inside_sandbox || options.role == "auditor";
  return caller;
}

Result<int> run(const GlobalOptions& global, const Options& options, const std::string& version) {
  static const SystemClock clock;
  std::signal(SIGPIPE, SIG_IGN);
  const Request request = TRY(request_from(global, {}));
  // What the command line may not claim without presence is refused here, before anyone is served.
  TRY(guard_for(global, request, options.presence, clock));
  const serve::Caller caller = TRY(caller_of(global, options, request));
  GlobalOptions exact = global;
  exact.workspace = request.workspace;
  serve::PremisesOptions place;
  place.sources = TRY(sources_of(exact, request.cwd));
  place.cwd = request.cwd;
  place.inherited = request.inherited;
  place.of_host = request.of_host;
  place.alarm = [](const config::Sources& sources, std::vector<audit::KnownSecret> secrets) {
    return alarm_for(sources, std::move(secrets));
  };
  place.make_preview = preview_maker(place.sources.state_dir);
  place.rules = std::make_shared<guard::RuleBook>(clock);
  const serve::Premises premises(std::move(place), clock);
  serve::mcp::RequestStates states(TRY(random_bytes(32)), clock);

  const StopOnSignal signals;
  std::stop_source closing;
  const std::stop_callback on_signal(signals.token(), [&] { closing.request_stop(); });
  LineOutlet lines(closing);
  const serve::mcp::Bounds bounds;
  serve::mcp::OwnTools tools(premises, caller);
  serve::mcp::Conversation conversation(tools, states, lines, {.caller = caller, .version = version, .bounds = bounds});
  read_lines(conversation, bounds.message_bytes, closing.get_token());
  conversation.end();
  return exit_code::done;
}

}  // namespace

void define_mcp(CommandLine& line) {
  const Verb verb =
      line.verb("mcp", "Serve the tools to an agent's client: Model Context Protocol on stdin and stdout");
  const auto options = std::make_shared<Options>();
  verb.add_option("--role", options->role, "Whose tools: agent, approver or auditor; the last two need the token")
      .type_name("ROLE")
      .one_of({"agent", "approver", "auditor"});
  add_presence_options(verb, options->presence);
  verb.example("cordon mcp --agent claude-code --workspace ~/project");
  verb.exits(exit_code::refused, "it was to loosen limits and nobody showed presence");
  line.does(verb, [&line, options] { return finish(run(line.global(), *options, CORDON_VERSION)); });
}

}  // namespace cordon::app
