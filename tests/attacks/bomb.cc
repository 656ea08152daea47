// Attacks that are told by how the run ends: what takes without end, and what does not want to end. Every bomb has a
// size, so that one that no sandbox stops runs out by itself; the cage's cgroup is the last bound.
//
//   attack_bomb NAME SIZE [PATH]
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr size_t mebibyte = 1UL << 20;

void sleep_seconds(long seconds) {
  timespec rest{seconds, 0};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
}

int counted(const char* what, long count, long wanted) {
  printf("%s %ld of %ld %s\n", what, count, wanted, count < wanted ? strerrorname_np(errno) : "-");
  fflush(stdout);
  return count < wanted ? 3 : 0;
}

int forks(long size, const std::string&) {
  long made = 0;
  for (; made < size; ++made) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      sleep_seconds(30);
      _exit(0);
    }
  }
  return counted("forks", made, size);
}

/// Every process forks until it can't, and none ever stops trying: only an end from outside ends it.
int fork_bomb(long seconds, const std::string&) {
  const time_t end = time(nullptr) + seconds;
  while (time(nullptr) < end) {
    if (fork() < 0) sched_yield();
  }
  return 0;
}

void* rest(void*) {
  sleep_seconds(30);
  return nullptr;
}

int threads(long size, const std::string&) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  long made = 0;
  for (pthread_t thread; made < size && (errno = pthread_create(&thread, &attributes, rest, nullptr)) == 0;) ++made;
  return counted("threads", made, size);
}

int touch(char* area, long size) {
  if (area == MAP_FAILED) return counted("MiB", 0, size);
  for (long i = 0; i < size; ++i) memset(area + static_cast<size_t>(i) * mebibyte, 1, mebibyte);
  sleep_seconds(1);  // held: a watchdog looks now and then
  return counted("MiB", size, size);
}

char* map(int flags, int fd, long size) {
  return static_cast<char*>(
      mmap(nullptr, static_cast<size_t>(size) * mebibyte, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0));
}

int memory(long size, const std::string&) { return touch(map(MAP_PRIVATE | MAP_ANONYMOUS, -1, size), size); }
int shared_memory(long size, const std::string&) { return touch(map(MAP_SHARED | MAP_ANONYMOUS, -1, size), size); }

int memory_file(long size, const std::string&) {
  const int fd = static_cast<int>(syscall(SYS_memfd_create, "bomb", 0U));
  if (ftruncate(fd, static_cast<off_t>(static_cast<size_t>(size) * mebibyte)) != 0) return counted("MiB", 0, size);
  return touch(map(MAP_SHARED, fd, size), size);
}

/// The limit of one process is not the limit of the run.
int memory_in_many(long size, const std::string&) {
  constexpr int processes = 8;
  for (int i = 0; i < processes; ++i) {
    if (fork() != 0) continue;
    memory(size / processes, {});
    sleep_seconds(2);
    _exit(0);
  }
  int ended_well = 0;
  for (int status = 0; wait(&status) > 0;) ended_well += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return ended_well == processes ? 0 : 3;
}

int pipes(long size, const std::string&) {
  const std::string block(mebibyte, 'x');
  long made = 0;
  for (; made < size; ++made) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0) break;
    if (fcntl(ends[1], F_SETPIPE_SZ, mebibyte) < 0) break;
    if (write(ends[1], block.data(), block.size()) != static_cast<ssize_t>(block.size())) break;
  }
  return counted("pipes", made, size);
}

int one_file(long size, const std::string& path) {
  const std::string block(mebibyte, 'x');
  const int fd = open((path + "/bomb-file").c_str(), O_CREAT | O_WRONLY, 0600);
  long made = 0;
  while (made < size && write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size())) ++made;
  return counted("MiB", made, size);
}

int many_files(long size, const std::string& path) {
  const std::string block(8 * mebibyte, 'x');
  long made = 0;
  for (int fd; made < size; made += 8) {
    fd = open((path + "/bomb-" + std::to_string(made)).c_str(), O_CREAT | O_WRONLY, 0600);
    if (fd < 0 || write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size())) break;
    close(fd);
  }
  return counted("MiB", made, size);
}

int inodes(long size, const std::string& path) {
  long made = 0;
  for (int fd; made < size; ++made) {
    fd = open((path + "/inode-" + std::to_string(made)).c_str(), O_CREAT | O_WRONLY, 0600);
    if (fd < 0) break;
    close(fd);
  }
  return counted("inodes", made, size);
}

int output(long size, const std::string& stream) {
  const int fd = stream == "stderr" ? 2 : 1;
  const std::string block(mebibyte, stream == "binary" ? '\xff' : 'y');
  for (long i = 0; i < size; ++i)
    if (write(fd, block.data(), block.size()) <= 0) return 3;
  return 0;
}

int busy(long size, const std::string&) {
  for (long i = 1; i < size; ++i)
    if (fork() == 0) break;
  for (;;) asm volatile("");
}

int ignore_signals(long seconds, const std::string&) {
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  sleep_seconds(seconds);
  return 0;
}

int stop_self(long seconds, const std::string&) {
  if (fork() == 0) {
    raise(SIGSTOP);
    sleep_seconds(seconds);
    _exit(0);
  }
  raise(SIGSTOP);
  return 0;
}

void daemonize(long seconds, bool keep_streams) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  for (int fd = 0; fd < 3 && !keep_streams; ++fd) close(fd);
  prctl(PR_SET_PDEATHSIG, 0);
  sleep_seconds(seconds);
  _exit(0);
}

int daemon_left(long seconds, const std::string&) {
  for (int i = 0; i < 4; ++i) daemonize(seconds, false);
  return 0;
}

int daemon_keeps_output(long seconds, const std::string&) {
  daemonize(seconds, true);
  printf("main has ended\n");
  fflush(stdout);
  return 0;
}

/// The main process stays: what ends is the launcher.
int daemon_and_stay(long seconds, const std::string&) {
  for (int i = 0; i < 3; ++i) daemonize(seconds, true);
  prctl(PR_SET_PDEATHSIG, 0);
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  sleep_seconds(seconds);
  return 0;
}

int subreaper(long seconds, const std::string&) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  daemonize(seconds, false);
  daemonize(seconds, false);
  return 0;
}

int orphans(long size, const std::string&) {
  long made = 0;
  for (; made < size; ++made) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      if (fork() == 0) _exit(0);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  return counted("orphans", made, size);
}

int writes_after_exit(long seconds, const std::string& path) {
  if (fork() != 0) return 0;
  setsid();
  for (long i = 0; i < seconds * 1000; ++i) {
    const int fd = open((path + "/written-late").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    const bool wrote = write(fd, "x", 1) == 1;
    close(fd);
    timespec pause{0, wrote ? 1000000 : 5000000};
    nanosleep(&pause, nullptr);
  }
  _exit(0);
}

int crash(long, const std::string&) {
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_CORE, &all);
  prctl(PR_SET_DUMPABLE, 1);
  raise(SIGSEGV);
  return 0;
}

/// CVE-2019-5736: "busy" is told before "read-only" and before Landlock, so the write is tried again once the program
/// has made way for another.
int overwrite_self(long, const std::string&) {
  const int fd = open("/proc/self/exe", O_WRONLY | O_CLOEXEC);
  if (fd < 0 && errno != ETXTBSY) {
    printf("%s\n", strerrorname_np(errno));
    return 3;
  }
  const int handle = open("/proc/self/exe", O_PATH);
  const std::string script = "exec 3>>/proc/self/fd/" + std::to_string(handle) + " && echo opened";
  execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
  return 3;
}

int kill_all(long, const std::string&) {
  kill(-1, SIGKILL);
  printf("killed all others\n");
  return 0;
}

int kill_init(long, const std::string&) {
  for (const int number : {SIGKILL, SIGSTOP, SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGUSR1, SIGCHLD, SIGTSTP}) {
    kill(1, number);
    syscall(SYS_tgkill, 1, 1, number);
  }
  printf("still here\n");
  return 0;
}

bool ends_the_fuzzer(long number) {
  constexpr long numbers[] = {SYS_exit,
                              SYS_exit_group,
                              SYS_pause,
                              SYS_kill,
                              SYS_tkill,
                              SYS_tgkill,
                              SYS_rt_sigqueueinfo,
                              SYS_rt_tgsigqueueinfo,
                              SYS_pidfd_send_signal,
                              SYS_rt_sigsuspend};
  return std::find(std::begin(numbers), std::end(numbers), number) != std::end(numbers);
}

/// Random numbers with random arguments: the kernel and the sandbox must both survive. The generator is fixed by its
/// seed, so that a finding can be repeated.
int fuzz(long seconds, const std::string& seed) {
  const time_t end = time(nullptr) + seconds;
  for (unsigned worker = 0; worker < 4; ++worker) {
    if (fork() != 0) continue;
    for (unsigned round = 0; time(nullptr) < end; ++round) {
      const pid_t child = fork();
      if (child < 0) continue;
      if (child > 0) {
        waitpid(child, nullptr, 0);
        continue;
      }
      alarm(1);
      srand(static_cast<unsigned>(atoi(seed.c_str())) + worker * 1000003U + round);
      char room[256] = {};
      for (int i = 0; i < 400; ++i) {
        long arguments[6];
        for (long& argument : arguments) {
          const int kind = rand() % 4;
          argument = kind == 0   ? rand() % 16
                     : kind == 1 ? static_cast<long>(static_cast<unsigned long>(rand()) << 32 | rand())
                     : kind == 2 ? reinterpret_cast<long>(room)
                                 : -(rand() % 4096);
        }
        const long number = rand() % 1024;
        if (ends_the_fuzzer(number)) continue;
        syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
      }
      _exit(0);
    }
    _exit(0);
  }
  while (wait(nullptr) > 0) {
  }
  printf("fuzzed\n");
  return 0;
}

struct Bomb {
  const char* name;
  int (*explode)(long size, const std::string& path);
};

constexpr Bomb bombs[] = {
    {"forks", forks},
    {"fork_bomb", fork_bomb},
    {"threads", threads},
    {"memory", memory},
    {"shared_memory", shared_memory},
    {"memory_file", memory_file},
    {"memory_in_many", memory_in_many},
    {"pipes", pipes},
    {"one_file", one_file},
    {"many_files", many_files},
    {"inodes", inodes},
    {"output", output},
    {"busy", busy},
    {"ignore_signals", ignore_signals},
    {"stop_self", stop_self},
    {"daemon_left", daemon_left},
    {"daemon_keeps_output", daemon_keeps_output},
    {"daemon_and_stay", daemon_and_stay},
    {"subreaper", subreaper},
    {"orphans", orphans},
    {"writes_after_exit", writes_after_exit},
    {"crash", crash},
    {"overwrite_self", overwrite_self},
    {"kill_all", kill_all},
    {"kill_init", kill_init},
    {"fuzz", fuzz},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto* found = std::find_if(std::begin(bombs), std::end(bombs),
                                   [&](const Bomb& bomb) { return strcmp(bomb.name, argv[1]) == 0; });
  if (found == std::end(bombs)) return 2;
  return found->explode(atol(argv[2]), argc > 3 ? argv[3] : ".");
}
