#include "sandbox/native/monitor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sandbox/native/process_tree.h"

namespace cordon::sandbox::native {

namespace {

constexpr std::uint64_t refused_forks_of_a_bomb = 64;
constexpr int crowded_checks_of_a_bomb = 10;
constexpr std::size_t chunk = 65536;
constexpr auto patience_with_pid1 = std::chrono::milliseconds(60);
constexpr auto patience_with_streams = std::chrono::milliseconds(15'000);

std::vector<std::string> watched_directories(const Profile& profile) {
  std::vector<std::string> directories;
  if (profile.workspace.access == WorkspaceAccess::rw) directories.push_back(profile.workspace.path);
  if (profile.workspace.access == WorkspaceAccess::overlay && !profile.workspace.upper.empty()) {
    directories.push_back(profile.workspace.upper);
  }
  if (!profile.session.path.empty()) directories.push_back(profile.session.path);
  for (const Bind& bind : profile.binds) {
    if (bind.access == Bind::Access::rw) directories.push_back(bind.source);
  }
  return directories;
}

/// A reader that went away is an answer, not a signal to whoever embeds us.
ssize_t write_quietly(const sys::Fd& fd, const char* bytes, std::size_t count) {
  sigset_t pipe;
  sigset_t before;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t sent = ::write(fd.get(), bytes, count);
  const int error = errno;
  if (sent < 0 && error == EPIPE) {
    const timespec at_once{};
    ::sigtimedwait(&pipe, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return sent;
}

Error failure_of(const Report& report, const Profile& profile) {
  const std::string program = profile.program.shell_text ? "/bin/bash" : profile.program.argv.front();
  const char* reason = std::strerror(report.error);
  switch (static_cast<FailedAt>(report.value)) {
    case FailedAt::orders:
      return {Fault::internal, fmt::format("pid 1 of the sandbox could not read its orders: {}", reason)};
    case FailedAt::working_directory:
      return {Fault::invalid_input, fmt::format("working directory in the sandbox: {}", reason)};
    case FailedAt::program_missing:
      return {Fault::invalid_input, fmt::format("{}: not found in the sandbox ({})", program, reason)};
    case FailedAt::program_differs:
      return {Fault::conflict, fmt::format("{} is not the file that was planned: it changed since", program)};
    case FailedAt::exec:
      return {Fault::invalid_input, fmt::format("{}: cannot be executed: {}", program, reason)};
    case FailedAt::control_group:
      return {Fault::unavailable,
              fmt::format("the sandbox cannot enter its control groups: {}", std::strerror(report.error))};
    case FailedAt::place_differs:
      return {Fault::conflict, "what is mounted in the sandbox is not what was planned: a path changed meanwhile"};
    case FailedAt::mount_flags:
      return {Fault::unavailable,
              "something is mounted in the sandbox without what was asked for (read-only, nosuid or nodev): the "
              "container engine did not keep to it"};
    case FailedAt::input:
      return {Fault::unavailable, fmt::format("/dev/null in the sandbox: {}", reason)};
    case FailedAt::fork:
      return {Fault::unavailable, fmt::format("no process could be started in the sandbox: {}", reason)};
  }
  return {Fault::internal, "the sandbox failed in an unknown way"};
}

}  // namespace

Monitor::Monitor(const Profile& profile, Launched& launched, Cgroup* cgroup, Io& io, std::stop_token stop)
    : profile_(profile),
      launched_(launched),
      cgroup_(cgroup),
      io_(io),
      stop_(std::move(stop)),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      disk_(watched_directories(profile), profile.limits) {
  input_open_ = profile.input == Input::given && (launched.pipes.input || launched.terminal);
  if (!input_open_) return;
  input_from_descriptor_ = io.input_descriptor().has_value();
  pending_input_ = std::string(io.input_text());
}

void Monitor::end_because(Why why, std::string sentence) {
  if (killed_ || ended_ || over_) return;
  killed_ = Killed{SIGKILL, why, std::move(sentence)};
  killed_at_ = Clock::now();
  // Pid 1 kills at once, and unlike the kernel it can tell afterwards what everybody used.
  launched_.ask_to_end();
}

void Monitor::end_by_force() {
  forced_ = true;
  if (launched_.pidfd) cpu_seen_ms_ = cpu_ms(process_tree(launched_.pid));
  if (cgroup_) cgroup_->kill();
  // Without a namespace and a group pid 1 is the only one who can find the others: it is not killed while it does.
  if (cgroup_ || launched_.own_pid_namespace) launched_.kill();
}

/// One read; false at the end or when there is nothing now.
bool Monitor::read_some(const sys::Fd& fd, Stream stream) {
  char buffer[chunk];
  ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
  if (got <= 0) return got < 0 && errno == EINTR;
  Kept& kept = stream == Stream::out ? out_ : err_;
  const auto bytes = static_cast<std::uint64_t>(got);
  const std::uint64_t limit = profile_.limits.output_bytes;
  const std::uint64_t room = limit == 0 ? bytes : std::min(bytes, limit - std::min(limit, kept.kept));
  kept.written += bytes;
  kept.kept += room;
  if (room > 0) io_.output(stream, std::string_view(buffer, room));
  const std::uint64_t most = profile_.limits.output_kill_bytes;
  if (most && out_.written + err_.written > most) {
    end_because(Why::output, fmt::format("wrote more than {} bytes of output (limit: output)", most));
  }
  return true;
}

void Monitor::read_stream(std::optional<sys::Fd>& fd, Stream stream) {
  if (!fd || read_some(*fd, stream)) return;
  // Nothing now is not the end.
  if (errno == EAGAIN) {
    pollfd again{fd->get(), POLLIN, 0};
    if (::poll(&again, 1, 0) >= 0 && !(again.revents & (POLLHUP | POLLERR))) return;
  }
  fd.reset();
}

/// Everybody who could write is dead: what is in the pipes is all there will be.
void Monitor::drain() {
  if (launched_.pipes.output) {
    while (read_some(*launched_.pipes.output, Stream::out)) {
    }
  }
  if (launched_.pipes.error) {
    while (read_some(*launched_.pipes.error, Stream::err)) {
    }
  }
  if (launched_.terminal) {
    while (read_some(*launched_.terminal, Stream::out)) {
    }
  }
}

/// What the program wrote is still on its way through a runtime or an engine, which passes on the end of it when the
/// container has ended; and that waits for us.
void Monitor::let_go_and_drain() {
  launched_.control.reset();
  launched_.pipes.input.reset();
  while (launched_.pipes.output || launched_.pipes.error) {
    pollfd wanted[2] = {{launched_.pipes.output ? launched_.pipes.output->get() : -1, POLLIN, 0},
                        {launched_.pipes.error ? launched_.pipes.error->get() : -1, POLLIN, 0}};
    const int ready = ::poll(wanted, 2, static_cast<int>(patience_with_streams.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return;
    if (wanted[0].revents != 0) read_stream(launched_.pipes.output, Stream::out);
    if (wanted[1].revents != 0) read_stream(launched_.pipes.error, Stream::err);
  }
}

void Monitor::feed_input() {
  std::optional<sys::Fd>& target = launched_.terminal ? launched_.terminal : launched_.pipes.input;
  if (!target) return;
  if (input_from_descriptor_ && input_sent_ == pending_input_.size()) {
    pending_input_.resize(chunk);
    ssize_t got = ::read(*io_.input_descriptor(), pending_input_.data(), pending_input_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
      got = 0;
    else if (got <= 0)
      input_from_descriptor_ = false;
    pending_input_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    input_sent_ = 0;
  }
  while (input_sent_ < pending_input_.size()) {
    ssize_t sent = write_quietly(*target, pending_input_.data() + input_sent_, pending_input_.size() - input_sent_);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
      input_sent_ = pending_input_.size();  // nobody reads any more
      input_from_descriptor_ = false;
      break;
    }
    input_sent_ += static_cast<std::size_t>(sent);
  }
  if (input_from_descriptor_) return;
  input_open_ = false;
  if (launched_.terminal) {
    [[maybe_unused]] ssize_t end = ::write(launched_.terminal->get(), "\x04", 1);
  } else {
    launched_.pipes.input.reset();
  }
}

void Monitor::take_message() {
  auto message = launched_.receive();
  if (!message || !*message) {
    launched_.control.reset();
    over_ = true;
    return;
  }
  const Report& report = (*message)->report;
  if (report.kind == ReportKind::failed) broken_ = failure_of(report, profile_);
  if (report.kind == ReportKind::ended || report.kind == ReportKind::stopped) ended_ = report;
}

void Monitor::poll_once(int timeout_ms) {
  pollfd wanted[8];
  int count = 0;
  auto add = [&](int fd, short events) {
    wanted[count] = {fd, events, 0};
    return count++;
  };
  const int control = launched_.control ? add(launched_.control->get(), POLLIN) : -1;
  const int out = launched_.pipes.output ? add(launched_.pipes.output->get(), POLLIN) : -1;
  const int err = launched_.pipes.error ? add(launched_.pipes.error->get(), POLLIN) : -1;
  const int terminal = launched_.terminal ? add(launched_.terminal->get(), POLLIN) : -1;
  const int pid1 = launched_.pidfd && !launched_.control ? add(launched_.pidfd->get(), POLLIN) : -1;
  const int stop = !killed_ ? add(stop_event_.get(), POLLIN) : -1;
  const bool may_run_out = cgroup_ && cgroup_->oom_descriptor() >= 0 && !killed_;
  const int oom = may_run_out ? add(cgroup_->oom_descriptor(), cgroup_->oom_events()) : -1;
  int input = -1;
  if (input_open_) {
    const bool wants_more = input_from_descriptor_ && input_sent_ == pending_input_.size();
    if (wants_more)
      input = add(*io_.input_descriptor(), POLLIN);
    else
      input = add(launched_.terminal ? launched_.terminal->get() : launched_.pipes.input->get(), POLLOUT);
  }
  if (::poll(wanted, static_cast<nfds_t>(count), timeout_ms) <= 0) return;
  auto ready = [&](int index) { return index >= 0 && wanted[index].revents != 0; };
  if (ready(out)) read_stream(launched_.pipes.output, Stream::out);
  if (ready(err)) read_stream(launched_.pipes.error, Stream::err);
  if (ready(terminal) && !read_some(*launched_.terminal, Stream::out) && errno == EIO) launched_.terminal.reset();
  if (ready(input)) feed_input();
  if (ready(stop)) end_because(Why::signal, "stopped by the caller");
  if (ready(oom)) {
    cgroup_->acknowledge_oom();
    check_limits(Clock::now());
  }
  if (ready(pid1)) over_ = true;
  if (ready(control)) take_message();
}

void Monitor::check_disk_and_memory(const CgroupReading& reading) {
  const Limits& limits = profile_.limits;
  if (!disk_.idle()) {
    if (auto sentence = disk_.exceeded()) end_because(Why::disk, *sentence);
  }
  const bool need_memory = limits.memory_bytes && !reading.memory_peak;
  const bool need_count = limits.pids && !reading.processes_peak;
  const bool need_cpu = limits.cpu_ms && !reading.cpu_us;
  if (!need_memory && !need_count && !need_cpu) return;
  if (launched_.pid <= 0) return;  // an engine's, somewhere else
  const auto processes = process_tree(launched_.pid);
  if (need_cpu && cpu_ms(processes) >= limits.cpu_ms) {
    end_because(Why::timeout, fmt::format("used more than {} ms of processor time (limit: CPU)", limits.cpu_ms));
  }
  processes_seen_ = std::max<std::uint64_t>(processes_seen_, processes.size());
  if (need_count) {
    crowded_checks_ = processes.size() > limits.pids ? crowded_checks_ + 1 : 0;
    if (crowded_checks_ >= crowded_checks_of_a_bomb) {
      end_because(Why::pids, fmt::format("kept starting processes beyond {} (limit: processes)", limits.pids));
    }
  }
  if (need_memory) {
    const std::uint64_t resident = resident_bytes(processes);
    resident_seen_ = std::max(resident_seen_, resident);
    if (resident > limits.memory_bytes) {
      end_because(Why::memory, fmt::format("used more than {} bytes of memory (limit: memory)", limits.memory_bytes));
    }
  }
}

void Monitor::check_limits(Clock::time_point now) {
  const Limits& limits = profile_.limits;
  if (limits.wall_ms && now - started_ >= std::chrono::milliseconds(limits.wall_ms)) {
    end_because(Why::timeout,
                fmt::format("ran longer than {} ms (limit: time; raise it with --timeout)", limits.wall_ms));
  }
  const CgroupReading reading = cgroup_ ? cgroup_->read() : CgroupReading{};
  if (cgroup_) {
    forks_refused_ = reading.forks_refused;
    if (reading.oom_kills > 0) {
      end_because(Why::memory, fmt::format("used more than {} bytes of memory (limit: memory)", limits.memory_bytes));
    }
    const bool crowded = limits.pids && reading.forks_refused > 0 && reading.processes_now > limits.pids;
    crowded_checks_ = crowded ? crowded_checks_ + 1 : 0;
    if (reading.forks_refused >= refused_forks_of_a_bomb || crowded_checks_ >= crowded_checks_of_a_bomb) {
      end_because(Why::pids, fmt::format("kept starting processes beyond {} (limit: processes)", limits.pids));
    }
    if (limits.cpu_ms && reading.cpu_us && *reading.cpu_us / 1000 >= limits.cpu_ms) {
      end_because(Why::timeout, fmt::format("used more than {} ms of processor time (limit: CPU)", limits.cpu_ms));
    }
  }
  check_disk_and_memory(reading);
  // Soon at first, so that a bomb is caught early; later less often.
  check_interval_ = std::min(check_interval_ * 2, std::chrono::milliseconds(200));
  next_check_ = now + check_interval_;
}

int Monitor::timeout_until_next_check(Clock::time_point now) const {
  auto next = next_check_;
  if (profile_.limits.wall_ms && !killed_) {
    next = std::min(next, started_ + std::chrono::milliseconds(profile_.limits.wall_ms));
  }
  return static_cast<int>(
      std::clamp<long long>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count(), 0, 1000));
}

Outcome Monitor::outcome_of_status(int status, const CgroupReading& reading) const {
  const Limits& limits = profile_.limits;
  if (reading.oom_kills > 0) {
    return Killed{SIGKILL, Why::memory,
                  fmt::format("used more than {} bytes of memory (limit: memory)", limits.memory_bytes)};
  }
  if (WIFEXITED(status)) return Exited{WEXITSTATUS(status)};
  const int signal = WTERMSIG(status);
  switch (signal) {
    case SIGSYS:
      return Killed{signal, Why::policy, "made a system call of another architecture"};
    case SIGXCPU:
      return Killed{signal, Why::timeout,
                    fmt::format("used more than {} ms of processor time (limit: CPU)", limits.cpu_ms)};
    case SIGXFSZ:
      return Killed{signal, Why::disk,
                    fmt::format("a file grew beyond {} bytes (limit: file size)", limits.file_bytes)};
    default:
      return Killed{signal, Why::signal, fmt::format("died of signal {} ({})", signal, ::strsignal(signal))};
  }
}

Outcome Monitor::outcome_of(const CgroupReading& reading) const {
  if (broken_) return Broken{*broken_};
  if (killed_) return *killed_;
  // The machine's own shortage may take pid 1 as well.
  if (ended_ || reading.oom_kills > 0) return outcome_of_status(ended_ ? ended_->value : SIGKILL, reading);
  return Killed{SIGKILL, Why::signal, "pid 1 of the sandbox was killed from outside"};
}

void Monitor::watch(RunReport& report) {
  std::stop_callback on_stop(stop_, [this] { ::eventfd_write(stop_event_.get(), 1); });
  while (!over_ && !ended_ && !broken_) {
    const auto now = Clock::now();
    if (!killed_ && timeout_until_next_check(now) == 0) check_limits(now);
    if (killed_ && !forced_ && now - killed_at_ > patience_with_pid1) end_by_force();
    if (killed_ && now - killed_at_ > std::chrono::seconds(5)) {
      // Stuck in the kernel (a dead network file system, say). The kill stands; nothing of it will run again.
      killed_->sentence += "; it is dead but the kernel has not let go of it yet";
      break;
    }
    poll_once(!killed_ ? timeout_until_next_check(Clock::now()) : forced_ ? 100 : 10);
  }
  // Pid 1 ended everybody before it said so. If it could not say so, nobody may be left either.
  if (!ended_ && !broken_) end_by_force();
  if (killed_) launched_.reap(std::chrono::seconds(5));
  const CgroupReading reading = cgroup_ ? cgroup_->read() : CgroupReading{};
  if (launched_.streams_lag) {
    let_go_and_drain();
  } else {
    drain();
  }
  report.outcome = outcome_of(reading);
  // What auto-reaped children used is known to a control group alone.
  const std::uint64_t collected = ended_ ? ended_->cpu_us : launched_.cpu_us;
  report.usage.cpu_ms = std::max(std::max(reading.cpu_us.value_or(0), collected) / 1000, cpu_seen_ms_);
  report.usage.memory_peak_bytes = reading.memory_peak.value_or(
      std::max(resident_seen_, ended_ ? ended_->peak_rss_bytes : launched_.peak_rss_bytes));
  // Pid 1 is ours, not the program's.
  report.usage.processes_peak = reading.processes_peak.value_or(processes_seen_);
  if (report.usage.processes_peak > 1) report.usage.processes_peak -= 1;
  report.usage.stdout_bytes = out_.written;
  report.usage.stderr_bytes = err_.written;
  report.truncated = {out_.kept < out_.written, err_.kept < err_.written};
}

}  // namespace cordon::sandbox::native
