#include "app/detach.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>

#include "app/guard_for.h"
#include "app/streams.h"
#include "app/terminal.h"
#include "base/text.h"
#include "guard/detached.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

// A server wants to stay; a forgotten one must not stay for ever.
constexpr std::uint64_t default_wall_ms = 12ULL * 3600 * 1000;
constexpr std::uint64_t kept_output_bytes = 16ULL << 20;
constexpr auto remembered_for = std::chrono::hours(24 * 7);

/// One JSON line to the process that asked, then nothing more.
class Starter {
 public:
  explicit Starter(sys::Fd pipe) : pipe_(std::move(pipe)) {}
  void tell(const Json& answer) {
    if (told_) return;
    told_ = true;
    static_cast<void>(sys::write_all(pipe_, "pipe", answer.dump(-1, ' ', false, Json::error_handler_t::replace)));
    pipe_ = sys::Fd(-1);
  }

 private:
  sys::Fd pipe_;
  bool told_ = false;
};

/// The run is noted when it is about to start: what is refused or waits is no run.
class KeeperIo : public sandbox::Io {
 public:
  KeeperIo(const guard::DetachedRuns& runs, const Request& request, Starter& starter)
      : runs_(runs), request_(request), starter_(starter) {}
  void started() override {
    auto run = runs_.begin(request_, SystemClock().now());
    if (!run) return;
    auto files = guard::FileIo::create(*run);
    if (!files) return;
    run_ = *std::move(run);
    files_ = *std::move(files);
    starter_.tell({{"id", run_->id}, {"status", "started"}, {"logs", "cordon logs " + run_->id}, {"exit", 0}});
  }
  void output(sandbox::Stream stream, std::string_view bytes) override {
    if (files_) files_->output(stream, bytes);
  }
  const std::optional<guard::DetachedRun>& run() const { return run_; }

 private:
  const guard::DetachedRuns& runs_;
  const Request& request_;
  Starter& starter_;
  std::optional<guard::DetachedRun> run_;
  std::optional<guard::FileIo> files_;
};

void become_keeper() {
  ::setsid();
  std::signal(SIGHUP, SIG_IGN);
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null.get(), stream);
}

[[noreturn]] void keep(guard::Guard guard, const Request& request, const std::string& approval, Starter starter) {
  become_keeper();
  const StopOnSignal stop;
  const guard::DetachedRuns runs(guard.sources().state_dir);
  runs.forget(SystemClock().now() - remembered_for);
  KeeperIo io(runs, request, starter);
  guard::Asking asking;
  asking.approval = approval;
  const guard::Execution execution = guard.execute(request, asking, io, stop.token());
  Json object = guard::to_json(execution, {});
  if (io.run()) static_cast<void>(runs.end(*io.run(), SystemClock().now(), object));
  object["exit"] = guard::exit_code_of(execution);
  object["sentence"] = guard::sentence_of(execution);
  starter.tell(object);
  std::exit(0);
}

std::string read_to_end(const sys::Fd& pipe) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(pipe.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<int> detach(const GlobalOptions& global, Request request, const PresenceOptions& presence,
                   const std::string& approval) {
  static const SystemClock clock;
  if (request.input_given || request.tty) {
    return fail(Fault::invalid_input, "--detach goes without --stdin and --tty: nobody would be there");
  }
  if (!request.wall_ms) request.wall_ms = default_wall_ms;
  request.output_bytes = kept_output_bytes;
  auto guard = TRY(guard_for(global, request, presence, clock));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe: {}", sys::errno_text(errno));
  sys::Fd reading(ends[0]);
  sys::Fd writing(ends[1]);
  const pid_t keeper = ::fork();
  if (keeper < 0) return fail(Fault::unavailable, "fork: {}", sys::errno_text(errno));
  if (keeper == 0) {
    reading = sys::Fd(-1);
    keep(std::move(guard), request, approval, Starter(std::move(writing)));
  }
  writing = sys::Fd(-1);
  const Json answer = Json::parse(read_to_end(reading), nullptr, false);
  if (!answer.is_object()) return fail(Fault::internal, "the process that was to hold the run died; see the audit log");
  if (global.json) {
    std::cout << answer.dump(2) << '\n';
  } else if (answer.contains("id")) {
    std::cout << answer["id"].get<std::string>() << '\n';
  } else if (answer.contains("sentence")) {
    std::cerr << "cordon: " << visible(answer["sentence"].get<std::string>(), Lines::keep) << '\n';
  }
  return answer.value("exit", exit_code::not_run);
}

}  // namespace cordon::app
