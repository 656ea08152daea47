#include "sandbox/native/violations.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <algorithm>

#include <cerrno>
#include <thread>

#include "sys/seccomp_child.h"

namespace cordon::sandbox::native {
namespace {

void send_descriptor(int channel, int descriptor) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{nullptr, 0, &data, 1, control, sizeof control, 0};
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  *header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  ASSERT_EQ(::sendmsg(channel, &message, 0), 1);
}

int receive_descriptor(int channel) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{nullptr, 0, &data, 1, control, sizeof control, 0};
  if (::recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message) == nullptr) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

struct Reported {
  sys::ChildReport child;
  std::vector<Violation> violations;
  std::uint64_t unrecorded;
};

/// Runs `work` in a child under the reporting filter while a thread here plays the launcher.
Reported reported(const FilterOptions& options, std::size_t limit, const std::function<std::string()>& work) {
  const auto program = reporting_filter(options);
  int channel[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel), 0);
  ViolationRecorder recorder(options, limit);
  std::thread launcher([&] {
    const sys::Fd listener(receive_descriptor(channel[0]));
    ASSERT_GE(listener.get(), 0);
    const auto served = serve_violations(listener.get(), -1, recorder);
    EXPECT_TRUE(served.has_value()) << served.error().sentence;
  });
  auto child = sys::in_child([&]() -> std::string {
    auto listener = sys::install_filter_with_listener(program);
    if (!listener) return listener.error().sentence;
    send_descriptor(channel[1], listener->get());
    ::close(listener->release());
    return work();
  });
  ::close(channel[1]);
  launcher.join();
  ::close(channel[0]);
  return {std::move(child), recorder.violations(), recorder.unrecorded()};
}

std::string errno_of(long result) { return result >= 0 ? "ok " : std::to_string(errno) + " "; }

const Violation* find(const std::vector<Violation>& violations, std::string_view call) {
  const auto found = std::ranges::find(violations, call, &Violation::call);
  return found == violations.end() ? nullptr : &*found;
}

TEST(Violations, EachRefusedCallIsRefusedAsUsualAndNamed) {
  const auto run = reported(FilterOptions::namespaced(), 64, [] {
    std::string seen = errno_of(::syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNET));
    seen += errno_of(::socket(AF_NETLINK, SOCK_RAW, 0));
    seen += errno_of(::socket(AF_INET, SOCK_STREAM, 0));
    seen += errno_of(::syscall(SYS_ioctl, 0, TIOCSTI, "x"));
    seen += errno_of(::syscall(SYS_fchmodat, AT_FDCWD, "/no/such\x1b file", 04755));
    seen += errno_of(::syscall(SYS_ptrace, 0, 0, 0, 0));
    seen += errno_of(::syscall(SYS_clone3, 0, 0));
    seen += errno_of(::syscall(SYS_ptrace, 0, 0, 0, 0));
    return seen;
  });
  EXPECT_EQ(run.child, (sys::ChildReport{0, "1 97 ok 1 1 1 38 1 "}));
  ASSERT_EQ(run.violations.size(), 5u);

  const Violation* unshare = find(run.violations, "unshare");
  ASSERT_NE(unshare, nullptr);
  EXPECT_EQ(unshare->kind, Violation::Kind::namespaces);
  EXPECT_EQ(unshare->detail, "new namespaces: user, network");
  EXPECT_EQ(unshare->evidence, Violation::Evidence::kernel);

  const Violation* socket = find(run.violations, "socket");
  ASSERT_NE(socket, nullptr);
  EXPECT_EQ(socket->detail, "AF_NETLINK, type 3, protocol 0");
  EXPECT_EQ(socket->allowed_by, "AllowNetlinkRoute");

  EXPECT_EQ(find(run.violations, "ioctl")->detail, "TIOCSTI");
  EXPECT_EQ(find(run.violations, "fchmodat")->detail, "mode 4755");
  EXPECT_EQ(find(run.violations, "fchmodat")->claimed_path, "/no/such\\x1b file");
  EXPECT_EQ(find(run.violations, "ptrace")->count, 2u);
  EXPECT_EQ(find(run.violations, "ptrace")->allowed_by, "AllowPtrace");
}

TEST(Violations, AFloodIsCountedButKeepsNoMore) {
  const auto run = reported(FilterOptions::namespaced(), 3, [] {
    for (unsigned family = 20; family < 30; ++family) ::socket(static_cast<int>(family), SOCK_DGRAM, 0);
    return errno_of(::socket(AF_ALG, SOCK_DGRAM, 0));
  });
  EXPECT_EQ(run.child.text, "97 ");
  EXPECT_EQ(run.violations.size(), 3u);
  EXPECT_EQ(run.unrecorded, 8u);
}

TEST(Violations, NothingIsReportedWhenNothingIsRefused) {
  const auto run = reported(FilterOptions::namespaced(), 64, [] {
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", "ls / | cat >/dev/null", nullptr);
      ::_exit(126);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return std::to_string(status);
  });
  EXPECT_EQ(run.child.text, "0");
  EXPECT_EQ(run.violations, std::vector<Violation>{});
}

TEST(Violations, APathThatCannotBeReadIsLeftOut) {
  const auto run = reported(FilterOptions::namespaced(), 64, [] {
    return errno_of(::syscall(SYS_fchmodat, AT_FDCWD, reinterpret_cast<char*>(8), 04755));
  });
  EXPECT_EQ(run.child.text, "1 ");
  ASSERT_EQ(run.violations.size(), 1u);
  EXPECT_EQ(run.violations.front().claimed_path, "");
}

TEST(Violations, WithoutAListenerRefusedCallsStillFail) {
  const auto program = reporting_filter(FilterOptions::namespaced());
  const auto report = sys::in_child([&]() -> std::string {
    auto listener = sys::install_filter_with_listener(program);
    if (!listener) return listener.error().sentence;
    ::close(listener->release());
    return errno_of(::syscall(SYS_unshare, CLONE_NEWUSER));
  });
  EXPECT_EQ(report, (sys::ChildReport{0, "38 "}));
}

TEST(Violations, ServingEndsWhenItIsToldToStop) {
  const sys::Fd stop(::eventfd(1, EFD_CLOEXEC));
  int never[2];
  ASSERT_EQ(::pipe2(never, O_CLOEXEC), 0);
  ViolationRecorder recorder(FilterOptions::namespaced(), 1);
  EXPECT_TRUE(serve_violations(never[0], stop.get(), recorder).has_value());
  ::close(never[0]);
  ::close(never[1]);
}

struct HintCase {
  const char* line;
  Violation::Kind kind;
  const char* name;
  const char* allowed_by;
};

const HintCase hint_cases[] = {
    {"touch: cannot touch '/etc/x y': Read-only file system", Violation::Kind::path, "/etc/x y",
     "Filesystem: /etc/x y: rw"},
    {"bash: line 1: /srv/log: Permission denied", Violation::Kind::path, "/srv/log", "Filesystem: /srv/log: ro or rw"},
    {"Error: EROFS: read-only file system, open '/usr/lib/a.js'", Violation::Kind::path, "/usr/lib/a.js",
     "Filesystem: /usr/lib/a.js: rw"},
    {"PermissionError: [Errno 13] Permission denied: '/root/.bashrc'", Violation::Kind::path, "/root/.bashrc",
     "Filesystem: /root/.bashrc: ro or rw"},
    {"curl: (6) Could not resolve host: api.example.com", Violation::Kind::network, "api.example.com",
     "Network: api.example.com"},
    {"npm ERR! getaddrinfo EAI_AGAIN packages.example.org", Violation::Kind::network, "packages.example.org",
     "Network: packages.example.org"},
    {"connect: Network is unreachable", Violation::Kind::network, "", "an entry under Network"},
};

TEST(ViolationHints, AreReadFromWhatProgramsPrint) {
  for (const HintCase& wanted : hint_cases) {
    const auto hints = hints_in(wanted.line);
    ASSERT_EQ(hints.size(), 1u) << wanted.line;
    EXPECT_EQ(hints[0].kind, wanted.kind) << wanted.line;
    EXPECT_EQ(hints[0].claimed_path, wanted.name);
    EXPECT_EQ(hints[0].allowed_by, wanted.allowed_by);
    EXPECT_EQ(hints[0].evidence, Violation::Evidence::hint);
  }
}

TEST(ViolationHints, OtherOutputGivesNone) {
  EXPECT_TRUE(hints_in("").empty());
  EXPECT_TRUE(hints_in("all fine\n/etc/passwd read\n").empty());
  EXPECT_TRUE(hints_in("Permission denied").empty());
}

TEST(ViolationHints, AreJoinedAndBounded) {
  std::string output;
  for (int i = 0; i < 1000; ++i) output += "x: '/a': Permission denied\n";
  auto hints = hints_in(output);
  ASSERT_EQ(hints.size(), 1u);
  EXPECT_EQ(hints[0].count, 1000u);
  output.clear();
  for (int i = 0; i < 1000; ++i) output += fmt::format("x: '/a{}': Permission denied\n", i);
  EXPECT_EQ(hints_in(output).size(), 16u);
}

}  // namespace
}  // namespace cordon::sandbox::native
