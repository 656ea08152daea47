#include "sandbox/oci/runtime.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/container/pipes.h"
#include "sandbox/native/user_namespace.h"
#include "sys/raw_files.h"

namespace cordon::sandbox::oci {

using namespace sys;

namespace {

struct Pipe {
  Fd reading{-1};
  Fd writing{-1};
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Fault::unavailable, "pipe2: {}", std::strerror(errno));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

/// Between fork and exec: nothing here may allocate. What failed goes through `failure` as step and errno.
class Child {
 public:
  struct Trouble {
    char step[32];
    int error;
    int placement;
  };

  Child(const RuntimeStart& start, char* const* argv, const std::string* maps, int go, int failure)
      : start_(start), argv_(argv), maps_(maps), go_(go), failure_(failure) {}

  [[noreturn]] void become(int input, int output, int error) {
    char byte;
    // The launcher's end without a byte: it gave up.
    if (raw::call(SYS_read, go_, raw::address(&byte), 1) != 1) ::_exit(125);
    if (start_.argv.empty() || !unshare() || !place_all()) ::_exit(125);
    ::dup2(input, 0);
    ::dup2(output, 1);
    ::dup2(error, 2);
    if (!ok(::chdir(start_.directory.c_str()), "chdir")) ::_exit(125);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    // A terminal's ^C is for Cordon, which ends the container in order.
    ::setsid();
    char* const environment[] = {const_cast<char*>("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
                                 const_cast<char*>("XDG_RUNTIME_DIR=/nonexistent"), nullptr};
    ::execve(argv_[0], argv_, environment);
    ok(-1, "execve");
    ::_exit(125);
  }

 private:
  bool ok(long result, const char* step, int placement = -1) {
    if (result >= 0) return true;
    Trouble trouble{};
    std::strncpy(trouble.step, step, sizeof trouble.step - 1);
    trouble.error = result == -1 ? errno : static_cast<int>(-result);
    trouble.placement = placement;
    [[maybe_unused]] const ssize_t told = ::write(failure_, &trouble, sizeof trouble);
    return false;
  }

  bool write_map(const char* path, const std::string& text) {
    const int file = ::open(path, O_WRONLY | O_CLOEXEC);
    if (!ok(file, path)) return false;
    const bool written = ok(::write(file, text.data(), text.size()), path);
    ::close(file);
    return written;
  }

  bool unshare() {
    const bool root = maps_ == nullptr;
    if (!ok(::unshare(root ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER), "unshare")) return false;
    if (!root && (!write_map("/proc/self/setgroups", maps_[0]) || !write_map("/proc/self/uid_map", maps_[1]) ||
                  !write_map("/proc/self/gid_map", maps_[2]))) {
      return false;
    }
    return ok(::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr), "make mounts private");
  }

  bool place_all() {
    for (std::size_t i = 0; i < start_.placements.size(); ++i) {
      const Placement& placement = start_.placements[i];
      const int index = static_cast<int>(i);
      long tree = placement.prepared_tree;
      if (tree < 0) {
        const long source =
            raw::open_beneath(AT_FDCWD, placement.source.c_str(), O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
        if (!ok(source, "open (a link on the way)", index)) return false;
        tree =
            raw::open_tree(static_cast<int>(source), "", raw::open_tree_clone | raw::at_recursive | raw::at_empty_path);
        raw::close(source);
        if (!ok(tree, "open_tree", index)) return false;
      }
      // Whatever a runtime makes of them later, a device or a setuid program in there is none.
      const raw::MountAttributes guarded{.set = raw::mount_no_suid | raw::mount_no_dev};
      const unsigned all = raw::at_empty_path | raw::at_recursive;
      if (!ok(raw::mount_setattr(static_cast<int>(tree), "", all, guarded), "mount_setattr", index)) return false;
      if (!ok(raw::move_mount(static_cast<int>(tree), AT_FDCWD, placement.point.c_str()), "move_mount", index)) {
        return false;
      }
    }
    return true;
  }

  const RuntimeStart& start_;
  char* const* argv_;
  const std::string* maps_;
  int go_;
  int failure_;
};

}  // namespace

std::optional<std::string> find_program(Runtime runtime) {
  const char* name = runtime == Runtime::gvisor ? "runsc" : name_of(runtime);
  for (const char* directory : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}) {
    const std::string path = fmt::format("{}/{}", directory, name);
    struct stat status {};
    if (::access(path.c_str(), X_OK) == 0 && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) return path;
  }
  return std::nullopt;
}

Result<RuntimeProcess> RuntimeProcess::start(const RuntimeStart& start, native::Launched& launched) {
  Pipe go = TRY(make_pipe());
  Pipe failure = TRY(make_pipe());
  const container::ProgramEnds ends =
      TRY(container::make_pipes(start.input, {native::unowned_id, native::unowned_id}, launched));
  std::vector<std::string> words = start.argv;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string maps[] = {"deny", fmt::format("0 {} 1\n", ::geteuid()), fmt::format("0 {} 1\n", ::getegid())};
  Child child(start, argv.data(), ::geteuid() == 0 ? nullptr : maps, go.reading.get(), failure.writing.get());
  const pid_t pid = ::fork();
  if (pid < 0) return fail(Fault::unavailable, "fork: {}", std::strerror(errno));
  if (pid == 0) {
    ::close(go.writing.get());
    child.become(ends.input.get(), ends.output.get(), ends.error.get());
  }
  return RuntimeProcess(pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))), std::move(go.writing),
                        std::move(failure.reading));
}

Result<void> RuntimeProcess::go() {
  [[maybe_unused]] const ssize_t told = ::write(go_.get(), "g", 1);
  go_ = Fd(-1);
  Child::Trouble trouble{};
  ssize_t got;
  do {
    got = ::read(failure_.get(), &trouble, sizeof trouble);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof trouble)) return {};
  wait(std::chrono::seconds(5));
  return fail(Fault::unavailable, "preparing the container: {}: {}", trouble.step, std::strerror(trouble.error));
}

bool RuntimeProcess::wait(std::chrono::milliseconds patience) {
  if (pid_ < 0) return true;
  pollfd ended{pidfd_.get(), POLLIN, 0};
  int ready;
  do {
    ready = ::poll(&ended, 1, static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return false;
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return true;
}

void RuntimeProcess::kill() const {
  if (pid_ > 0) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

}  // namespace cordon::sandbox::oci
