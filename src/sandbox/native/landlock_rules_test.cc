#include "sandbox/native/landlock_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "sys/landlock_actions.h"

namespace cordon::sandbox::native {
namespace {

namespace landlock = sys::landlock;
using sys::ChildReport;

const std::vector<ChildReport> fine_for_all(::geteuid() == 0 ? 2 : 1, ChildReport{0, ""});

const std::set<std::string> reads = {"read a file", "list a directory"};
const std::set<std::string> writes = {"read a file",         "list a directory", "write a file",
                                      "remove a directory",  "remove a file",    "make a directory",
                                      "make a regular file", "make a socket",    "make a fifo",
                                      "make a symlink",      "truncate a file",  "move to another directory"};

std::set<std::string> with(std::set<std::string> actions, const char* one) {
  actions.insert(one);
  return actions;
}

TEST(LandlockRules, EachAccessAllowsItsActionsAndNoOthers) {
  if (sys::landlock_abi() < 3)
    GTEST_SKIP() << "the kernel's Landlock ABI is " << sys::landlock_abi() << ", this needs 3";
  const std::map<FileAccess, std::set<std::string>> wanted = {
      {FileAccess::read, reads},
      {FileAccess::read_execute, with(reads, "execute")},
      {FileAccess::write, writes},
      {FileAccess::write_execute, with(writes, "execute")},
      {FileAccess::device, with(reads, "write a file")},
  };
  EXPECT_EQ(
      sys::as_each_user([&] {
        std::string wrong;
        for (const auto& [access, allowed] : wanted) {
          const std::string directory = sys::prepare_landlock_directory();
          wrong += sys::in_child([&]() -> std::string {
                     const sys::Fd here(::open(".", O_PATH | O_CLOEXEC));
                     const sys::Fd usr(::open("/usr", O_PATH | O_CLOEXEC));
                     const sys::Fd null(::open("/dev/null", O_PATH | O_CLOEXEC));
                     const auto lock = build_landlock(
                         {.paths = {{here.get(), access}, {usr.get(), FileAccess::read_execute}, {null.get(), access}},
                          .tcp = TcpAccess::unrestricted},
                         sys::landlock_abi());
                     if (!lock) return lock.error().sentence;
                     if (!lock->ruleset->restrict_self()) return "not restricted";
                     std::string said;
                     for (const auto& action : sys::landlock_actions()) {
                       const int error = action.attempt();
                       if ((error == 0) != allowed.contains(action.name)) {
                         said += fmt::format("access {}: {}: errno {}\n", static_cast<int>(access), action.name, error);
                       }
                     }
                     return said;
                   }).text;
          std::filesystem::remove_all(directory);
        }
        return wrong;
      }),
      fine_for_all);
}

TEST(LandlockRules, OnlyDevicesTakeIoctls) {
  if (sys::landlock_abi() < 5)
    GTEST_SKIP() << "the kernel's Landlock ABI is " << sys::landlock_abi() << ", this needs 5";
  for (const FileAccess access : {FileAccess::write_execute, FileAccess::device}) {
    EXPECT_EQ(sys::in_child([&]() -> std::string {
                const sys::Fd devices(::open("/dev", O_PATH | O_CLOEXEC));
                const auto lock =
                    build_landlock({.paths = {{devices.get(), access}}, .tcp = TcpAccess::none}, sys::landlock_abi());
                if (!lock || !lock->ruleset->restrict_self()) return "not restricted";
                const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
                termios settings{};
                return std::to_string(sys::errno_of(::ioctl(null.get(), TCGETS, &settings)));
              }).text,
              std::to_string(access == FileAccess::device ? ENOTTY : EACCES));
  }
}

TEST(LandlockRules, WhatIsNotNamedIsOutOfReach) {
  if (sys::landlock_abi() < 1) GTEST_SKIP() << "no Landlock in this kernel";
  EXPECT_EQ(sys::as_each_user([] {
              const auto lock = build_landlock({.paths = {}, .tcp = TcpAccess::none}, sys::landlock_abi());
              if (!lock || !lock->ruleset->restrict_self()) return std::string("not restricted");
              return fmt::format("{} {}", sys::try_open("/etc/passwd", O_RDONLY),
                                 sys::try_open("/tmp/cordon-out-of-reach", O_CREAT | O_WRONLY));
            })
                .back()
                .text,
            fmt::format("{} {}", EACCES, EACCES));
}

TEST(LandlockRules, OlderKernelsGetWhatTheyKnowAndTheRestIsNamed) {
  for (int abi = 1; abi <= sys::landlock_abi(); ++abi) {
    const auto lock = build_landlock({.paths = {}, .tcp = TcpAccess::none}, abi);
    ASSERT_TRUE(lock.has_value()) << abi;
    EXPECT_EQ(lock->ruleset->handled(), landlock::offered_by(abi));
    EXPECT_EQ(lock->missing.empty(), abi >= 6) << abi;
  }
  const auto none = build_landlock({.paths = {}, .tcp = TcpAccess::none}, 0);
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->ruleset.has_value());
  EXPECT_EQ(none->missing.size(), 5u);
  EXPECT_EQ(build_landlock({.paths = {}, .tcp = TcpAccess::unrestricted}, 0)->missing.size(), 4u);
}

TEST(LandlockRules, TcpIsLeftAloneInAnEmptyNetworkNamespace) {
  if (sys::landlock_abi() < 4)
    GTEST_SKIP() << "the kernel's Landlock ABI is " << sys::landlock_abi() << ", this needs 4";
  EXPECT_EQ(build_landlock({.paths = {}, .tcp = TcpAccess::unrestricted}, 4)->ruleset->handled().network, 0u);
  EXPECT_EQ(build_landlock({.paths = {}, .tcp = TcpAccess::none}, 4)->ruleset->handled().network, 3u);
}

}  // namespace
}  // namespace cordon::sandbox::native
