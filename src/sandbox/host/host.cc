#include "sandbox/host/host.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "sys/fd.h"

namespace cordon::sandbox::host {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

/// What the child needs, made before the fork: between fork and exec nothing may allocate.
struct Prepared {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::string program;
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& string : strings) list.push_back(string.data());
  list.push_back(nullptr);
  return list;
}

std::string search(const std::string& name, const Profile& profile) {
  if (name.find('/') != std::string::npos) return name;
  std::string path = "/usr/local/bin:/usr/bin:/bin";
  for (const auto& [variable, value] : profile.environment) {
    if (variable == "PATH") path = value;
  }
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
    const std::string candidate = std::string(directory) + "/" + name;
    struct stat status {};
    if (::access(candidate.c_str(), X_OK) == 0 && ::stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      return candidate;
    }
  }
  return "";
}

Result<Prepared> prepare(const Profile& profile) {
  Prepared prepared;
  const Program& program = profile.program;
  if (program.shell_text) {
    prepared.arguments = {"bash", "--norc", "--noprofile", "-c", *program.shell_text};
    prepared.arguments.insert(prepared.arguments.end(), program.argv.begin(), program.argv.end());
    prepared.program = "/bin/bash";
  } else {
    prepared.arguments = program.argv;
    prepared.program = search(program.argv.front(), profile);
  }
  if (prepared.program.empty()) return fail(Fault::invalid_input, "{}: not found", program.argv.front());
  for (const auto& [name, value] : profile.environment) prepared.environment.push_back(name + "=" + value);
  prepared.argv = pointers(prepared.arguments);
  prepared.envp = pointers(prepared.environment);
  return prepared;
}

/// The program as the plan knew it: the file that is executed is the one that is compared.
Result<sys::Fd> open_program(const std::string& path, const std::string& cwd, const Profile& profile) {
  const std::string place = path.front() == '/' ? path : cwd + "/" + path;
  sys::Fd file(::open(place.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    return fail(Fault::invalid_input, "{}: {}", path, std::strerror(errno));
  }
  const auto& expected = profile.program.expected;
  if (!expected) return file;
  const bool same = expected->device == status.st_dev && expected->inode == status.st_ino &&
                    expected->size == static_cast<std::uint64_t>(status.st_size) &&
                    expected->ctime_ns == status.st_ctim.tv_sec * 1'000'000'000LL + status.st_ctim.tv_nsec;
  if (!same) return fail(Fault::conflict, "{} changed since it was planned", path);
  return file;
}

struct Pipe {
  sys::Fd reading{-1};
  sys::Fd writing{-1};
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe: {}", std::strerror(errno));
  return Pipe{sys::Fd(ends[0]), sys::Fd(ends[1])};
}

class HostRun {
 public:
  HostRun(const Profile& profile, Io& io, std::stop_token stop) : profile_(profile), io_(io), stop_(std::move(stop)) {}

  RunReport run() {
    report_.isolation = {.backend = "host", .level = "none", .missing = {"everything: it runs on the host"}};
    const SteadyTime begun = std::chrono::steady_clock::now();
    if (const auto started = start(); !started) {
      report_.outcome = Broken{started.error()};
      return std::move(report_);
    }
    watch(begun);
    report_.duration = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun);
    return std::move(report_);
  }

 private:
  Result<void> start() {
    Prepared prepared = TRY(prepare(profile_));
    const sys::Fd program = TRY(open_program(prepared.program, profile_.cwd, profile_));
    out_ = TRY(make_pipe());
    err_ = TRY(make_pipe());
    failure_ = TRY(make_pipe());
    const auto input = profile_.input == Input::given ? io_.input_descriptor() : std::nullopt;
    const sys::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    pid_ = ::fork();
    if (pid_ < 0) return fail(Fault::unavailable, "fork: {}", std::strerror(errno));
    if (pid_ == 0) become(prepared, program, input.value_or(null.get()));
    ::setpgid(pid_, pid_);
    pidfd_ = sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    out_.writing = sys::Fd(-1);
    err_.writing = sys::Fd(-1);
    failure_.writing = sys::Fd(-1);
    int number = 0;
    if (::read(failure_.reading.get(), &number, sizeof number) == sizeof number) {
      ::waitpid(pid_, nullptr, 0);
      return fail(Fault::invalid_input, "{}: {}", prepared.program, std::strerror(number));
    }
    return {};
  }

  [[noreturn]] void become(Prepared& prepared, const sys::Fd& program, int input) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(SIGPIPE, SIG_DFL);
    if (::chdir(profile_.cwd.c_str()) == 0) {
      ::dup2(input, STDIN_FILENO);
      ::dup2(out_.writing.get(), STDOUT_FILENO);
      ::dup2(err_.writing.get(), STDERR_FILENO);
      ::syscall(SYS_execveat, program.get(), "", prepared.argv.data(), prepared.envp.data(), AT_EMPTY_PATH);
      // A script cannot be executed from a descriptor that closes itself.
      if (errno == ENOENT) ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.envp.data());
    }
    const int number = errno;
    static_cast<void>(::write(failure_.writing.get(), &number, sizeof number) == sizeof number);
    ::_exit(127);
  }

  void watch(SteadyTime begun) {
    const SteadyTime until = begun + std::chrono::milliseconds(profile_.limits.wall_ms);
    bool out_open = true;
    bool err_open = true;
    bool alive = true;
    while (alive || out_open || err_open) {
      const auto now = std::chrono::steady_clock::now();
      if (profile_.limits.wall_ms != 0 && now >= until) {
        return end(Killed{
            SIGKILL, Why::timeout,
            fmt::format("ran longer than {} ms (limit: time; raise it with --timeout)", profile_.limits.wall_ms)});
      }
      if (stop_.stop_requested()) return end(Killed{SIGKILL, Why::signal, "stopped by the caller"});
      pollfd watched[3] = {{out_open ? out_.reading.get() : -1, POLLIN, 0},
                           {err_open ? err_.reading.get() : -1, POLLIN, 0},
                           {alive ? pidfd_.get() : -1, POLLIN, 0}};
      ::poll(watched, 3, 50);
      if (watched[0].revents != 0)
        out_open = copy(out_.reading, Stream::out, report_.usage.stdout_bytes, report_.truncated.out);
      if (watched[1].revents != 0)
        err_open = copy(err_.reading, Stream::err, report_.usage.stderr_bytes, report_.truncated.err);
      if (watched[2].revents != 0) alive = false;
      if (report_.usage.stdout_bytes + report_.usage.stderr_bytes > profile_.limits.output_kill_bytes) {
        return end(Killed{SIGKILL, Why::output, "wrote more than any reader wants (limit: output)"});
      }
      // What it left behind may hold the pipes for ever.
      if (!alive && watched[0].revents == 0 && watched[1].revents == 0) break;
    }
    conclude();
  }

  bool copy(const sys::Fd& from, Stream stream, std::uint64_t& count, bool& cut) {
    char buffer[65536];
    const ssize_t got = ::read(from.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    const std::uint64_t limit = profile_.limits.output_bytes;
    const std::uint64_t room = limit == 0 ? ~0ULL : limit - std::min(limit, count);
    const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(room, static_cast<std::uint64_t>(got)));
    if (kept > 0) io_.output(stream, {buffer, kept});
    cut = cut || kept < static_cast<std::size_t>(got);
    count += static_cast<std::uint64_t>(got);
    return true;
  }

  void end(Killed killed) {
    ::kill(-pid_, SIGKILL);
    reap();
    report_.outcome = std::move(killed);
  }

  void conclude() {
    const int status = reap();
    ::kill(-pid_, SIGKILL);
    if (WIFSIGNALED(status)) {
      report_.outcome = Killed{WTERMSIG(status), Why::signal, fmt::format("died of signal {}", WTERMSIG(status))};
    } else {
      report_.outcome = Exited{WEXITSTATUS(status)};
    }
  }

  int reap() {
    int status = 0;
    rusage usage{};
    while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    const auto milliseconds = [](const timeval& time) {
      return static_cast<std::uint64_t>(time.tv_sec * 1000 + time.tv_usec / 1000);
    };
    report_.usage.cpu_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
    report_.usage.memory_peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    return status;
  }

  const Profile& profile_;
  Io& io_;
  std::stop_token stop_;
  RunReport report_;
  Pipe out_;
  Pipe err_;
  Pipe failure_;
  sys::Fd pidfd_{-1};
  pid_t pid_ = -1;
};

}  // namespace

RunReport HostBackend::run(Clearance clearance, Io& io, std::stop_token stop) {
  RunReport report;
  // The signal of a parent's death is a thread's: this one lives as long as the run.
  std::thread([&] { report = HostRun(clearance.profile(), io, std::move(stop)).run(); }).join();
  return report;
}

}  // namespace cordon::sandbox::host
