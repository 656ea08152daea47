#include "sandbox/native/native.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include "sandbox/native/cgroup.h"
#include "sandbox/native/doctor.h"
#include "sandbox/native/draft.h"
#include "sandbox/native/launcher.h"
#include "sandbox/native/level.h"
#include "sandbox/native/pid1_image.h"
#include "sandbox/native/placeholders.h"
#include "sandbox/native/session_dirs.h"
#include "sandbox/native/warm.h"

namespace cordon::sandbox::native {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Profile profile_of(std::vector<std::string> argv) {
  Profile profile;
  profile.program.argv = std::move(argv);
  return profile;
}

TEST(Environment, LeavesOutWhatMakesBashOrTheLoaderDoSomethingElse) {
  Profile profile = profile_of({"true"});
  for (const char* name :
       {"BASH_ENV", "ENV", "SHELLOPTS", "LD_PRELOAD", "LD_AUDIT", "BASH_FUNC_ls%%", "IFS", "A=B", ""}) {
    profile.environment.emplace_back(name, "x");
  }
  profile.environment.emplace_back("GOOD", "1");
  const auto lines = environment_of(profile, "/h", "/t");
  EXPECT_THAT(lines, Contains("GOOD=1"));
  for (const std::string& line : lines) {
    EXPECT_FALSE(line.starts_with("LD_") || line.starts_with("BASH_") || line.starts_with("ENV=") ||
                 line.starts_with("IFS="))
        << line;
  }
}

TEST(Environment, ProfileReplacesAFixedVariableOnce) {
  Profile profile = profile_of({"true"});
  profile.environment.emplace_back("PATH", "/opt/bin");
  const auto lines = environment_of(profile, "/h", "/t");
  EXPECT_EQ(std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("PATH="); }), 1);
  EXPECT_THAT(lines, Contains("PATH=/opt/bin"));
}

TEST(Gitconfig, AValueCannotStartAnotherSetting) {
  SessionDirectory session;
  session.git_name = "x\"\n[core]\n\tpager = evil";
  const std::string text = gitconfig_for(session, "/w\"\n[a]");
  EXPECT_THAT(text, Not(HasSubstr("\n[core]")));
  EXPECT_THAT(text, Not(HasSubstr("\n[a]")));
}

TEST(Orders, ANulInAnArgumentDoesNotMakeAnotherArgument) {
  const Profile profile = profile_of({"echo"});
  const std::string one = encode_orders(profile, {{"echo", std::string("a\0b", 3)}, {}, "/", {}, 0});
  const std::string other = encode_orders(profile, {{"echo", "a"}, {}, "/", {}, 0});
  EXPECT_EQ(one, other);
}

TEST(Ladder, AFailureOfProcLeadsToTheHostsProcAndNothingElse) {
  Ladder ladder;
  ladder.landlock_abi = 7;
  EXPECT_TRUE(step_down(ladder, {"mount proc", EPERM, {}}));
  EXPECT_FALSE(ladder.fresh_proc);
  EXPECT_TRUE(ladder.namespaces);
}

TEST(Ladder, WithoutNamespacesAndLandlockThereIsNoRungLeft) {
  Ladder ladder;
  ladder.landlock_abi = 0;
  ladder.user_namespace = false;
  EXPECT_FALSE(step_down(ladder, {"clone3", EPERM, {}}));
}

TEST(Ladder, AMissingWorkspaceIsNoReasonForLessIsolation) {
  Ladder ladder;
  ladder.landlock_abi = 7;
  EXPECT_FALSE(step_down(ladder, {"open (a symbolic link on the way, or gone)", ENOENT, {}}));
  EXPECT_FALSE(step_down(ladder, {"open protected path", ELOOP, {}}));
}

TEST(Levels, EachLackIsNamed) {
  Ladder ladder;
  ladder.landlock_abi = 7;
  EXPECT_EQ(describe_isolation(ladder, nullptr, {}).level, "L1");
  ladder.fresh_proc = false;
  EXPECT_EQ(describe_isolation(ladder, nullptr, {}).level, "L2");
  ladder.namespaces = ladder.user_namespace = false;
  const Isolation least = describe_isolation(ladder, nullptr, {});
  EXPECT_EQ(least.level, "L4");
  EXPECT_GE(least.missing.size(), 2u);
  EXPECT_FALSE(allows(Level::L3, least));
  EXPECT_TRUE(allows(Level::L4, least));
}

TEST(Slots, OnlyProfilesThatDifferInTheCommandShareASlot) {
  Profile one = profile_of({"a"});
  Profile two = profile_of({"b"});
  two.environment.emplace_back("X", "1");
  EXPECT_EQ(slot_key(one), slot_key(two));
  two.limits.memory_bytes += 1;
  EXPECT_NE(slot_key(one), slot_key(two));
  one.tty = true;
  EXPECT_FALSE(slot_key(one));
}

TEST(Pid1Image, CannotBeWritten) {
  auto image = make_pid1_image();
  ASSERT_TRUE(image);
  EXPECT_LT(::pwrite(image->get(), "x", 1, 0), 0);
  EXPECT_NE(::ftruncate(image->get(), 0), 0);
}

TEST(AppArmor, ProfileNamesTheProgramAndUserns) {
  EXPECT_THAT(apparmor_profile("/usr/bin/cordon"), HasSubstr("profile cordon /usr/bin/cordon"));
  EXPECT_THAT(apparmor_profile("/usr/bin/cordon"), HasSubstr("userns,"));
}

class PlaceholdersTest : public ::testing::Test {
 protected:
  PlaceholdersTest() {
    char name[] = "/tmp/cordon-placeholders-XXXXXX";
    root_ = ::mkdtemp(name);
    workspace_.path = root_ + "/work";
    workspace_.access = WorkspaceAccess::rw;
    fs::create_directories(workspace_.path);
    state_ = root_ + "/state";
  }
  ~PlaceholdersTest() override { fs::remove_all(root_); }
  std::string root_;
  std::string state_;
  Workspace workspace_;
};

TEST_F(PlaceholdersTest, LastHolderSweepsAndAnEarlierOneDoesNot) {
  workspace_.protected_paths = {"a", "d/"};
  auto first = PlaceholderHold::take(workspace_, state_);
  auto second = PlaceholderHold::take(workspace_, state_);
  ASSERT_TRUE(first && second);
  first->release();
  EXPECT_TRUE(fs::exists(workspace_.path + "/a"));
  EXPECT_TRUE(fs::is_directory(workspace_.path + "/d"));
  second->release();
  EXPECT_TRUE(fs::is_empty(workspace_.path));
}

TEST_F(PlaceholdersTest, SomeonesOwnFileInItsPlaceStays) {
  workspace_.protected_paths = {"a"};
  auto hold = PlaceholderHold::take(workspace_, state_);
  ASSERT_TRUE(hold);
  std::ofstream(workspace_.path + "/new") << "mine";
  fs::rename(workspace_.path + "/new", workspace_.path + "/a");
  hold->release();
  EXPECT_TRUE(fs::exists(workspace_.path + "/a"));
}

TEST_F(PlaceholdersTest, APathOutsideOfTheWorkspaceIsRefused) {
  for (const char* path : {"../x", "/etc/passwd", ".", "a/../../x", ""}) {
    workspace_.protected_paths = {path};
    EXPECT_FALSE(PlaceholderHold::take(workspace_, state_)) << path;
  }
}

TEST_F(PlaceholdersTest, ALinkOnTheWayIsNeverFollowed) {
  fs::create_directory(root_ + "/outside");
  fs::create_symlink(root_ + "/outside", workspace_.path + "/link");
  workspace_.protected_paths = {"link/hooks"};
  auto hold = PlaceholderHold::take(workspace_, state_);
  ASSERT_TRUE(hold);
  EXPECT_TRUE(hold->paths().empty());
  hold->release();
  EXPECT_TRUE(fs::is_empty(root_ + "/outside"));
}

}  // namespace
}  // namespace cordon::sandbox::native
