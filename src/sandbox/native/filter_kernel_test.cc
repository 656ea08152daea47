// The filter in the running kernel: what it really answers, in children that are thrown away.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>

#include "sandbox/native/filter.h"
#include "sys/seccomp_child.h"

namespace cordon::sandbox::native {
namespace {

using sys::ChildReport;
using sys::SeccompAnswer;

const ChildReport fine{0, ""};

ChildReport filtered(const FilterOptions& options, const std::function<std::string()>& work) {
  const auto program = payload_filter(options);
  return sys::in_child([&]() -> std::string {
    if (const auto installed = sys::install_filter(program); !installed) return installed.error().sentence;
    return work();
  });
}

/// Empty if the call failed with this errno.
std::string fails(const char* what, long result, int error) {
  if (result == -1 && errno == error) return {};
  return fmt::format("{}: {} (errno {}) instead of errno {}\n", what, result, errno, error);
}

std::string works(const char* what, long result) {
  if (result >= 0) return {};
  return fmt::format("{}: errno {}\n", what, errno);
}

TEST(FilterInKernel, AnswersEveryRefusedNumberAsTheEvaluatorSays) {
  for (const FilterOptions& options : {FilterOptions::strict(), FilterOptions::namespaced()}) {
    const auto program = payload_filter(options);
    EXPECT_EQ(filtered(options,
                       [&] {
                         std::string wrong;
                         for (std::uint32_t number = 0; number < 1024; ++number) {
                           const auto said = *evaluate(program, audit_architecture(this_architecture), number, {});
                           if (said.kind != SeccompAnswer::Kind::error) continue;
                           wrong +=
                               fails(std::to_string(number).c_str(), ::syscall(number, 0, 0, 0, 0, 0, 0), said.error);
                         }
                         return wrong;
                       }),
              fine);
  }
}

TEST(FilterInKernel, RefusesNewNamespacesInEveryWay) {
  EXPECT_EQ(filtered(FilterOptions::namespaced(),
                     [] {
                       std::string wrong;
                       for (const unsigned long flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID,
                                                        CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
                         wrong += fails("clone", ::syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0), EPERM);
                         wrong += fails("clone, high bits",
                                        ::syscall(SYS_clone, flag | SIGCHLD | (1ul << 40), 0, 0, 0, 0), EPERM);
                         wrong += fails("unshare", ::syscall(SYS_unshare, flag), EPERM);
                       }
                       wrong += fails("clone3", ::syscall(SYS_clone3, nullptr, 0), ENOSYS);
                       wrong += fails("setns", ::syscall(SYS_setns, 0, 0), EPERM);
                       return wrong;
                     }),
            fine);
}

TEST(FilterInKernel, ThreadsAndForksStillStart) {
  EXPECT_EQ(filtered(FilterOptions::strict(),
                     [] {
                       int seen = 0;
                       std::thread([&] { seen = 1; }).join();
                       const pid_t child = ::fork();
                       if (child == 0) ::_exit(7);
                       int status = 0;
                       ::waitpid(child, &status, 0);
                       return std::string(seen == 1 && WEXITSTATUS(status) == 7 ? "" : "no thread or child");
                     }),
            fine);
}

TEST(FilterInKernel, NoFileGetsASetuidOrSetgidBit) {
  char directory[] = "/tmp/cordon-filter-XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  ASSERT_EQ(::chdir(directory), 0);
  EXPECT_EQ(
      filtered(FilterOptions::namespaced(),
               [] {
                 std::string wrong;
                 ::umask(0);
                 wrong += works("open", ::syscall(SYS_openat, AT_FDCWD, "plain", O_CREAT | O_RDWR, 0755));
                 const int file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "plain", O_RDONLY, 06777));
                 wrong += works("open without O_CREAT and with any mode", file);
                 for (const unsigned mode : {04755u, 02755u, 06777u}) {
                   wrong += fails("fchmod", ::syscall(SYS_fchmod, file, mode), EPERM);
                   wrong += fails("fchmodat", ::syscall(SYS_fchmodat, AT_FDCWD, "plain", mode), EPERM);
                   wrong += fails("fchmodat2", ::syscall(452, AT_FDCWD, "plain", mode, 0), EPERM);
                   wrong += fails("openat", ::syscall(SYS_openat, AT_FDCWD, "set", O_CREAT | O_RDWR, mode), EPERM);
                   wrong += fails("O_TMPFILE", ::syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_RDWR, mode), EPERM);
                   wrong += fails("mknodat", ::syscall(SYS_mknodat, AT_FDCWD, "set", S_IFREG | mode, 0), EPERM);
                   wrong += fails("mkdirat", ::syscall(SYS_mkdirat, AT_FDCWD, "set", mode), EPERM);
#if defined(__x86_64__)
                   wrong += fails("chmod", ::syscall(SYS_chmod, "plain", mode), EPERM);
                   wrong += fails("open", ::syscall(SYS_open, "set", O_CREAT | O_RDWR, mode), EPERM);
                   wrong += fails("creat", ::syscall(SYS_creat, "set", mode), EPERM);
                   wrong += fails("mknod", ::syscall(SYS_mknod, "set", S_IFREG | mode, 0), EPERM);
#endif
                 }
                 wrong += fails("openat2", ::syscall(437, AT_FDCWD, "set", nullptr, 0), ENOSYS);
                 wrong += works("sticky", ::syscall(SYS_fchmod, file, 01755));
                 struct stat status {};
                 if (::stat("set", &status) == 0) wrong += "a refused file is there\n";
                 return wrong;
               }),
      fine);
  ASSERT_EQ(::chdir("/"), 0);
  std::filesystem::remove_all(directory);
}

TEST(FilterInKernel, SocketFamiliesAreThoseOfTheOptions) {
  EXPECT_EQ(filtered(FilterOptions::strict(),
                     [] {
                       int pair[2];
                       return fails("unix", ::socket(AF_UNIX, SOCK_STREAM, 0), EAFNOSUPPORT) +
                              fails("inet", ::socket(AF_INET, SOCK_STREAM, 0), EAFNOSUPPORT) +
                              works("pair", ::socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
                     }),
            fine);
  EXPECT_EQ(filtered(FilterOptions::namespaced(),
                     [] {
                       std::string wrong = works("unix", ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) +
                                           works("tcp", ::socket(AF_INET, SOCK_STREAM, 0)) +
                                           works("udp", ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) +
                                           fails("raw", ::socket(AF_INET, SOCK_RAW, 1), EPERM) +
                                           fails("ping", ::socket(AF_INET, SOCK_DGRAM, 1), EPROTONOSUPPORT);
                       for (const int family : {AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG, AF_KEY, AF_TIPC, AF_RDS,
                                                AF_BLUETOOTH, AF_CAN, AF_XDP}) {
                         wrong += fails("family", ::socket(family, SOCK_DGRAM, 0), EAFNOSUPPORT);
                         wrong += fails("family, high bits", ::syscall(SYS_socket, family | (1ul << 32), SOCK_DGRAM, 0),
                                        EAFNOSUPPORT);
                       }
                       return wrong;
                     }),
            fine);
  EXPECT_EQ(filtered(FilterOptions::namespaced().with(AllowNetlinkRoute{}),
                     [] {
                       return works("route", ::socket(AF_NETLINK, SOCK_RAW, 0)) +
                              fails("audit", ::socket(AF_NETLINK, SOCK_RAW, 9), EAFNOSUPPORT);
                     }),
            fine);
}

TEST(FilterInKernel, TerminalInjectionIsRefusedWhateverTheHighBits) {
  EXPECT_EQ(filtered(FilterOptions::namespaced(),
                     [] {
                       std::string wrong;
                       for (const unsigned long high : {0ul, 1ul << 32, 0xfffffffful << 32}) {
                         for (const unsigned long request : {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS}) {
                           wrong += fails("ioctl", ::syscall(SYS_ioctl, 0, request | high, "x"), EPERM);
                         }
                       }
                       int waiting = 0;
                       int ends[2];
                       wrong += works("pipe", ::pipe(ends));
                       wrong += works("FIONREAD", ::ioctl(ends[0], FIONREAD, &waiting));
                       return wrong;
                     }),
            fine);
}

TEST(FilterInKernel, PtraceIsRefusedUnlessAllowed) {
  const auto trace_me = [] { return std::string(::ptrace(PTRACE_TRACEME, 0, 0, 0) == 0 ? "traced" : "refused"); };
  EXPECT_EQ(filtered(FilterOptions::namespaced(), trace_me).text, "refused");
  EXPECT_EQ(filtered(FilterOptions::namespaced().with(AllowPtrace{}), trace_me).text, "traced");
}

TEST(FilterInKernel, PersonalityAndPrctlAreNarrow) {
  EXPECT_EQ(filtered(FilterOptions::namespaced(),
                     [] {
                       return works("query", ::personality(0xffffffff)) +
                              fails("no randomisation", ::personality(ADDR_NO_RANDOMIZE), EPERM) +
                              fails("executable memory", ::personality(READ_IMPLIES_EXEC), EPERM) +
                              works("name", ::prctl(PR_SET_NAME, "x", 0, 0, 0)) +
                              fails("securebits", ::prctl(PR_SET_SECUREBITS, 0, 0, 0, 0), EINVAL) +
                              fails("mm", ::prctl(PR_SET_MM, 0, 0, 0, 0), EINVAL);
                     }),
            fine);
}

TEST(FilterInKernel, AProgramMayStackItsOwnFilterButNotListen) {
  EXPECT_EQ(filtered(FilterOptions::namespaced(),
                     [] {
                       sock_filter allow_all[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
                       sock_fprog description{1, allow_all};
                       return works("stack", ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &description)) +
                              fails("still filtered", ::syscall(SYS_unshare, CLONE_NEWUSER), EPERM) +
                              fails("listen", ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 8, &description), EPERM);
                     }),
            fine);
}

#if defined(__x86_64__)
TEST(FilterInKernel, X32CallsKill) {
  const auto report = filtered(FilterOptions::namespaced(), [] {
    ::syscall(0x40000000 | SYS_getpid);
    return std::string("survived");
  });
  EXPECT_TRUE(WIFSIGNALED(report.status) && WTERMSIG(report.status) == SIGSYS) << report.text;
}

TEST(FilterInKernel, I386CallsKill) {
  const auto report = filtered(FilterOptions::namespaced(), [] {
    long result = 20;  // getpid of i386
    asm volatile("int $0x80" : "+a"(result) : : "memory");
    return std::string("survived");
  });
  // A kernel without 32-bit support ends it with SIGSEGV before any filter is asked.
  EXPECT_TRUE(WIFSIGNALED(report.status)) << report.text;
}
#endif

TEST(FilterInKernel, StaysAfterExecveAndInChildren) {
  EXPECT_EQ(filtered(FilterOptions::namespaced(),
                     [] {
                       const pid_t child = ::fork();
                       if (child == 0) {
                         ::execl("/usr/bin/unshare", "unshare", "-U", "true", nullptr);
                         ::_exit(126);
                       }
                       int status = 0;
                       ::waitpid(child, &status, 0);
                       return std::string(WIFEXITED(status) && WEXITSTATUS(status) == 1 ? "" : "unshare worked");
                     }),
            fine);
}

}  // namespace
}  // namespace cordon::sandbox::native
