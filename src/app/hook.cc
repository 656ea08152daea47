// cordon hook: answers an agent that is about to use a tool, in that agent's own words. Whatever fails is a no.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "app/alarm.h"
#include "app/guard_for.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "serve/hook/judge.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

constexpr std::size_t longest_input = 32U << 20;

/// Shorter than every time that an agent gives its hooks, after which most of them would go on.
constexpr const char* usual_limit = "30s";

struct Options {
  std::string agent;
  std::string limit = usual_limit;
  bool judge_only = false;
};

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Says no when the time is over, wherever the answer got stuck: reading, judging, recording. Who is first, answers.
class Deadline {
 public:
  Deadline(std::chrono::milliseconds limit, const serve::hook::Dialect& dialect)
      : watch_([this, limit, &dialect](const std::stop_token& stop) { wait(limit, dialect, stop); }) {}

  /// From now on the answer is the caller's to give.
  void claim() {
    if (!answered_.exchange(true)) return;
    for (;;) ::pause();  // the no is being said
  }

 private:
  void wait(std::chrono::milliseconds limit, const serve::hook::Dialect& dialect, const std::stop_token& stop) {
    std::mutex alone;
    std::unique_lock lock(alone);
    std::condition_variable_any never;
    never.wait_for(lock, stop, limit, [] { return false; });
    if (stop.stop_requested() || answered_.exchange(true)) return;
    const auto no = serve::hook::print_blocked(dialect, fmt::format("no answer within {} ms", limit.count()));
    write_all(STDERR_FILENO, no.err);
    write_all(STDOUT_FILENO, no.out);
    ::_exit(no.exit_code);
  }

  std::atomic<bool> answered_ = false;
  std::jthread watch_;
};

Result<Json> read_input() {
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Fault::unavailable, "stdin cannot be read");
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > longest_input) return fail(Fault::invalid_input, "more than {} bytes came", longest_input);
  }
  Json sent = parse_json(text);
  if (!sent.is_object()) return fail(Fault::invalid_input, "what came on stdin is no JSON object");
  return sent;
}

Result<std::string> own_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(Fault::unavailable, "cannot tell where cordon is: {}", error.message());
  return path.string();
}

Result<serve::hook::Printed> answer(const GlobalOptions& global, const Options& options,
                                    const serve::hook::Dialect& dialect) {
  static const SystemClock clock;
  const Json sent = TRY(read_input());
  const serve::hook::Asked asked = TRY(dialect.read(sent));
  const Request request = TRY(request_from(global, {.cwd = asked.cwd}));
  serve::Caller caller{.principal = request.asker, .inside_sandbox = inside_sandbox()};
  caller.principal.surface = "hook";
  caller.principal.is_agent = true;
  if (global.agent.empty()) caller.principal.agent = options.agent;
  // What this command line may not claim, its answers may not either.
  TRY(guard_for(global, request, {}, clock));
  GlobalOptions exact = global;
  exact.workspace = request.workspace;
  serve::PremisesOptions place;
  place.sources = TRY(sources_of(exact, request.cwd));
  place.cwd = request.cwd;
  place.inherited = request.inherited;
  place.of_host = request.of_host;
  const serve::hook::HookOptions how{.program = TRY(own_path()),
                                     .state_dir = global.state_dir,
                                     .judge_only = options.judge_only,
                                     .alarm = alarm_for(place.sources, {})};
  const serve::Premises premises(std::move(place), clock);
  return serve::hook::print(dialect, asked, TRY(serve::hook::judge(dialect, asked, premises, caller, how)));
}

int run(const GlobalOptions& global, const Options& options) {
  const serve::hook::Dialect* dialect = serve::hook::find_dialect(options.agent);
  if (dialect == nullptr) return complain({Fault::invalid_input, "there is no hook for the agent " + options.agent});
  const auto limit = milliseconds_of(options.limit, "--limit");
  if (!limit) return complain(limit.error());
  serve::hook::Printed printed;
  Deadline deadline(std::chrono::milliseconds(*limit), *dialect);
  try {
    const auto answered = answer(global, options, *dialect);
    printed = answered ? *answered : serve::hook::print_blocked(*dialect, answered.error().sentence);
  } catch (const std::exception& problem) {
    // No exception may leave here: most agents take any other end than 0 and 2 for a yes.
    printed = serve::hook::print_blocked(*dialect, problem.what());
  }
  deadline.claim();
  std::cerr << printed.err;
  std::cout << printed.out << std::flush;
  return std::cout.good() ? printed.exit_code : 2;
}

}  // namespace

void define_hook(CommandLine& line) {
  const Verb verb = line.verb("hook", "Answer an agent's hook (JSON on stdin); allowed commands run inside Cordon");
  const auto options = std::make_shared<Options>();
  verb.add_option("AGENT", options->agent, "Whose hook: claude-code, codex, gemini, cursor, openclaw")
      .one_of({"claude-code", "codex", "gemini", "cursor", "openclaw"})
      .required();
  verb.add_flag("--judge-only", options->judge_only, "Weaker: let allowed commands run as they are, not isolated");
  verb.add_option("--limit", options->limit, "Say no when there is no answer after this time (30s if not given)")
      .type_name("TIME");
  verb.example("cordon hook claude-code < event.json");
  verb.exits(0, "answered, as the JSON on stdout says");
  verb.exits(2, "blocked: it could not be judged, or not in time");
  line.does(verb, [&line, options] { return run(line.global(), *options); });
}

}  // namespace cordon::app
