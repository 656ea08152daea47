#include "sys/landlock.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <csignal>

#include "sys/landlock_actions.h"

namespace cordon::sys {
namespace {

using landlock::Rights;

#define NEEDS_ABI(number)        \
  if (landlock_abi() < (number)) \
  GTEST_SKIP() << "the kernel's Landlock ABI is " << landlock_abi() << ", this needs " << (number)

const std::vector<ChildReport> fine_for_all(::geteuid() == 0 ? 2 : 1, ChildReport{0, ""});

/// Restricts itself to one handled set, with these rights given beneath `.` (and, to run programs, the system's own).
std::string restrict_to(const Rights& handled, std::uint64_t given) {
  auto ruleset = LandlockRuleset::create(handled);
  if (!ruleset) return ruleset.error().sentence;
  const Fd here(::open(".", O_PATH | O_CLOEXEC));
  if (const auto allowed = ruleset->allow_path(here.get(), given); !allowed) return allowed.error().sentence;
  for (const char* system : {"/usr", "/lib", "/lib64"}) {
    const Fd path(::open(system, O_PATH | O_CLOEXEC));
    if (path.get() < 0) continue;
    const auto allowed = ruleset->allow_path(path.get(), landlock::execute | landlock::read_file);
    if (!allowed) return allowed.error().sentence;
  }
  const auto restricted = ruleset->restrict_self();
  return restricted ? "" : restricted.error().sentence;
}

std::string judge(const LandlockAction& action, int wanted) {
  const int error = action.attempt();
  return error == wanted ? "" : fmt::format("{}: errno {} instead of {}\n", action.name, error, wanted);
}

TEST(Landlock, EachFileRightAloneDecidesItsAction) {
  NEEDS_ABI(1);
  const std::uint64_t offered = landlock::offered_by(landlock_abi()).files;
  EXPECT_EQ(as_each_user([&] {
              std::string wrong;
              for (const LandlockAction& action : landlock_actions()) {
                if ((offered & action.right) == 0) continue;
                for (const bool given : {false, true}) {
                  const std::string directory = prepare_landlock_directory();
                  wrong += in_child([&] {
                             // Moving asks for rights at both ends; here, only for the right to move.
                             const std::string trouble = restrict_to({.files = action.right}, given ? action.right : 0);
                             return trouble + judge(action, given ? 0 : action.denied);
                           }).text;
                  std::filesystem::remove_all(directory);
                }
              }
              return wrong;
            }),
            fine_for_all);
}

TEST(Landlock, EachFileRightMissingStopsOnlyItsAction) {
  NEEDS_ABI(3);
  const std::uint64_t offered = landlock::offered_by(landlock_abi()).files;
  EXPECT_EQ(as_each_user([&] {
              std::string wrong;
              for (const LandlockAction& missing : landlock_actions()) {
                const std::string directory = prepare_landlock_directory();
                wrong += in_child([&] {
                           std::string said = restrict_to({.files = offered}, offered & ~missing.right);
                           for (const LandlockAction& action : landlock_actions()) {
                             // To run a file or to move one asks for other rights as well.
                             const bool entangled =
                                 action.right == landlock::refer || action.right == landlock::execute;
                             if (action.right == missing.right) said += judge(action, action.denied);
                             if (action.right != missing.right && !entangled) said += judge(action, 0);
                           }
                           return said;
                         }).text;
                std::filesystem::remove_all(directory);
              }
              return wrong;
            }),
            fine_for_all);
}

TEST(Landlock, DeviceIoctlsAreARightOfTheirOwn) {
  NEEDS_ABI(5);
  EXPECT_EQ(as_each_user([] {
              std::string wrong;
              for (const bool given : {false, true}) {
                wrong += in_child([&]() -> std::string {
                           auto ruleset = *LandlockRuleset::create({.files = landlock::ioctl_device});
                           const Fd device(::open("/dev/null", O_PATH | O_CLOEXEC));
                           if (given && !ruleset.allow_path(device.get(), landlock::ioctl_device)) return "no rule";
                           if (!ruleset.restrict_self()) return "not restricted";
                           const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
                           termios settings{};
                           const int error = errno_of(::ioctl(null.get(), TCGETS, &settings));
                           return error == (given ? ENOTTY : EACCES) ? "" : fmt::format("errno {}\n", error);
                         }).text;
              }
              return wrong;
            }),
            fine_for_all);
}

int try_tcp(int port, bool connects) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* general = reinterpret_cast<const sockaddr*>(&address);
  return errno_of(connects ? ::connect(socket.get(), general, sizeof address)
                           : ::bind(socket.get(), general, sizeof address));
}

TEST(Landlock, EachTcpRightHoldsForItsPortOnly) {
  NEEDS_ABI(4);
  EXPECT_EQ(as_each_user([] {
              std::string wrong;
              for (const bool connects : {false, true}) {
                const std::uint64_t right = connects ? landlock::connect_tcp : landlock::bind_tcp;
                wrong += in_child([&]() -> std::string {
                           auto ruleset = *LandlockRuleset::create({.network = right});
                           if (!ruleset.allow_port(39173, right)) return "no rule";
                           if (!ruleset.restrict_self()) return "not restricted";
                           std::string said;
                           if (try_tcp(39173, connects) == EACCES) said += "the allowed port is denied\n";
                           if (try_tcp(39174, connects) != EACCES) said += "another port is allowed\n";
                           if (try_tcp(39174, !connects) == EACCES) said += "what is not handled is denied\n";
                           return said;
                         }).text;
              }
              return wrong;
            }),
            fine_for_all);
}

TEST(Landlock, SignalScopeEndsAtTheDomain) {
  NEEDS_ABI(6);
  EXPECT_EQ(as_each_user([] {
              std::string wrong;
              for (const std::uint64_t scope :
                   {std::uint64_t{landlock::abstract_unix_socket}, std::uint64_t{landlock::signal}}) {
                const pid_t outside = ::getpid();
                wrong += in_child([&]() -> std::string {
                           const auto ruleset = LandlockRuleset::create({.scopes = scope});
                           if (!ruleset || !ruleset->restrict_self()) return "not restricted";
                           std::string said;
                           const int error = errno_of(::kill(outside, 0));
                           if (error != (scope == landlock::signal ? EPERM : 0))
                             said += fmt::format("outside: {}\n", error);
                           const pid_t child = ::fork();
                           if (child == 0) ::_exit(errno_of(::kill(::getppid(), 0)));
                           int status = 0;
                           ::waitpid(child, &status, 0);
                           if (status != 0) said += "inside the domain: denied\n";
                           return said;
                         }).text;
              }
              return wrong;
            }),
            fine_for_all);
}

TEST(Landlock, AbstractSocketScopeEndsAtTheDomain) {
  NEEDS_ABI(6);
  EXPECT_EQ(as_each_user([] {
              sockaddr_un address{};
              address.sun_family = AF_UNIX;
              std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cordon-landlock-%d", ::getpid());
              const auto* general = reinterpret_cast<const sockaddr*>(&address);
              const Fd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
              if (::bind(server.get(), general, sizeof address) != 0 || ::listen(server.get(), 4) != 0)
                return std::string("no server");
              std::string wrong;
              for (const std::uint64_t scope :
                   {std::uint64_t{landlock::abstract_unix_socket}, std::uint64_t{landlock::signal}}) {
                wrong += in_child([&]() -> std::string {
                           const auto ruleset = LandlockRuleset::create({.scopes = scope});
                           if (!ruleset || !ruleset->restrict_self()) return "not restricted";
                           const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
                           const int error = errno_of(::connect(client.get(), general, sizeof address));
                           const int wanted = scope == landlock::abstract_unix_socket ? EPERM : 0;
                           return error == wanted ? "" : fmt::format("errno {} instead of {}\n", error, wanted);
                         }).text;
              }
              return wrong;
            }),
            fine_for_all);
}

TEST(Landlock, OneRulesetServesManyChildren) {
  NEEDS_ABI(1);
  const auto ruleset = LandlockRuleset::create({.files = landlock::read_file});
  ASSERT_TRUE(ruleset.has_value());
  for (int child = 0; child < 3; ++child) {
    EXPECT_EQ(in_child([&] {
                return !ruleset->restrict_self() || try_open("/etc/passwd", O_RDONLY) != EACCES ? std::string("read")
                                                                                                : "";
              }),
              (ChildReport{0, ""}));
  }
}

TEST(Landlock, AFileReopenedThroughProcIsStillJudged) {
  NEEDS_ABI(1);
  EXPECT_EQ(in_child([]() -> std::string {
              const Fd path(::open("/etc/passwd", O_PATH | O_CLOEXEC));
              const auto ruleset = LandlockRuleset::create({.files = landlock::read_file});
              if (!ruleset->restrict_self()) return "not restricted";
              return try_open(fmt::format("/proc/self/fd/{}", path.get()).c_str(), O_RDONLY) == EACCES ? ""
                                                                                                       : "reopened";
            }),
            (ChildReport{0, ""}));
}

TEST(Landlock, OfferedRightsGrowWithTheAbi) {
  EXPECT_EQ(landlock::offered_by(0), Rights{});
  EXPECT_EQ(landlock::offered_by(1), (Rights{0x1fff, 0, 0}));
  EXPECT_EQ(landlock::offered_by(2), (Rights{0x3fff, 0, 0}));
  EXPECT_EQ(landlock::offered_by(3), (Rights{0x7fff, 0, 0}));
  EXPECT_EQ(landlock::offered_by(4), (Rights{0x7fff, 3, 0}));
  EXPECT_EQ(landlock::offered_by(5), (Rights{0xffff, 3, 0}));
  EXPECT_EQ(landlock::offered_by(6), (Rights{0xffff, 3, 3}));
  EXPECT_EQ(landlock::offered_by(7), (Rights{0xffff, 3, 3}));
}

TEST(Landlock, TheRunningKernelTakesAllThatItsAbiOffersAndSaysNoToMore) {
  NEEDS_ABI(1);
  EXPECT_TRUE(LandlockRuleset::create(landlock::offered_by(landlock_abi())).has_value());
  const auto more = LandlockRuleset::create({.files = 1ull << 40});
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().fault, Fault::unavailable);
}

}  // namespace
}  // namespace cordon::sys
