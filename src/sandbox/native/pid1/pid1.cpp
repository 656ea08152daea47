// Pid 1 of a sandbox: a program of its own without a C library, executed from a sealed memory file once everything is
// isolated, so that nothing of the launcher's memory, environment or files is left in it. It is bound by the same Landlock
// rules and seccomp filter as the program it starts.
//
// It waits for orders, starts the program, collects the dead, and when the program ends or the launcher is gone it kills
// whatever is left.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "sandbox/native/pid1/orders.h"
#include "sys/raw.h"

namespace {

using namespace cordon::sandbox::native;
using cordon::sys::raw::address;
using cordon::sys::raw::call;

constexpr int eintr = 4;
constexpr int enoent = 2;
constexpr int esrch = 3;
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
  bool by_descriptor;
  int descriptor;  // of the compared program
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

void take_orders() {
  Orders& orders = task.orders;
  // The end of the channel before any order: the launcher has no use for this sandbox.
  if (!read_fully(&orders, sizeof orders)) leave(0);
  if (orders.magic != orders_magic) give_up(FailedAt::orders, -eacces);
  char* strings = map(orders.bytes + 1UL);
  if (!read_fully(strings, orders.bytes)) leave(0);
  char* end = strings + orders.bytes;
  char* cursor = strings;
  task.cwd = next_string(cursor, end);
  task.program = next_string(cursor, end);
  task.search = next_string(cursor, end);
  unsigned long pointers = (orders.arguments + orders.variables + 2UL) * sizeof(char*);
  task.arguments = reinterpret_cast<char**>(map(pointers));
  task.variables = task.arguments + orders.arguments + 1;
  for (unsigned i = 0; i < orders.arguments; ++i) task.arguments[i] = next_string(cursor, end);
  for (unsigned i = 0; i < orders.variables; ++i) task.variables[i] = next_string(cursor, end);
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

void compare_program() {
  if (!(task.orders.flags & order_compare)) return;
  long fd = call(SYS_openat, AT_FDCWD, address(task.path), O_RDONLY | O_CLOEXEC);
  if (fd < 0) give_up(FailedAt::program_missing, fd);
  struct stat status;
  long result = call(SYS_fstat, fd, address(&status));
  const Orders& orders = task.orders;
  if (result < 0 || status.st_dev != orders.expected_device || status.st_ino != orders.expected_inode ||
      static_cast<std::uint64_t>(status.st_size) != orders.expected_size ||
      nanoseconds(status.st_mtim) != orders.expected_mtime_ns || nanoseconds(status.st_ctim) != orders.expected_ctime_ns) {
    give_up(FailedAt::program_differs, result);
  }
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

/// The child. It shares memory with pid 1, which waits until it executes.
[[noreturn]] void become_program() {
  call(SYS_setsid);
  if (task.orders.flags & order_controlling_tty) call(SYS_ioctl, 0, 0x540e /* TIOCSCTTY */, 0);
  unblock_signals();
  long result;
  if (task.by_descriptor) {
    result = call(SYS_execveat, task.descriptor, address(""), address(task.arguments), address(task.variables), AT_EMPTY_PATH);
  } else {
    result = call(SYS_execve, address(task.path), address(task.arguments), address(task.variables));
  }
  task.exec_error = static_cast<int>(-result);
  for (;;) call(SYS_exit_group, 127);
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

/// Without a pid namespace kill(-1) would reach beyond us: go through our children, who inherit every orphan.
long kill_children() {
  long self = call(SYS_getpid);
  char name[64] = "/proc/self/task/";
  unsigned long used = 16;
  char digits[20];
  int count = 0;
  for (long rest = self; rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) name[used++] = digits[--count];
  for (const char* c = "/children"; *c; ++c) name[used++] = *c;
  name[used] = 0;
  static char list[65536];
  long fd = call(SYS_openat, AT_FDCWD, address(name), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fd;
  long bytes = call(SYS_read, fd, address(list), sizeof list);
  call(SYS_close, fd);
  long pid = 0;
  for (long i = 0; i < bytes; ++i) {
    if (list[i] >= '0' && list[i] <= '9') {
      pid = pid * 10 + (list[i] - '0');
    } else {
      if (pid > 1) call(SYS_kill, pid, 9);
      pid = 0;
    }
  }
  return 0;
}

void end_everything(Tally& tally) {
  int status;
  for (;;) {
    if (task.orders.flags & order_subreaper) {
      kill_children();
    } else if (call(SYS_kill, -1, 9) == -esrch) {
      // Nobody but us and perhaps the dead.
      while (collect(tally, WNOHANG, status) > 0) {
      }
      return;
    }
    if (collect(tally, 0, status) == -echild) return;
  }
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

[[noreturn]] void live() {
  unsigned long child_died = 1UL << (17 - 1);
  call(SYS_rt_sigprocmask, 2, address(&child_died), 0, sizeof child_died);
  // It came through exec, and must not go through the next one.
  call(SYS_fcntl, control_fd, F_SETFD, FD_CLOEXEC);
  send_report(ReportKind::ready);
  take_orders();
  if (!(task.orders.flags & order_stay_dumpable)) call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (task.orders.flags & order_subreaper) call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (long result = call(SYS_chdir, address(task.cwd)); result < 0) give_up(FailedAt::working_directory, result);
  find_program();
  compare_program();
  long program = start_child();
  if (program < 0) give_up(FailedAt::fork, program);
  if (task.exec_error) give_up(task.exec_error == enotdir ? FailedAt::program_missing : FailedAt::exec, -task.exec_error);
  // The reader of the program's output must see its end when the program's last descriptor closes, not ours.
  for (int fd = 0; fd < 3; ++fd) call(SYS_close, fd);
  send_report(ReportKind::started);
  Tally tally;
  int status = 0;
  bool ended = wait_for(program, tally, status);
  end_everything(tally);
  if (ended) send_report(ReportKind::ended, status, 0, tally.cpu_us, tally.rss);
  leave(0);
}

}  // namespace

extern "C" {
[[noreturn]] __attribute__((used)) void cordon_pid1_main() { live(); }
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
__asm__(".text\n.globl _start\n_start:\n endbr64\n xor %ebp, %ebp\n and $-16, %rsp\n call cordon_pid1_main\n hlt\n");
#else
__asm__(".text\n.globl _start\n_start:\n mov x29, #0\n mov x30, #0\n bl cordon_pid1_main\n brk #0\n");
#endif
