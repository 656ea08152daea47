#include "guard/rules.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "config/testing.h"

namespace cordon::guard {
namespace {

namespace fs = std::filesystem;

class RuleBookTest : public ::testing::Test {
 protected:
  /// All files are then so old that their marks count.
  void let_settle() { clock_.advance(std::chrono::minutes(1)); }
  std::shared_ptr<const Rules> read() {
    const auto rules = book_.read(room_.sources());
    if (!rules) ADD_FAILURE() << rules.error().sentence;
    return rules ? *rules : nullptr;
  }
  SecurityLevel level() { return read()->settings.level.value; }
  bool keeps() { return read() == read(); }

  config::Room room_;
  ManualClock clock_{SystemClock().now()};
  RuleBook book_{clock_};
};

TEST_F(RuleBookTest, KeepsWhatItReadWhileNothingChanges) {
  room_.write("SANDBOX.md", "## Security Level\nLevel: allowlist\n");
  let_settle();
  EXPECT_TRUE(keeps());
  EXPECT_EQ(level(), SecurityLevel::allowlist);
}

TEST_F(RuleBookTest, AChangeOfAnyFileCountsAtOnce) {
  let_settle();
  const auto changes = [&](const char* what, const std::function<void()>& change) {
    const auto before = read();
    ASSERT_EQ(before, read()) << what;
    change();
    EXPECT_NE(before, read()) << what;
    let_settle();
  };
  changes("the user's file appears", [&] { room_.write_user_file("{policy: {level: 'deny'}}"); });
  EXPECT_EQ(level(), SecurityLevel::deny);
  changes("it changes", [&] { room_.write_user_file("{policy: {level: 'allowlist'}}"); });
  EXPECT_EQ(level(), SecurityLevel::allowlist);
  changes("it goes", [&] { fs::remove(room_.sources().user_file); });
  changes("SANDBOX.md appears", [&] { room_.write("SANDBOX.md", "## Security Level\nLevel: full\n"); });
  EXPECT_NE(level(), SecurityLevel::full);
  changes("it is trusted", [&] { room_.trust_all(); });
  EXPECT_EQ(level(), SecurityLevel::full);
  changes("it changes after that", [&] { room_.write("SANDBOX.md", "## Security Level\nLevel: full\n\n"); });
  EXPECT_NE(level(), SecurityLevel::full);
  changes("the workspace's settings appear", [&] { room_.write(".cordon/config.json5", "{policy: {level: 'deny'}}"); });
  EXPECT_EQ(level(), SecurityLevel::deny);
  changes("the allowlist", [&] { ASSERT_TRUE(policy::AllowlistStore(room_.state()).add({.pattern = "cargo build"})); });
  EXPECT_EQ(read()->allowlist.entries().size(), 1U);
  changes("the presets", [&] { room_.write_at(room_.state() + "/presets.json", R"({"version":1,"presets":{}})"); });
}

TEST_F(RuleBookTest, AFileOfTheSameSizeAndTimesInItsPlaceIsSeen) {
  room_.write_user_file("{policy: {level: 'deny'}}");
  let_settle();
  EXPECT_EQ(level(), SecurityLevel::deny);
  const std::string file = room_.sources().user_file;
  const auto when = fs::last_write_time(file);
  room_.write_at(file + ".new", "{policy: {level: 'full'}}");
  fs::last_write_time(file + ".new", when);
  fs::rename(file + ".new", file);
  EXPECT_EQ(level(), SecurityLevel::full);
}

TEST_F(RuleBookTest, AFileThatWasWrittenJustNowIsReadEveryTime) {
  room_.write_user_file("{policy: {level: 'deny'}}");
  EXPECT_FALSE(keeps()) << "its times may not move on with the next change";
  let_settle();
  EXPECT_TRUE(keeps());
}

TEST_F(RuleBookTest, BehindALinkNothingOfTheWorkspaceIsKept) {
  room_.write_at(room_.path("elsewhere.md"), "## Security Level\nLevel: deny\n");
  fs::create_symlink(room_.path("elsewhere.md"), room_.workspace() + "/SANDBOX.md");
  let_settle();
  EXPECT_FALSE(keeps());
  EXPECT_EQ(level(), SecurityLevel::deny);
}

TEST_F(RuleBookTest, APlaceThatTheSettingsOpenIsLookedAtEveryTime) {
  fs::create_directories(room_.path("tools"));
  fs::create_directories(room_.home() + "/.ssh");
  fs::create_directory_symlink(room_.path("tools"), room_.path("link"));
  room_.write_user_file("{agents: {defaults: {sandbox: {docker: {binds: ['" + room_.path("link") +
                        ":/opt/tools:ro']}}}}}");
  let_settle();
  EXPECT_TRUE(keeps());
  EXPECT_EQ(read()->settings.defaults.sandbox.binds.at(0).resolved, room_.path("tools"));
  fs::remove(room_.path("link"));
  fs::create_directory_symlink(room_.home() + "/.ssh", room_.path("link"));
  EXPECT_FALSE(book_.read(room_.sources())) << "it leads to keys now";
}

TEST_F(RuleBookTest, SettingsThatCannotBeReadAreNeverReplacedByOlderOnes) {
  room_.write_user_file("{policy: {level: 'deny'}}");
  let_settle();
  EXPECT_TRUE(keeps());
  room_.write_user_file("{policy: {level: 'nonsense'}}");
  EXPECT_FALSE(book_.read(room_.sources()));
  let_settle();
  EXPECT_FALSE(book_.read(room_.sources()));
}

TEST_F(RuleBookTest, EveryWorkspaceHasItsOwn) {
  fs::create_directories(room_.path("other"));
  room_.write_at(room_.path("other/SANDBOX.md"), "## Security Level\nLevel: deny\n");
  let_settle();
  config::Sources other = room_.sources();
  other.workspace = room_.path("other");
  EXPECT_NE(level(), SecurityLevel::deny);
  EXPECT_EQ((*book_.read(other))->settings.level.value, SecurityLevel::deny);
  EXPECT_NE(level(), SecurityLevel::deny);
}

TEST_F(RuleBookTest, ManyReadersAndAWriterSeeWholeFiles) {
  room_.write_user_file("{policy: {level: 'deny'}}");
  let_settle();
  std::vector<std::jthread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) EXPECT_TRUE(book_.read(room_.sources()));
    });
  }
  for (int i = 0; i < 50; ++i) {
    const std::string text = i % 2 == 0 ? "{policy: {level: 'deny'}}" : "{policy: {level: 'allowlist'}}";
    room_.write_at(room_.path("next"), text);
    fs::rename(room_.path("next"), room_.sources().user_file);
    EXPECT_EQ(level(), i % 2 == 0 ? SecurityLevel::deny : SecurityLevel::allowlist);
  }
}

}  // namespace
}  // namespace cordon::guard
