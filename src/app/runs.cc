// cordon ps, logs, stop: runs that were started with --detach.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <thread>

#include "app/presence.h"
#include "app/streams.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "guard/detached.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

constexpr auto glance = std::chrono::milliseconds(100);
constexpr auto patience = std::chrono::seconds(10);

Result<guard::DetachedRuns> runs_of(const GlobalOptions& global) {
  return guard::DetachedRuns(TRY(state_directory(global)));
}

std::string age_of(const guard::DetachedRun& run) {
  const Time until = run.ended.value_or(SystemClock().now());
  return to_text(std::chrono::duration_cast<std::chrono::seconds>(until - run.started));
}

Result<int> list(const GlobalOptions& global, bool all) {
  std::vector<guard::DetachedRun> runs = TRY(TRY(runs_of(global)).list());
  if (!all) std::erase_if(runs, [](const guard::DetachedRun& run) { return !run.running(); });
  if (global.json) {
    Json array = Json::array();
    for (const guard::DetachedRun& run : runs) array.push_back(guard::to_json(run));
    std::cout << array.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    return exit_code::done;
  }
  if (runs.empty() && !global.quiet)
    std::cerr << "nothing runs" << (all ? "" : "; --all also lists what has ended") << '\n';
  for (const guard::DetachedRun& run : runs) {
    std::cout << fmt::format("{}  {:<16}  {:>8}  {}\n", run.id, run.status(), age_of(run),
                             visible(run.command, Lines::escape));
  }
  return exit_code::done;
}

/// Copies what is new since `offset`.
Result<void> copy(const std::string& path, off_t& offset, int to) {
  const sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) return fail(Fault::unavailable, "cannot read {}: {}", path, sys::errno_text(errno));
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::pread(file.get(), buffer, sizeof buffer, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    offset += count;
    const sys::Fd out(::dup(to));
    CHECK_OK(sys::write_all(out, "output", {buffer, static_cast<std::size_t>(count)}));
  }
}

Result<int> logs(const GlobalOptions& global, const std::string& id, bool follow) {
  const guard::DetachedRuns runs = TRY(runs_of(global));
  const guard::DetachedRun run = TRY(runs.find(id));
  const StopOnSignal stop;
  off_t out = 0;
  off_t err = 0;
  for (;;) {
    const bool running = TRY(runs.find(id)).running();  // before reading: what it wrote last is not missed
    CHECK_OK(copy(run.directory + "/stdout", out, STDOUT_FILENO));
    CHECK_OK(copy(run.directory + "/stderr", err, STDERR_FILENO));
    if (!follow || !running || stop.token().stop_requested()) return exit_code::done;
    std::this_thread::sleep_for(glance);
  }
}

Result<int> end(const GlobalOptions& global, const std::string& id) {
  const guard::DetachedRuns runs = TRY(runs_of(global));
  CHECK_OK(runs.stop(TRY(runs.find(id))));
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    const guard::DetachedRun run = TRY(runs.find(id));
    if (!run.running()) {
      if (!global.quiet) std::cerr << id << ' ' << run.status() << '\n';
      return exit_code::done;
    }
    std::this_thread::sleep_for(glance);
  }
  return fail(Fault::unavailable, "{} has been asked to end but still runs", id);
}

}  // namespace

void define_runs(CommandLine& line) {
  const Verb ps = line.verb("ps", "List runs that were started with exec --detach");
  const auto all = std::make_shared<bool>(false);
  ps.add_flag("-a,--all", *all, "Also those that have ended");
  ps.example("cordon ps --all");
  line.does(ps, [&line, all] { return finish(list(line.global(), *all)); });

  const Verb show = line.verb("logs", "Print what a detached run wrote");
  const auto id = std::make_shared<std::string>();
  const auto follow = std::make_shared<bool>(false);
  show.add_option("ID", *id, "Id of the run").required();
  show.add_flag("-f,--follow", *follow, "Stay and print what comes, until it ends");
  show.example("cordon logs -f run_abcdefghij");
  line.does(show, [&line, id, follow] { return finish(logs(line.global(), *id, *follow)); });

  const Verb stop = line.verb("stop", "End a detached run and everything it started");
  const auto stopped = std::make_shared<std::string>();
  stop.add_option("ID", *stopped, "Id of the run").required();
  stop.example("cordon stop run_abcdefghij");
  line.does(stop, [&line, stopped] { return finish(end(line.global(), *stopped)); });
}

}  // namespace cordon::app
