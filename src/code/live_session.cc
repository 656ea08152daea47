#include "code/live_session.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/digest.h"

namespace cordon::code {

/// One call's reading of both streams; the token ends its part of each.
struct LiveSession::Call {
  Call(const CodeRequest& request, const std::string& token, Sink* sink)
      : reader(token, 2 * request.max_artifacts + (64ULL << 20), ReplyReader::Start::at_once),
        error_reader(token, 0, ReplyReader::Start::at_once),
        output(request.max_output, sandbox::Stream::out, sink),
        errors(request.max_output, sandbox::Stream::err, sink) {}
  bool complete() { return reader.reply().done && error_reader.in_records(); }

  ReplyReader reader;
  ReplyReader error_reader;
  KeptStream output;
  KeptStream errors;
};

/// Between the thread that the sandbox runs on and whoever calls.
class LiveSession::Channel : public sandbox::Io {
 public:
  Channel(sys::Fd read_end, sys::Fd write_end) : read_end_(std::move(read_end)), write_end_(std::move(write_end)) {}

  void output(sandbox::Stream stream, std::string_view bytes) override {
    std::lock_guard guard(lock_);
    if (!ready_ && stream == sandbox::Stream::out && !bytes.empty()) {
      ready_ = true;
      bytes.remove_prefix(1);
    }
    // Between calls nobody listens to what a thread of the code still says.
    if (!call_) return;
    if (stream == sandbox::Stream::out) {
      call_->reader.feed(bytes, [this](std::string_view raw) { call_->output.add(raw); });
    } else {
      call_->error_reader.feed(bytes, [this](std::string_view raw) { call_->errors.add(raw); });
    }
    if (call_->complete()) changed_.notify_all();
  }
  std::optional<int> input_descriptor() override { return read_end_.get(); }

  void ended(RunReport report) {
    std::lock_guard guard(lock_);
    report_ = std::move(report);
    over_ = true;
    changed_.notify_all();
  }
  bool over() {
    std::lock_guard guard(lock_);
    return over_;
  }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::write(write_end_.get(), bytes.data(), bytes.size());
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void begin(Call* call) {
    std::lock_guard guard(lock_);
    call_ = call;
    last_used_ = std::chrono::steady_clock::now();
  }
  /// False when the answer did not come in time.
  bool wait(std::chrono::milliseconds patience, const std::stop_token& stop) {
    std::stop_callback wake(stop, [this] {
      std::lock_guard inner(lock_);
      changed_.notify_all();
    });
    std::unique_lock guard(lock_);
    return changed_.wait_for(guard, patience, [&] { return over_ || call_->complete() || stop.stop_requested(); }) &&
           (over_ || call_->complete());
  }
  void finish() {
    std::lock_guard guard(lock_);
    call_ = nullptr;
    last_used_ = std::chrono::steady_clock::now();
  }
  RunReport report() {
    std::lock_guard guard(lock_);
    return report_;
  }
  std::chrono::steady_clock::time_point last_used() {
    std::lock_guard guard(lock_);
    return call_ ? std::chrono::steady_clock::now() : last_used_;
  }

 private:
  sys::Fd read_end_;
  sys::Fd write_end_;
  std::mutex lock_;
  std::condition_variable changed_;
  Call* call_ = nullptr;
  bool ready_ = false;
  bool over_ = false;
  RunReport report_;
  std::chrono::steady_clock::time_point last_used_ = std::chrono::steady_clock::now();
};

LiveSession::LiveSession(const Language& language, std::unique_ptr<Channel> channel, std::uint64_t memory_bytes)
    : language_(language), channel_(std::move(channel)), memory_bytes_(memory_bytes) {}

LiveSession::~LiveSession() {
  stop_.request_stop();
  if (thread_.joinable()) thread_.join();
}

Result<std::unique_ptr<LiveSession>> LiveSession::start(const Language& language, Clearance clearance,
                                                        sandbox::Sandbox& sandbox) {
  if (language.engine != Engine::python) {
    return fail(Fault::invalid_input, "{} has no live sessions", language.title);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe2: {}", std::strerror(errno));
  auto channel = std::make_unique<Channel>(sys::Fd(ends[0]), sys::Fd(ends[1]));
  std::unique_ptr<LiveSession> session(
      new LiveSession(language, std::move(channel), clearance.profile().limits.memory_bytes));
  session->thread_ = std::thread([raw = session.get(), &sandbox, clearance = std::move(clearance)]() mutable {
    raw->live(std::move(clearance), sandbox);
  });
  return session;
}

void LiveSession::live(Clearance clearance, sandbox::Sandbox& sandbox) {
  channel_->ended(sandbox.run(std::move(clearance), *channel_, stop_.get_token()));
}

bool LiveSession::over() { return lost_ || channel_->over(); }
std::chrono::steady_clock::time_point LiveSession::last_used() { return channel_->last_used(); }

CodeResult LiveSession::call(const CodeRequest& request, Sink* sink, const std::stop_token& stop) {
  std::lock_guard one(one_at_a_time_);
  auto token = make_token();
  if (!token) return refused(token.error());
  const auto begin = std::chrono::steady_clock::now();
  Call call(request, *token, sink);
  channel_->begin(&call);
  channel_->send(encode_request(language_, request, *token, Profile{}, nullptr));
  // The runner interrupts at the deadline and gives the code half a second to end; beyond that nothing in there can be
  // trusted to answer.
  const bool answered = channel_->wait(std::chrono::milliseconds(request.timeout_ms + 1500), stop);
  if (!answered) {
    stop_.request_stop();
    channel_->wait(std::chrono::seconds(10), {});
  }
  channel_->finish();
  RunReport report = channel_->over() ? channel_->report() : RunReport{};
  if (answered && call.complete())
    report.outcome = Exited{0};
  else if (!answered && !stop.stop_requested())
    report.outcome = Killed{SIGKILL, Why::timeout, ""};
  report.duration = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  const bool lost = !answered || channel_->over() || call.reader.reply().ended_by("lost");
  if (lost) lost_ = true;
  CodeResult result =
      conclude({language_, request, call.reader.reply(), call.output, call.errors, memory_bytes_}, std::move(report));
  result.session = SessionNote{"", 0, !lost};
  return result;
}

std::shared_ptr<LiveSession> LiveSessions::find(const std::string& name) {
  std::lock_guard guard(lock_);
  auto found = sessions_.find(name);
  if (found == sessions_.end()) return nullptr;
  if (!found->second->over()) return found->second;
  sessions_.erase(found);
  return nullptr;
}

Result<std::shared_ptr<LiveSession>> LiveSessions::add(const std::string& name, std::unique_ptr<LiveSession> session) {
  std::lock_guard guard(lock_);
  if (!sessions_.contains(name) && sessions_.size() >= most_) {
    return fail(Fault::unavailable, "there are {} live sessions already; end one, or wait until one expires", most_);
  }
  return sessions_[name] = std::move(session);
}

void LiveSessions::remove(const std::string& name) {
  std::shared_ptr<LiveSession> gone;  // ended outside of the lock
  std::lock_guard guard(lock_);
  if (auto found = sessions_.find(name); found != sessions_.end()) {
    gone = std::move(found->second);
    sessions_.erase(found);
  }
}

std::size_t LiveSessions::expire(std::chrono::steady_clock::time_point now) {
  std::vector<std::shared_ptr<LiveSession>> gone;
  std::lock_guard guard(lock_);
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    if (it->second->over() || now - it->second->last_used() >= idle_) {
      gone.push_back(std::move(it->second));
      it = sessions_.erase(it);
    } else {
      ++it;
    }
  }
  return gone.size();
}

std::size_t LiveSessions::size() {
  std::lock_guard guard(lock_);
  return sessions_.size();
}

}  // namespace cordon::code
