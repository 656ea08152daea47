// What the filter must answer, written down a second time and independently of its tables: by names that libseccomp
// turns into numbers, and by the kernel's own constants. A change of any row or clause must show here.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/kd.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/vt.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "sandbox/native/filter.h"
#include "sandbox/native/filter_rules.h"

namespace cordon::sandbox::native {
namespace {

using sys::SeccompAnswer;
using Arguments = std::array<std::uint64_t, 6>;

const char* const always_allowed =
    "accept accept4 access alarm bind brk cachestat capget capset chdir chown clock_getres clock_gettime "
    "clock_nanosleep close close_range connect copy_file_range dup dup2 dup3 epoll_create epoll_create1 epoll_ctl "
    "epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2 "
    "fadvise64 fallocate fchdir fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr "
    "fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake futimesat "
    "get_robust_list getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid "
    "getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid getsockname "
    "getsockopt gettid gettimeofday getuid getxattr getxattrat inotify_add_watch inotify_init inotify_init1 "
    "inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit ioprio_get ioprio_set kill "
    "landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen listxattr "
    "listxattrat llistxattr lremovexattr lseek lsetxattr lstat madvise map_shadow_stack membarrier memfd_create "
    "mincore mlock mlock2 mlockall mmap mprotect mremap mseal msync munlock munlockall munmap nanosleep newfstatat "
    "pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll pread64 preadv "
    "preadv2 pselect6 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg recvmsg "
    "removexattr removexattrat rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending "
    "rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo "
    "sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler "
    "sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield select "
    "sendfile sendmmsg sendmsg sendto set_robust_list set_tid_address setfsgid setfsuid setgid setgroups setitimer "
    "setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid setxattr setxattrat "
    "shutdown sigaltstack signalfd signalfd4 splice stat statfs statx symlink symlinkat sync sync_file_range syncfs "
    "sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create "
    "timerfd_gettime timerfd_settime times tkill truncate umask uname unlink unlinkat uprobe uretprobe utime utimensat "
    "utimes vfork vmsplice wait4 waitid write writev";

const char* const always_refused =
    "_sysctl acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init fanotify_mark "
    "finit_module fsconfig fsmount fsopen fspick get_mempolicy init_module ioperm iopl kcmp kexec_file_load kexec_load "
    "keyctl lookup_dcookie mbind memfd_secret migrate_pages modify_ldt mount mount_setattr move_mount move_pages "
    "name_to_handle_at nfsservctl open_by_handle_at open_tree open_tree_attr perf_event_open pidfd_getfd pivot_root "
    "process_madvise process_mrelease quotactl quotactl_fd reboot remap_file_pages request_key set_mempolicy "
    "set_mempolicy_home_node setdomainname sethostname setns settimeofday swapoff swapon sysfs syslog umount2 unshare "
    "uselib userfaultfd ustat vhangup";

const char* const ipc_calls =
    "mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd semctl semget "
    "semop semtimedop shmat shmctl shmdt shmget";

const char* const debugger_calls = "process_vm_readv process_vm_writev ptrace";

// Newer than the libseccomp that resolves the other names.
const std::map<std::string, int> newer = {{"cachestat", 451},
                                          {"fchmodat2", 452},
                                          {"map_shadow_stack", 453},
                                          {"futex_wake", 454},
                                          {"futex_wait", 455},
                                          {"futex_requeue", 456},
                                          {"mseal", 462},
                                          {"setxattrat", 463},
                                          {"getxattrat", 464},
                                          {"listxattrat", 465},
                                          {"removexattrat", 466},
                                          {"open_tree_attr", 467},
                                          {"set_mempolicy_home_node", 450},
                                          {"futex_waitv", 449}};

int look_up(const std::string& name, Architecture architecture) {
  if (name == "uretprobe") return architecture == Architecture::x86_64 ? 335 : -1;
  if (name == "uprobe") return architecture == Architecture::x86_64 ? 336 : -1;
  if (const auto known = newer.find(name); known != newer.end()) return known->second;
  const auto token = architecture == Architecture::x86_64 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64;
  return seccomp_syscall_resolve_name_arch(token, name.c_str());
}

int number_of(const std::string& name, Architecture architecture) {
  static std::map<std::pair<std::string, Architecture>, int> known;
  const auto [entry, fresh] = known.try_emplace({name, architecture}, 0);
  if (fresh) entry->second = look_up(name, architecture);
  return entry->second;
}

const SeccompAnswer allowed = SeccompAnswer::allow();
const SeccompAnswer refused = SeccompAnswer::fail_with(EPERM);

std::string text_of(SeccompAnswer answer) {
  if (answer == allowed) return "allow";
  if (answer.kind == SeccompAnswer::Kind::error) return "errno " + std::to_string(answer.error);
  return answer.kind == SeccompAnswer::Kind::kill_process ? "kill" : "other";
}

/// One call put to the program, again and again; collects what it did not expect.
class Inquiry {
 public:
  Inquiry(std::span<const sock_filter> program, Architecture architecture, std::size_t limit)
      : program_(program), architecture_(architecture), limit_(limit) {}

  bool full() const { return findings_.size() >= limit_; }
  std::vector<std::string> findings() && { return std::move(findings_); }

  void expect(std::uint32_t number, const std::string& name, const Arguments& arguments, SeccompAnswer wanted) {
    if (full()) return;
    const auto got = evaluate(program_, audit_architecture(architecture_), number, arguments);
    if (!got) {
      findings_.push_back(name + ": " + got.error().sentence);
    } else if (*got != wanted) {
      findings_.push_back(fmt::format("{}({:#x}, {:#x}, {:#x}, {:#x}): {} instead of {}", name, arguments[0],
                                      arguments[1], arguments[2], arguments[3], text_of(*got), text_of(wanted)));
    }
  }

  /// The high halves of arguments that the kernel cuts to 32 bits must not change the answer.
  void expect(const std::string& name, const Arguments& arguments, SeccompAnswer wanted) {
    if (full()) return;
    const int number = number_of(name, architecture_);
    if (number < 0) return;
    argued_.insert(static_cast<std::uint32_t>(number));
    Arguments high = arguments;
    for (std::uint64_t& argument : high) argument |= 0xdeadbeef00000000;
    expect(static_cast<std::uint32_t>(number), name, arguments, wanted);
    expect(static_cast<std::uint32_t>(number), name, high, wanted);
  }

  void expect_names(const char* names, SeccompAnswer wanted) {
    std::istringstream stream(names);
    for (std::string name; stream >> name;) {
      expect(name, {}, wanted);
      expect(name, {~0u, ~0u, ~0u, ~0u, ~0u, ~0u}, wanted);
    }
  }

  /// Every number of which nothing was said so far.
  void expect_all_others_absent() {
    for (std::uint32_t number = 0; number < 1024; ++number) {
      if (!argued_.contains(number)) {
        expect(number, "call " + std::to_string(number), {}, SeccompAnswer::fail_with(ENOSYS));
      }
    }
    expect(0xffffffff, "call -1", {}, SeccompAnswer::fail_with(ENOSYS));
  }

  Architecture architecture() const { return architecture_; }

 private:
  std::span<const sock_filter> program_;
  Architecture architecture_;
  std::size_t limit_;
  std::set<std::uint32_t> argued_;
  std::vector<std::string> findings_;
};

void expect_modes(Inquiry& inquiry) {
  for (std::uint64_t mode = 0; mode <= 07777; mode += 0111) {
    for (const std::uint64_t bits : {0, S_ISVTX, S_ISUID, S_ISGID, S_ISUID | S_ISGID, S_IFIFO | 0}) {
      const std::uint64_t whole = (mode & 0777) | bits;
      const SeccompAnswer wanted = (whole & (S_ISUID | S_ISGID)) == 0 ? allowed : refused;
      for (const char* name : {"chmod", "fchmod", "creat", "mkdir", "mknod"}) {
        inquiry.expect(name, {06000, whole, 06000}, wanted);
      }
      for (const char* name : {"fchmodat", "fchmodat2", "mkdirat", "mknodat"}) {
        inquiry.expect(name, {06000, 06000, whole, 06000}, wanted);
      }
      for (const std::uint64_t flags : {O_CREAT, O_CREAT | O_WRONLY | O_CLOEXEC, O_TMPFILE | O_RDWR, 020000000}) {
        inquiry.expect("open", {06000, flags, whole, 06000}, wanted);
        inquiry.expect("openat", {06000, 06000, flags, whole}, wanted);
      }
      inquiry.expect("open", {0, O_RDWR | O_TRUNC | O_DIRECTORY, whole}, allowed);
      inquiry.expect("openat", {0, 0, O_RDWR | O_TRUNC | O_DIRECTORY, whole}, allowed);
    }
  }
}

void expect_clone(Inquiry& inquiry) {
  const std::uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                               CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  for (const std::uint64_t flags : {std::uint64_t{SIGCHLD}, thread, std::uint64_t{CLONE_VM | CLONE_VFORK | SIGCHLD},
                                    std::uint64_t{CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD},
                                    std::uint64_t{0}, std::uint64_t{CLONE_PIDFD}, std::uint64_t{CLONE_IO}}) {
    inquiry.expect("clone", {flags}, allowed);
    for (const std::uint64_t space :
         {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
      inquiry.expect("clone", {flags | space}, refused);
    }
  }
}

SeccompAnswer wanted_socket(std::uint64_t family, std::uint64_t type, std::uint64_t protocol,
                            const FilterOptions& options) {
  if (family == AF_UNIX && options.unix_sockets()) return allowed;
  if (family == AF_NETLINK && protocol == NETLINK_ROUTE && options.netlink_route()) return allowed;
  if ((family != AF_INET && family != AF_INET6) || !options.internet_sockets())
    return SeccompAnswer::fail_with(EAFNOSUPPORT);
  if (type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP)) return allowed;
  if (type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP)) return allowed;
  if (type == SOCK_RAW || type == SOCK_PACKET) return refused;
  return SeccompAnswer::fail_with(EPROTONOSUPPORT);
}

void expect_sockets(Inquiry& inquiry, const FilterOptions& options) {
  for (std::uint64_t family = 0; family <= 64; ++family) {
    for (std::uint64_t type = 0; type <= 15; ++type) {
      for (const std::uint64_t protocol : {0, 1, 6, 15, 17, 58, 132, 136, 255, 256, 262}) {
        const SeccompAnswer wanted = wanted_socket(family, type, protocol, options);
        inquiry.expect("socket", {family, type, protocol}, wanted);
        inquiry.expect("socket", {family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol}, wanted);
      }
      inquiry.expect("socketpair", {family, type},
                     family == AF_UNIX ? allowed : SeccompAnswer::fail_with(EAFNOSUPPORT));
    }
  }
}

void expect_ioctls(Inquiry& inquiry) {
  const std::set<std::uint64_t> bad = {TIOCSTI,
                                       TIOCLINUX,
                                       TIOCCONS,
                                       TIOCSETD,
                                       TIOCVHANGUP,
                                       KDSKBSENT,
                                       KDSKBENT,
                                       KDSETMODE,
                                       KDSIGACCEPT,
                                       KDSETKEYCODE,
                                       PIO_FONT,
                                       PIO_UNIMAP,
                                       VT_ACTIVATE,
                                       VT_SETMODE,
                                       VT_LOCKSWITCH,
                                       VT_DISALLOCATE,
                                       VT_RESIZE,
                                       0xaa00 /* USERFAULTFD_IOC_NEW */,
                                       0x40806685 /* FS_IOC_ENABLE_VERITY */,
                                       0xc0506617 /* FS_IOC_ADD_ENCRYPTION_KEY */};
  for (const std::uint64_t request : bad) {
    inquiry.expect("ioctl", {0, request}, refused);
    for (const std::uint64_t bit : {16, 24, 30, 31}) {
      if (!bad.contains(request ^ (1ull << bit))) inquiry.expect("ioctl", {0, request ^ (1ull << bit)}, allowed);
    }
  }
  for (std::uint64_t request = 0x4b00; request <= 0x4bff; ++request) inquiry.expect("ioctl", {0, request}, refused);
  for (std::uint64_t request = 0x5600; request <= 0x56ff; ++request) inquiry.expect("ioctl", {0, request}, refused);
  for (const std::uint64_t request :
       {std::uint64_t{TCGETS},     std::uint64_t{TCSETS},     std::uint64_t{TCSETSW},     std::uint64_t{TIOCGWINSZ},
        std::uint64_t{TIOCSWINSZ}, std::uint64_t{TIOCSCTTY},  std::uint64_t{TIOCNOTTY},   std::uint64_t{TIOCGPGRP},
        std::uint64_t{TIOCSPGRP},  std::uint64_t{FIONREAD},   std::uint64_t{FIONBIO},     std::uint64_t{FIOCLEX},
        std::uint64_t{TIOCGPTN},   std::uint64_t{TIOCSPTLCK}, std::uint64_t{TIOCGPTPEER}, std::uint64_t{0x40049409},
        std::uint64_t{0x8912},     std::uint64_t{0},          std::uint64_t{0xffffffff},  std::uint64_t{0x5411},
        std::uint64_t{0x5413},     std::uint64_t{0x4c00},     std::uint64_t{0x4aff},      std::uint64_t{0x5700},
        std::uint64_t{0x55ff}}) {
    inquiry.expect("ioctl", {TIOCSTI, request, TIOCSTI}, allowed);
  }
}

void expect_options(Inquiry& inquiry) {
  const std::set<std::uint64_t> good = {PR_SET_PDEATHSIG,
                                        PR_GET_PDEATHSIG,
                                        PR_GET_DUMPABLE,
                                        PR_SET_DUMPABLE,
                                        PR_GET_KEEPCAPS,
                                        PR_SET_KEEPCAPS,
                                        PR_GET_TIMING,
                                        PR_SET_TIMING,
                                        PR_SET_NAME,
                                        PR_GET_NAME,
                                        PR_GET_SECCOMP,
                                        PR_SET_SECCOMP,
                                        PR_CAPBSET_READ,
                                        PR_CAPBSET_DROP,
                                        PR_GET_TSC,
                                        PR_SET_TSC,
                                        PR_GET_SECUREBITS,
                                        PR_SET_TIMERSLACK,
                                        PR_GET_TIMERSLACK,
                                        PR_MCE_KILL_GET,
                                        PR_SET_CHILD_SUBREAPER,
                                        PR_GET_CHILD_SUBREAPER,
                                        PR_SET_NO_NEW_PRIVS,
                                        PR_GET_NO_NEW_PRIVS,
                                        PR_GET_TID_ADDRESS,
                                        PR_SET_THP_DISABLE,
                                        PR_GET_THP_DISABLE,
                                        PR_CAP_AMBIENT,
                                        PR_SVE_SET_VL,
                                        PR_SVE_GET_VL,
                                        PR_GET_SPECULATION_CTRL,
                                        PR_SET_SPECULATION_CTRL,
                                        PR_PAC_RESET_KEYS,
                                        PR_SET_TAGGED_ADDR_CTRL,
                                        PR_GET_TAGGED_ADDR_CTRL,
                                        PR_PAC_SET_ENABLED_KEYS,
                                        PR_PAC_GET_ENABLED_KEYS,
                                        PR_SME_SET_VL,
                                        PR_SME_GET_VL,
                                        65 /* PR_SET_MDWE */,
                                        66 /* PR_GET_MDWE */,
                                        0x41555856 /* PR_GET_AUXV */,
                                        PR_SET_VMA,
                                        PR_SET_PTRACER};
  const auto judge = [&](std::uint64_t option) {
    inquiry.expect("prctl", {option}, good.contains(option) ? allowed : SeccompAnswer::fail_with(EINVAL));
  };
  for (std::uint64_t option = 0; option < 256; ++option) judge(option);
  for (const std::uint64_t option : good) judge(option);
  judge(0x59616d60);
  judge(0xffffffff);

  const std::set<std::uint64_t> codes = {0x1001, 0x1002, 0x1003, 0x1004, 0x1021, 0x1022,
                                         0x1023, 0x5001, 0x5002, 0x5003, 0x5005};
  for (std::uint64_t page = 0; page < 0x10000; page += 0x1000) {
    for (std::uint64_t code = page; code < page + 0x40; ++code) {
      inquiry.expect("arch_prctl", {code}, codes.contains(code) ? allowed : SeccompAnswer::fail_with(EINVAL));
    }
  }
  inquiry.expect("arch_prctl", {0xffffffff}, SeccompAnswer::fail_with(EINVAL));
  for (const std::uint64_t persona : {0ull, 0xffffffffull, 0x40000ull, 0x400000ull, 8ull, 0x20000ull, 0x20008ull, 1ull,
                                      0x7ffffffull, 0x80000001ull}) {
    inquiry.expect("personality", {persona}, persona == 0 || persona == 0xffffffff ? allowed : refused);
  }
  for (std::uint64_t operation = 0; operation < 8; ++operation) {
    for (std::uint64_t flags = 0; flags < 64; ++flags) {
      const bool listens = operation == SECCOMP_SET_MODE_FILTER && (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
      inquiry.expect("seccomp", {operation, flags},
                     operation <= SECCOMP_GET_ACTION_AVAIL && !listens ? allowed : refused);
    }
  }
}

void expect_foreign_calls_are_killed(Inquiry& inquiry, std::span<const sock_filter> program,
                                     std::vector<std::string>& found) {
  for (std::uint32_t number = 0; number < 1024; ++number) {
    for (const std::uint32_t audit : {std::uint32_t{AUDIT_ARCH_I386}, std::uint32_t{AUDIT_ARCH_ARM},
                                      inquiry.architecture() == Architecture::x86_64 ? std::uint32_t{AUDIT_ARCH_AARCH64}
                                                                                     : std::uint32_t{AUDIT_ARCH_X86_64},
                                      0u}) {
      if (*evaluate(program, audit, number, {}) != SeccompAnswer::kill_process()) {
        found.push_back(fmt::format("call {} of architecture {:#x} is not killed", number, audit));
        return;
      }
    }
    const bool has_x32 = inquiry.architecture() == Architecture::x86_64;
    const SeccompAnswer wanted = has_x32 ? SeccompAnswer::kill_process() : SeccompAnswer::fail_with(ENOSYS);
    inquiry.expect(number | 0x40000000, "x32", {}, wanted);
    inquiry.expect(number | 0x80000000, "negative", {}, wanted);
  }
}

/// Where a program answers otherwise than expected, one line for each; `limit` bounds the work after the first
/// findings.
std::vector<std::string> disagreements(std::span<const sock_filter> program, Architecture architecture,
                                       const FilterOptions& options, std::size_t limit = 20) {
  Inquiry inquiry(program, architecture, limit);
  std::vector<std::string> foreign;
  inquiry.expect_names(always_allowed, allowed);
  inquiry.expect_names(always_refused, refused);
  inquiry.expect_names(ipc_calls, options.ipc_objects() ? allowed : refused);
  inquiry.expect_names(debugger_calls, options.debugging() ? allowed : refused);
  inquiry.expect("prlimit64", {0}, allowed);
  inquiry.expect("prlimit64", {1}, options.other_processes_limits() ? allowed : refused);
  const std::function<void()> parts[] = {[&] { expect_modes(inquiry); },
                                         [&] { expect_clone(inquiry); },
                                         [&] { expect_options(inquiry); },
                                         [&] { expect_ioctls(inquiry); },
                                         [&] { expect_sockets(inquiry, options); },
                                         [&] { inquiry.expect_all_others_absent(); },
                                         [&] { expect_foreign_calls_are_killed(inquiry, program, foreign); }};
  for (const auto& part : parts) {
    if (!inquiry.full()) part();
  }
  auto found = std::move(inquiry).findings();
  found.insert(found.end(), foreign.begin(), foreign.end());
  return found;
}

constexpr Architecture both[] = {Architecture::x86_64, Architecture::aarch64};

TEST(Filter, AnswersAsExpectedOnBothArchitecturesWithEveryOption) {
  const FilterOptions strict = FilterOptions::strict();
  const FilterOptions sets[] = {strict,
                                FilterOptions::namespaced(),
                                strict.with(OwnMountNamespace{}),
                                strict.with(OwnNetworkNamespace{}),
                                strict.with(OwnIpcNamespace{}),
                                strict.with(OwnPidNamespace{}),
                                strict.with(AllowPtrace{}),
                                strict.with(AllowNetlinkRoute{}),
                                FilterOptions::namespaced().with(AllowNetlinkRoute{}),
                                FilterOptions::namespaced().with(AllowPtrace{})};
  for (const Architecture architecture : both) {
    for (const FilterOptions& options : sets) {
      const auto program = build_filter(architecture, options, OnRefusal::answer);
      EXPECT_EQ(disagreements(program, architecture, options), std::vector<std::string>{}) << options.key();
    }
  }
}

TEST(Filter, NoRowCanBeDroppedUnnoticed) {
  const FilterOptions options = FilterOptions::namespaced();
  for (const Architecture architecture : both) {
    const auto calls = judged_calls(architecture, options);
    for (std::size_t dropped = 0; dropped < calls.size(); ++dropped) {
      // Without its row such a call gets the very same answer.
      if (calls[dropped].rule.clauses.empty() && calls[dropped].rule.otherwise == SeccompAnswer::fail_with(ENOSYS))
        continue;
      auto mutant = calls;
      mutant.erase(mutant.begin() + static_cast<std::ptrdiff_t>(dropped));
      const auto program = assemble(architecture, mutant, OnRefusal::answer);
      EXPECT_FALSE(disagreements(program, architecture, options, 1).empty()) << calls[dropped].name;
    }
  }
}

TEST(Filter, NoRowCanBeAllowedOrRefusedUnnoticed) {
  const FilterOptions options = FilterOptions::namespaced();
  for (const SeccompAnswer answer : {allowed, refused}) {
    const auto calls = judged_calls(Architecture::x86_64, options);
    for (std::size_t changed = 0; changed < calls.size(); ++changed) {
      if (calls[changed].rule.clauses.empty() && calls[changed].rule.otherwise == answer) continue;
      auto mutant = calls;
      mutant[changed].rule = CallRule{{}, answer};
      const auto program = assemble(Architecture::x86_64, mutant, OnRefusal::answer);
      EXPECT_FALSE(disagreements(program, Architecture::x86_64, options, 1).empty()) << calls[changed].name;
    }
  }
}

/// Calls `check` with every mutant that differs in one clause or one test of a clause.
void for_each_rule_mutant(const std::vector<JudgedCall>& calls,
                          const std::function<void(std::vector<JudgedCall>, std::string)>& check) {
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const auto& clauses = calls[call].rule.clauses;
    for (std::size_t clause = 0; clause < clauses.size(); ++clause) {
      const std::string name = fmt::format("{}, clause {}", calls[call].name, clause);
      auto without = calls;
      without[call].rule.clauses.erase(without[call].rule.clauses.begin() + static_cast<std::ptrdiff_t>(clause));
      check(std::move(without), name + " dropped");
      for (std::size_t test = 0; test < clauses[clause].when.size(); ++test) {
        auto wider = calls;
        auto& when = wider[call].rule.clauses[clause].when;
        when.erase(when.begin() + static_cast<std::ptrdiff_t>(test));
        check(std::move(wider), fmt::format("{} without test {}", name, test));
        auto other = calls;
        other[call].rule.clauses[clause].when[test].mask &=
            ~(other[call].rule.clauses[clause].when[test].mask & 0x7fffffff) | 1;
        if (other[call].rule.clauses[clause].when[test] == clauses[clause].when[test]) continue;
        other[call].rule.clauses[clause].when[test].value &= other[call].rule.clauses[clause].when[test].mask;
        check(std::move(other), fmt::format("{} with fewer bits in test {}", name, test));
      }
    }
  }
}

TEST(Filter, NoClauseOfAnArgumentRuleCanBeDroppedOrWidenedUnnoticed) {
  const FilterOptions options = FilterOptions::namespaced().with(AllowNetlinkRoute{});
  int mutants = 0;
  for_each_rule_mutant(judged_calls(Architecture::x86_64, options),
                       [&](const std::vector<JudgedCall>& mutant, const std::string& what) {
                         ++mutants;
                         const auto program = assemble(Architecture::x86_64, mutant, OnRefusal::answer);
                         EXPECT_FALSE(disagreements(program, Architecture::x86_64, options, 1).empty()) << what;
                       });
  EXPECT_GT(mutants, 200);
}

TEST(Filter, ReportingVariantHandsExactlyTheRefusalsToTheListener) {
  const FilterOptions options = FilterOptions::namespaced();
  const auto plain = build_filter(Architecture::x86_64, options, OnRefusal::answer);
  const auto reporting = build_filter(Architecture::x86_64, options, OnRefusal::notify);
  for (std::uint32_t number = 0; number < 1024; ++number) {
    for (const std::uint64_t value : {0ull, 1ull, 2ull, 10ull, 16ull, 0x5412ull, 06755ull, 0x10000000ull, ~0ull}) {
      const Arguments arguments = {value, value, value, value, value, value};
      const SeccompAnswer answer = *evaluate(plain, AUDIT_ARCH_X86_64, number, arguments);
      const bool refusal = answer == refused || answer == SeccompAnswer::fail_with(EAFNOSUPPORT);
      EXPECT_EQ(*evaluate(reporting, AUDIT_ARCH_X86_64, number, arguments), refusal ? SeccompAnswer::notify() : answer);
    }
  }
}

}  // namespace
}  // namespace cordon::sandbox::native
