// Pid 1 of a sandbox: a program of its own without a C library, executed from a sealed memory file once everything is
// isolated, so that nothing of the launcher's memory, environment or files is left in it. It is bound by the same
// Landlock rules and seccomp filter as the program it starts.
//
// It waits for orders, starts the program, collects the dead, and when the program ends or the launcher is gone it
// kills whatever is left.
//
// `cordon-pid1 with-companion` waits first for who makes its surroundings (companion.h).
// In a container it is a file that the engine starts, `init SOCKET`, and finds its launcher at that socket
// (container/stage.h). `init SOCKET IDLE LIFE` is pid 1 of a container that is kept (docker/kept.h): from its launcher
// it gets the socket at which other launchers call, and each call is answered by a child of its own.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "base/small_sha256.h"
#include "sandbox/native/pid1/orders.h"
#include "sys/raw.h"

namespace {

using namespace cordon::sandbox::native;
using cordon::SmallSha256;
using cordon::sys::raw::address;
using cordon::sys::raw::call;

constexpr int eperm = 1;
constexpr int eintr = 4;
constexpr int enoent = 2;
constexpr int eacces = 13;
constexpr int enotdir = 20;
constexpr int echild = 10;

[[noreturn]] void leave(int code) {
  for (;;) call(SYS_exit_group, code);
}

void send_report(ReportKind kind, int value = 0, int error = 0, std::uint64_t cpu = 0, std::uint64_t rss = 0) {
  Report report{kind, value, error, 0, cpu, rss};
  // MSG_NOSIGNAL: a launcher that died must not decide how we end.
  call(SYS_sendto, control_fd, address(&report), sizeof report, 0x4000, 0, 0);
}

[[noreturn]] void give_up(FailedAt where, long result) {
  send_report(ReportKind::failed, static_cast<int>(where), static_cast<int>(-result));
  leave(125);
}

bool read_fully(void* into, unsigned long bytes) {
  char* cursor = static_cast<char*>(into);
  while (bytes > 0) {
    long got = call(SYS_read, control_fd, address(cursor), static_cast<long>(bytes));
    if (got == -eintr) continue;
    if (got <= 0) return false;
    cursor += got;
    bytes -= static_cast<unsigned long>(got);
  }
  return true;
}

char* map(unsigned long bytes) {
  long result = call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (result < 0 && result > -4096) give_up(FailedAt::orders, result);
  return reinterpret_cast<char*>(result);
}

/// What is to be started, taken apart.
struct Task {
  Orders orders;
  char* cwd;
  char* program;
  char* search;
  char** arguments;
  char** variables;
  char** places;
  bool by_descriptor;
  int descriptor;  // of the compared program
  bool scoped;     // signals of ours end at our Landlock domain
  char path[4096];
  volatile int exec_error;  // written by the child, which shares our memory until it executes
};

constinit Task task{};  // nobody runs constructors here

char* next_string(char*& cursor, char* end) {
  char* start = cursor;
  while (cursor < end && *cursor) ++cursor;
  if (cursor >= end) give_up(FailedAt::orders, -enoent);
  ++cursor;
  return start;
}

/// Descriptors that came with a message.
struct Doors {
  int number[most_doors];
  unsigned count;
};

/// The beginning of a message, and the descriptors that came with it. How many bytes, or that nobody is there.
long receive(int socket, void* into, unsigned long size, Doors& doors) {
  alignas(8) char space[CMSG_SPACE(sizeof doors.number)];
  iovec bytes{into, size};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  long got;
  do {
    got = call(SYS_recvmsg, socket, address(&message), MSG_CMSG_CLOEXEC);
  } while (got == -eintr);
  doors.count = 0;
  if (got <= 0) return got;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    doors.count = static_cast<unsigned>((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (unsigned i = 0; i < doors.count; ++i) {
      doors.number[i] = reinterpret_cast<const int*>(CMSG_DATA(header))[i];
    }
  }
  return got;
}

/// A message that carries descriptors is never joined with the next one.
bool read_orders(Orders& orders, Doors& doors) {
  const long got = receive(control_fd, &orders, sizeof orders, doors);
  if (got <= 0) return false;
  return read_fully(reinterpret_cast<char*>(&orders) + got, sizeof orders - static_cast<unsigned long>(got));
}

/// Into our control groups by ourselves. Nothing was started yet, so everything that ever runs here is in them.
void enter(const Doors& doors) {
  if (doors.count == 0) give_up(FailedAt::control_group, -enoent);
  for (unsigned i = 0; i < doors.count; ++i) {
    if (long result = call(SYS_write, doors.number[i], address("0"), 1); result != 1) {
      give_up(FailedAt::control_group, result);
    }
    call(SYS_close, doors.number[i]);
  }
}

/// The same ahead of the orders, if we are told already: while we wait to be used, or while the companion still lets
/// the host's files go.
void enter_meanwhile() {
  constexpr int peek_at_once = 0x2 | 0x40;  // MSG_PEEK, MSG_DONTWAIT
  Orders head;
  while (call(SYS_recvfrom, control_fd, address(&head), sizeof head, peek_at_once, 0, 0) == sizeof head &&
         head.magic == orders_magic && (head.flags & order_enter)) {
    Doors doors;
    if (!read_orders(head, doors)) leave(0);
    enter(doors);
  }
}

/// In a container that is kept: the program's own, not those that the engine gave to pid 1.
void take_streams(const Doors& doors) {
  constexpr unsigned streams = 3;
  if (doors.count != streams) give_up(FailedAt::orders, -enoent);
  for (unsigned i = 0; i < streams; ++i) {
    // They came as numbers above those of the control socket: none of them is overwritten here.
    if (long result = call(SYS_dup3, doors.number[i], i, 0); result < 0) give_up(FailedAt::orders, result);
    call(SYS_close, doors.number[i]);
  }
}

void take_orders() {
  Orders& orders = task.orders;
  for (;;) {
    Doors doors;
    // The end of the channel before any order: the launcher has no use for this sandbox.
    if (!read_orders(orders, doors)) leave(0);
    if (orders.magic != orders_magic) give_up(FailedAt::orders, -eacces);
    if (orders.flags & order_enter) {
      enter(doors);
    } else if (orders.flags & order_streams) {
      take_streams(doors);
    } else {
      break;
    }
  }
  char* strings = map(orders.bytes + 1UL);
  if (!read_fully(strings, orders.bytes)) leave(0);
  char* end = strings + orders.bytes;
  char* cursor = strings;
  task.cwd = next_string(cursor, end);
  task.program = next_string(cursor, end);
  task.search = next_string(cursor, end);
  unsigned long pointers = (orders.arguments + orders.variables + orders.places + 3UL) * sizeof(char*);
  task.arguments = reinterpret_cast<char**>(map(pointers));
  task.variables = task.arguments + orders.arguments + 1;
  task.places = task.variables + orders.variables + 1;
  for (unsigned i = 0; i < orders.arguments; ++i) task.arguments[i] = next_string(cursor, end);
  for (unsigned i = 0; i < orders.variables; ++i) task.variables[i] = next_string(cursor, end);
  for (unsigned i = 0; i < orders.places; ++i) task.places[i] = next_string(cursor, end);
}

unsigned long number_in(const char*& text) {
  unsigned long value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<unsigned long>(*text - '0');
  if (*text == ' ') ++text;
  return value;
}

/// An engine mounts by name. Whoever changed what the name led to, after it was looked at, wins nothing: it is compared
/// here, where it cannot be changed any more.
void check_places() {
  for (unsigned i = 0; i < task.orders.places; ++i) {
    const char* cursor = task.places[i];
    const unsigned long device = number_in(cursor);
    const unsigned long inode = number_in(cursor);
    const unsigned long flags = number_in(cursor);
    struct stat status;
    const long result = call(SYS_newfstatat, AT_FDCWD, address(cursor), address(&status), AT_SYMLINK_NOFOLLOW);
    if (result < 0 || status.st_dev != device || status.st_ino != inode) give_up(FailedAt::place_differs, result);
    struct statfs mount;
    const long told = call(SYS_statfs, address(cursor), address(&mount));
    const bool held = told == 0 && (static_cast<unsigned long>(mount.f_flags) & flags) == flags;
    if (!held) give_up(FailedAt::mount_flags, told);
  }
}

bool executable(const char* path) {
  constexpr int execute_permission = 1;
  struct stat status;
  return call(SYS_newfstatat, AT_FDCWD, address(path), address(&status), 0) == 0 && S_ISREG(status.st_mode) &&
         call(SYS_faccessat, AT_FDCWD, address(path), execute_permission) == 0;
}

/// Writes DIRECTORY/NAME into task.path; false if it does not fit.
bool join(const char* directory, const char* end, const char* name) {
  unsigned long used = 0;
  for (; directory < end; ++directory) {
    if (used + 2 >= sizeof task.path) return false;
    task.path[used++] = *directory;
  }
  if (used > 0) task.path[used++] = '/';
  for (; *name; ++name) {
    if (used + 1 >= sizeof task.path) return false;
    task.path[used++] = *name;
  }
  task.path[used] = 0;
  return true;
}

/// Inside the new root, after the pivot: a name that was looked up outside would be another file here.
void find_program() {
  bool has_slash = false;
  for (const char* c = task.program; *c; ++c) has_slash |= *c == '/';
  if (has_slash) {
    if (!join(task.program, task.program, task.program)) give_up(FailedAt::program_missing, -enoent);
    return;
  }
  for (const char* start = task.search; *task.program && *start;) {
    const char* end = start;
    while (*end && *end != ':') ++end;
    if (end > start && join(start, end, task.program) && executable(task.path)) return;
    start = *end ? end + 1 : end;
  }
  give_up(FailedAt::program_missing, -enoent);
}

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

bool same_file(const struct stat& status) {
  const Orders& orders = task.orders;
  return status.st_dev == orders.expected_device && status.st_ino == orders.expected_inode &&
         nanoseconds(status.st_mtim) == orders.expected_mtime_ns &&
         nanoseconds(status.st_ctim) == orders.expected_ctime_ns;
}

bool same_content(long fd) {
  static unsigned char chunk[65536];
  SmallSha256 hash;
  long at = 0;
  for (long got; (got = call(SYS_pread64, fd, address(chunk), sizeof chunk, at)) != 0; at += got) {
    if (got < 0) return false;
    hash.add(chunk, static_cast<unsigned long>(got));
  }
  unsigned char digest[SmallSha256::digest_bytes];
  hash.finish(digest);
  unsigned char different = 0;
  for (unsigned i = 0; i < sizeof digest; ++i) different |= digest[i] ^ task.orders.expected_content[i];
  return different == 0;
}

/// Hashing is for files that somebody in here could change, and for those that are another file than the one hashed
/// before; a file of the system costs two calls. (Between this and the exec a program that runs beside us in the same
/// workspace could still write to it: it would gain what it could run itself, in here.)
bool is_expected(long fd) {
  const Orders& orders = task.orders;
  constexpr int write_permission = 2;
  struct stat status;
  if (call(SYS_fstat, fd, address(&status)) < 0) return false;
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) != orders.expected_size) return false;
  if (!(orders.flags & order_compare_content)) return same_file(status);
  const bool changeable = call(SYS_faccessat, AT_FDCWD, address(task.path), write_permission) == 0;
  return (same_file(status) && !changeable) || same_content(fd);
}

void compare_program() {
  if (!(task.orders.flags & order_compare)) return;
  long fd = call(SYS_openat, AT_FDCWD, address(task.path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) give_up(FailedAt::program_missing, fd);
  if (!is_expected(fd)) give_up(FailedAt::program_differs, 0);
  char head[2] = {0, 0};
  call(SYS_pread64, fd, address(head), 2, 0);
  // An interpreter opens the script by its name, which a descriptor does not have: those go by path.
  if (head[0] == '#' && head[1] == '!') return;
  task.descriptor = static_cast<int>(fd);
  task.by_descriptor = true;
}

void unblock_signals() {
  unsigned long none = 0;
  call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, address(&none), 0, sizeof none);
}

long restrict_self(long ruleset) { return call(446 /* landlock_restrict_self */, ruleset, 0); }

/// Without a pid namespace pid 1 is one process among others of its user. A Landlock domain below its own leaves the
/// program nobody to signal but what it starts itself.
long leave_reach_of_pid1() {
  struct {
    std::uint64_t files;
    std::uint64_t network;
    std::uint64_t scopes;
  } const attributes{0, 0, 2 /* LANDLOCK_SCOPE_SIGNAL */};
  const long ruleset = call(444 /* landlock_create_ruleset */, address(&attributes), sizeof attributes, 0);
  if (ruleset < 0) return ruleset;
  const long bound = restrict_self(ruleset);
  call(SYS_close, ruleset);
  return bound;
}

[[noreturn]] void fail_to_become(long result) {
  task.exec_error = static_cast<int>(-result);
  for (;;) call(SYS_exit_group, 127);
}

/// A new process is put on an idle processor, which has to wake up first; in a virtual machine that takes longer than
/// all that it does until it executes. Pid 1 waits meanwhile: where it is, there is room.
class Processors {
 public:
  void only_this_one() {
    unsigned here = 0;
    if (call(SYS_getcpu, address(&here), 0, 0) < 0 || here >= most) return;
    known_ = call(SYS_sched_getaffinity, 0, sizeof allowed_, address(allowed_)) > 0;
    unsigned long one[most / bits] = {};
    one[here / bits] = 1UL << here % bits;
    if (known_) call(SYS_sched_setaffinity, 0, sizeof one, address(one));
  }
  void all_again() const {
    if (known_) call(SYS_sched_setaffinity, 0, sizeof allowed_, address(allowed_));
  }

 private:
  static constexpr unsigned bits = 64;
  static constexpr unsigned most = 1024;
  unsigned long allowed_[most / bits];
  bool known_;
};

constinit Processors processors{};

/// The child. It shares memory with pid 1, which waits until it executes.
[[noreturn]] void become_program() {
  processors.all_again();
  call(SYS_setsid);
  if (task.orders.flags & order_subreaper) call(SYS_prctl, PR_SET_PDEATHSIG, 9, 0, 0, 0);
  if (task.orders.flags & order_out_of_reach) {
    if (long result = leave_reach_of_pid1(); result < 0) fail_to_become(result);
  }
  if (task.orders.flags & order_controlling_tty) call(SYS_ioctl, 0, 0x540e /* TIOCSCTTY */, 0);
  unblock_signals();
  long result;
  if (task.by_descriptor) {
    result = call(SYS_execveat, task.descriptor, address(""), address(task.arguments), address(task.variables),
                  AT_EMPTY_PATH);
  } else {
    result = call(SYS_execve, address(task.path), address(task.arguments), address(task.variables));
  }
  fail_to_become(result);
}

alignas(16) char child_stack[16384];

/// clone(CLONE_VM | CLONE_VFORK | SIGCHLD) onto a stack of the child's own.
long start_child() {
  constexpr long flags = 0x100 | 0x4000 | 17;
  char* top = child_stack + sizeof child_stack;
  long result;
#if defined(__x86_64__)
  __asm__ volatile(
      "xor %%r10d, %%r10d\n\t"
      "xor %%r8d, %%r8d\n\t"
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "call *%[entry]\n\t"
      "1:"
      : "=a"(result)
      : "a"(static_cast<long>(SYS_clone)), "D"(flags), "S"(top), "d"(0), [entry] "r"(&become_program)
      : "rcx", "r8", "r10", "r11", "memory");
#else
  register long x8 __asm__("x8") = SYS_clone;
  register long x0 __asm__("x0") = flags;
  register char* x1 __asm__("x1") = top;
  register long x2 __asm__("x2") = 0;
  register long x3 __asm__("x3") = 0;
  register long x4 __asm__("x4") = 0;
  __asm__ volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "blr %[entry]\n\t"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [entry] "r"(&become_program)
      : "memory", "x30");
  result = x0;
#endif
  return result;
}

struct Tally {
  std::uint64_t cpu_us = 0;
  std::uint64_t rss = 0;
};

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

/// Collects one dead process. Returns its pid, 0 if none is dead yet, −ECHILD if there is none at all.
long collect(Tally& tally, int options, int& status) {
  rusage usage;
  long pid;
  do {
    pid = call(SYS_wait4, -1, address(&status), options | __WALL, address(&usage));
  } while (pid == -eintr);
  if (pid > 0) {
    tally.cpu_us += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
    auto rss = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    if (rss > tally.rss) tally.rss = rss;
  }
  return pid;
}

/// A path below /proc, put together without a C library.
class ProcPath {
 public:
  ProcPath& text(const char* part) {
    while (*part && used_ + 1 < sizeof path_) path_[used_++] = *part++;
    path_[used_] = 0;
    return *this;
  }
  ProcPath& number(long value) {
    char digits[24];
    int count = sizeof digits;
    digits[--count] = 0;
    do {
      digits[--count] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    return text(digits + count);
  }
  long open() const { return call(SYS_openat, AT_FDCWD, address(path_), O_RDONLY | O_CLOEXEC); }

 private:
  char path_[96] = {};
  unsigned long used_ = 0;
};

/// Everybody below us, without a pid namespace: kill(-1) would reach beyond.
class Descendants {
 public:
  /// Sends the signal to all of them; how many were not seen by the walk before.
  unsigned signal(int number) {
    const unsigned before = count_;
    count_ = 0;
    visit(call(SYS_getpid));
    for (unsigned i = 0; i < count_; ++i) visit(pids_[i]);
    for (unsigned i = 0; i < count_; ++i) call(SYS_kill, pids_[i], number);
    return count_ > before ? count_ - before : 0;
  }

 private:
  /// The children of every thread of `pid`.
  void visit(long pid) {
    const long tasks = ProcPath().text("/proc/").number(pid).text("/task").open();
    if (tasks < 0) return;
    alignas(8) char entries[2048];
    for (long bytes; (bytes = call(SYS_getdents64, tasks, address(entries), sizeof entries)) > 0;) {
      for (long at = 0; at < bytes;) {
        constexpr int length_offset = 16;
        constexpr int name_offset = 19;
        const char* name = entries + at + name_offset;
        if (*name >= '0' && *name <= '9') read_children(pid, name);
        at += *reinterpret_cast<unsigned short*>(entries + at + length_offset);
      }
    }
    call(SYS_close, tasks);
  }

  void read_children(long pid, const char* thread) {
    const long list = ProcPath().text("/proc/").number(pid).text("/task/").text(thread).text("/children").open();
    if (list < 0) return;
    char text[4096];
    long child = 0;
    for (long bytes; (bytes = call(SYS_read, list, address(text), sizeof text)) > 0;) {
      for (long i = 0; i < bytes; ++i) {
        if (text[i] >= '0' && text[i] <= '9') {
          child = child * 10 + (text[i] - '0');
        } else {
          if (child > 1 && count_ < most) pids_[count_++] = child;
          child = 0;
        }
      }
    }
    call(SYS_close, list);
  }

  static constexpr unsigned most = 65536;
  long pids_[most];
  unsigned count_;
};

constinit Descendants descendants{};

/// Kernels without Landlock's signal scope (before 6.12).
void end_descendants(Tally& tally) {
  int status;
  for (;;) {
    // Stopped first, until nobody new appears: who is stopped cannot fork but still counts against the limit, so even a
    // fork bomb comes to rest.
    while (descendants.signal(19 /* SIGSTOP */) > 0) {
    }
    descendants.signal(9);
    if (collect(tally, 0, status) == -echild) return;
  }
}

/// kill(-1) reaches what is in our pid namespace, or without one what is in our Landlock domain.
void end_everything(Tally& tally) {
  if ((task.orders.flags & order_subreaper) && !task.scoped) return end_descendants(tally);
  int status;
  do {
    call(SYS_kill, -1, 9);
  } while (collect(tally, 0, status) != -echild);
}

/// The second lock, and the terminal. Without a word from the companion nothing is started: it says in its notes why.
void take_from_companion() {
  Joint joint;
  Doors doors;
  const long got = receive(joint_fd, &joint, sizeof joint, doors);
  if (got != sizeof joint || joint.magic != joint_magic) leave(125);
  unsigned next = 0;
  if (joint.flags & joint_ruleset) {
    if (next >= doors.count || restrict_self(doors.number[next]) < 0) leave(125);
    call(SYS_close, doors.number[next++]);
  }
  if (joint.flags & joint_terminal) {
    for (int fd = 0; fd < 3; ++fd) {
      if (next >= doors.count || call(SYS_dup3, doors.number[next], fd, 0) < 0) leave(125);
    }
    call(SYS_close, doors.number[next++]);
  }
  call(SYS_close, joint_fd);
}

/// It is our only child yet. Before any path is looked up: until it is gone, the host's files may still be there.
void wait_for_companion() {
  Tally not_the_programs;
  int status = 0;
  while (collect(not_the_programs, 0, status) > 0) {
    if (status != 0) leave(125);
  }
  // The working directory was the launcher's.
  if (call(SYS_chdir, address("/")) < 0) leave(125);
}

/// Opened here: one of the launcher's would be a door to the host's mount of it.
void close_input() {
  if (!(task.orders.flags & order_no_input)) return;
  const long null = call(SYS_openat, AT_FDCWD, address("/dev/null"), O_RDONLY | O_CLOEXEC);
  if (null < 0) give_up(FailedAt::input, null);
  if (long result = call(SYS_dup3, null, 0, 0); result < 0) give_up(FailedAt::input, result);
  call(SYS_close, null);
}

/// Waits until the program is dead. False when the launcher went away first.
bool wait_for(long program, Tally& tally, int& program_status) {
  unsigned long mask = 1UL << (17 - 1);
  long signals = call(SYS_signalfd4, -1, address(&mask), sizeof mask, O_CLOEXEC | O_NONBLOCK);
  for (;;) {
    int status;
    for (long pid; (pid = collect(tally, WNOHANG, status)) > 0;) {
      if (pid == program) {
        program_status = status;
        return true;
      }
    }
    pollfd wanted[2] = {{static_cast<int>(signals), POLLIN, 0}, {control_fd, POLLIN, 0}};
    call(SYS_ppoll, address(wanted), 2, 0, 0, sizeof mask);
    if (wanted[1].revents & (POLLHUP | POLLERR)) return false;
    if (wanted[1].revents & POLLIN) {
      char byte;
      if (call(SYS_recvfrom, control_fd, address(&byte), 1, 0x40 /* MSG_DONTWAIT */, 0, 0) == 0) return false;
    }
    char drained[128];
    call(SYS_read, signals, address(drained), sizeof drained);
  }
}

/// The launcher's socket, as a file of the container, becomes the descriptor that a sandbox of our own is born with.
void connect_to_launcher(const char* path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  for (unsigned i = 0; path[i] && i + 1 < sizeof name.sun_path; ++i) name.sun_path[i] = path[i];
  const long made = call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0 || call(SYS_connect, made, address(&name), sizeof name) < 0) leave(125);
  if (made == control_fd) return;
  // dup3 is the call that both architectures have.
  if (call(SYS_dup3, made, control_fd, O_CLOEXEC) < 0) leave(125);
  call(SYS_close, made);
}

enum class Helped { alone, by_companion };

[[noreturn]] void live(Helped helped) {
  unsigned long child_died = 1UL << (17 - 1);
  call(SYS_rt_sigprocmask, 2, address(&child_died), 0, sizeof child_died);
  // It came through exec, and must not go through the next one.
  call(SYS_fcntl, control_fd, F_SETFD, FD_CLOEXEC);
  if (helped == Helped::by_companion) {
    enter_meanwhile();
    take_from_companion();
    enter_meanwhile();
    wait_for_companion();
  }
  send_report(ReportKind::ready);
  take_orders();
  if (!(task.orders.flags & order_stay_dumpable)) call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (task.orders.flags & order_subreaper) call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // Not taken on trust: a kill(-1) that the domain does not bound would end everything of the user's.
  task.scoped = (task.orders.flags & order_out_of_reach) && call(SYS_kill, call(SYS_getppid), 0) == -eperm;
  check_places();
  if (long result = call(SYS_chdir, address(task.cwd)); result < 0) give_up(FailedAt::working_directory, result);
  find_program();
  compare_program();
  close_input();
  processors.only_this_one();
  long program = start_child();
  processors.all_again();
  if (program < 0) give_up(FailedAt::fork, program);
  if (task.exec_error)
    give_up(task.exec_error == enotdir ? FailedAt::program_missing : FailedAt::exec, -task.exec_error);
  // The reader of the program's output must see its end when the program's last descriptor closes, not ours.
  for (int fd = 0; fd < 3; ++fd) call(SYS_close, fd);
  send_report(ReportKind::started);
  Tally tally;
  int status = 0;
  bool ended = wait_for(program, tally, status);
  end_everything(tally);
  // Not ended: the launcher is gone, or told us to end everybody and still wants to know what they used.
  send_report(ended ? ReportKind::ended : ReportKind::stopped, status, 0, tally.cpu_us, tally.rss);
  if (task.orders.flags & order_linger) {
    char byte;
    long got;
    do {
      got = call(SYS_read, control_fd, address(&byte), 1);
    } while (got > 0 || got == -eintr);
  }
  leave(0);
}

/// Milliseconds; the machine's sleep counts.
unsigned long now() {
  timespec time{};
  call(SYS_clock_gettime, 7 /* CLOCK_BOOTTIME */, address(&time));
  return static_cast<unsigned long>(time.tv_sec) * 1000 + static_cast<unsigned long>(time.tv_nsec) / 1'000'000;
}

unsigned long smaller(unsigned long a, unsigned long b) { return a < b ? a : b; }

/// Takes the place of the control socket.
void take_listener() {
  Orders orders;
  Doors doors;
  if (!read_orders(orders, doors) || orders.magic != orders_magic || !(orders.flags & order_listen)) leave(125);
  if (doors.count != 1) leave(125);
  send_report(ReportKind::started);
  if (call(SYS_dup3, doors.number[0], control_fd, O_CLOEXEC) < 0) leave(125);
  call(SYS_close, doors.number[0]);
}

/// One call: a child lives for it like the pid 1 of a sandbox of its own.
void answer() {
  const long caller = call(SYS_accept4, control_fd, 0, 0, O_CLOEXEC);
  if (caller < 0) return;
  if (call(SYS_clone, 17 /* SIGCHLD: a fork */, 0, 0, 0, 0) == 0) {
    call(SYS_dup3, caller, control_fd, O_CLOEXEC);
    call(SYS_close, caller);
    live(Helped::alone);
  }
  // No process to be had: the caller sees the end of the channel.
  call(SYS_close, caller);
}

/// Ends when nobody came for `idle` milliseconds, or when it is `life` old and nobody is there, so that nothing stays
/// for ever where no Cordon comes again to sweep. One that is too old takes no more calls.
[[noreturn]] void keep(unsigned long idle, unsigned long life) {
  // Inherited by the children: what runs here, as the same user, looks into none of them.
  call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  unsigned long everything = ~0UL;
  call(SYS_rt_sigprocmask, 2, address(&everything), 0, sizeof everything);
  send_report(ReportKind::ready);
  take_listener();
  unsigned long child_died = 1UL << (17 - 1);
  const long signals = call(SYS_signalfd4, -1, address(&child_died), sizeof child_died, O_CLOEXEC | O_NONBLOCK);
  const unsigned long born = now();
  unsigned long used = born;
  bool listening = true;
  for (;;) {
    Tally tally;
    int status;
    const unsigned long time = now();
    // Signal 0 to all but us.
    const bool alone = call(SYS_kill, -1, 0) < 0;
    if (!alone) used = time;
    while (collect(tally, WNOHANG, status) > 0) used = time;
    const bool old = time - born >= life;
    if (alone && (old || time - used >= idle)) leave(0);
    if (old && listening) call(SYS_close, control_fd);
    listening = listening && !old;
    const unsigned long until_idle = smaller(idle - (time - used), 5000);
    const unsigned long wait = listening ? smaller(life - (time - born), until_idle) : 5000;
    timespec pause{static_cast<long>(wait / 1000), static_cast<long>(wait % 1000 * 1'000'000)};
    pollfd wanted[2] = {{static_cast<int>(signals), POLLIN, 0}, {listening ? control_fd : -1, POLLIN, 0}};
    call(SYS_ppoll, address(wanted), 2, address(&pause), 0, sizeof child_died);
    char drained[128];
    call(SYS_read, signals, address(drained), sizeof drained);
    if (wanted[1].revents & POLLIN) answer();
  }
}

}  // namespace

extern "C" {
/// `stack` is as the kernel left it: the number of arguments, then each.
[[noreturn]] __attribute__((used)) void cordon_pid1_main(long* stack) {
  const long count = stack[0];
  char** arguments = reinterpret_cast<char**>(stack + 1);
  const bool helped = count == 2 && arguments[1][0] != '/';
  if (helped) live(Helped::by_companion);
  if (count > 1) connect_to_launcher(arguments[1]);
  if (count == 4) {
    const char* idle = arguments[2];
    const char* life = arguments[3];
    keep(number_in(idle), number_in(life));
  }
  live(Helped::alone);
}
// The compiler may call these by itself.
void* memset(void* into, int value, unsigned long bytes) {
  char* cursor = static_cast<char*>(into);
  while (bytes-- > 0) *cursor++ = static_cast<char>(value);
  return into;
}
void* memcpy(void* into, const void* from, unsigned long bytes) {
  char* cursor = static_cast<char*>(into);
  const char* source = static_cast<const char*>(from);
  while (bytes-- > 0) *cursor++ = *source++;
  return into;
}
}

#if defined(__x86_64__)
__asm__(
    ".text\n.globl _start\n_start:\n endbr64\n xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call "
    "cordon_pid1_main\n hlt\n");
#else
__asm__(".text\n.globl _start\n_start:\n mov x29, #0\n mov x30, #0\n mov x0, sp\n bl cordon_pid1_main\n brk #0\n");
#endif
