#include "sys/seccomp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>

#include "sys/seccomp_child.h"

namespace cordon::sys {
namespace {

TEST(SeccompAnswer, SurvivesEncodingAndDecoding) {
  for (const SeccompAnswer answer :
       {SeccompAnswer::allow(), SeccompAnswer::fail_with(EPERM), SeccompAnswer::fail_with(ENOSYS),
        SeccompAnswer::kill_process(), SeccompAnswer::notify()}) {
    EXPECT_EQ(SeccompAnswer::decode(answer.encode()), answer);
  }
  EXPECT_EQ(SeccompAnswer::decode(SECCOMP_RET_TRACE).kind, SeccompAnswer::Kind::other);
  EXPECT_EQ(SeccompAnswer::decode(SECCOMP_RET_KILL_THREAD).kind, SeccompAnswer::Kind::other);
}

TEST(InstallFilter, SaysWhyAKernelRefusesAProgram) {
  const sock_filter endless[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}};
  const auto report = in_child([&]() -> std::string {
    const auto installed = install_filter(endless);
    return installed ? "installed" : installed.error().sentence;
  });
  EXPECT_EQ(report.text, "seccomp: the kernel refused a filter of 1 instructions: Invalid argument");
}

TEST(InstallFilter, BindsTheCallerAndItsChildren) {
  const sock_filter no_getppid[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                                    {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid},
                                    {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | 77},
                                    {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const auto report = in_child([&]() -> std::string {
    if (const auto installed = install_filter(no_getppid); !installed) return installed.error().sentence;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::syscall(SYS_getppid) == -1 && errno == 77 ? 5 : 6);
    int status = 0;
    ::waitpid(child, &status, 0);
    return std::to_string(WEXITSTATUS(status));
  });
  EXPECT_EQ(report, (ChildReport{0, "5"}));
}

TEST(ReadTextOf, StopsAtZeroLimitAndUnreadableMemory) {
  const std::string text = "path";
  EXPECT_EQ(read_text_of(::getpid(), reinterpret_cast<std::uint64_t>(text.c_str()), 256), "path");
  EXPECT_EQ(read_text_of(::getpid(), reinterpret_cast<std::uint64_t>(text.c_str()), 2), "pa");
  EXPECT_EQ(read_text_of(::getpid(), 8, 256), "");
  const std::string longer(6000, 'x');
  EXPECT_EQ(read_text_of(::getpid(), reinterpret_cast<std::uint64_t>(longer.c_str()), 10000), longer);
}

}  // namespace
}  // namespace cordon::sys
