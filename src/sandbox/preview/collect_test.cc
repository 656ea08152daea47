#include "sandbox/preview/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "sandbox/preview/testing.h"

namespace cordon::sandbox::preview {
namespace {

using ::testing::HasSubstr;
using testing::Stage;
namespace fs = std::filesystem;

/// "deleted a", "added b 0644 5" …
std::vector<std::string> lines_of(const Result<ChangeList>& list) {
  std::vector<std::string> lines;
  if (!list) return {"error: " + list.error().sentence};
  for (const Change& change : list->changes) {
    std::string line = fmt::format("{} {}", change.word(), change.path);
    if (change.after) line += fmt::format(" {} {:o}", name_of(change.after->kind), change.after->mode);
    if (!change.leads_to.empty()) line += " -> " + change.leads_to;
    if (!change.same_as.empty()) line += " = " + change.same_as;
    if (!change.left_out.empty()) line += " !";
    lines.push_back(line);
  }
  return lines;
}
using Lines = std::vector<std::string>;

TEST(Collect, NothingIsNothing) {
  const Stage stage;
  EXPECT_EQ(lines_of(stage.collect()), Lines());
}

TEST(Collect, TellsAddedModifiedDeletedAndModes) {
  const Stage stage;
  Stage::write(stage.work("changed"), "old\n");
  Stage::write(stage.work("gone"), "x");
  Stage::write(stage.work("mode"), "x");
  Stage::write(stage.work("same"), "x");
  Stage::write(stage.upper("changed"), "new\n");
  Stage::write(stage.upper("mode"), "x", 0755);
  Stage::write(stage.upper("same"), "x");
  Stage::write(stage.upper("dir/new"), "n", 0600);
  fs::create_symlink("/etc/passwd", stage.upper("link"));
  ASSERT_TRUE(Stage::whiteout(stage.upper("gone")));
  const auto list = stage.collect();
  EXPECT_EQ(lines_of(list), (Lines{"modified changed file 644", "added dir directory 755", "added dir/new file 600",
                                   "deleted gone", "added link link 0 -> /etc/passwd", "modified mode file 755"}));
  EXPECT_EQ(list->changes[0].diff->text, "@@ -1 +1 @@\n-old\n+new\n");
}

TEST(Collect, OtherContentNeverKeepsASetuidBitAndCanBeReadAgain) {
  const Stage stage;
  Stage::write(stage.work("tool"), "old\n", 04755);
  Stage::write(stage.upper("tool"), "new\n", 04755);
  const auto list = stage.collect();
  EXPECT_EQ(lines_of(list), (Lines{"modified tool file 755"}));
  EXPECT_TRUE(change_list_from(to_json(*list)));
}

TEST(Collect, AnOpaqueDirectoryHidesAllThatWasInIt) {
  const Stage stage;
  for (const char* path : {"d/a", "d/sub/b", "d/sub/deep/c", "d/kept"}) Stage::write(stage.work(path), "old");
  ASSERT_TRUE(Stage::opaque(stage.upper("d")));
  Stage::write(stage.upper("d/sub/new"), "n");
  Stage::write(stage.upper("d/kept"), "old");
  EXPECT_EQ(lines_of(stage.collect()), (Lines{"deleted d/a", "deleted d/sub/b", "deleted d/sub/deep",
                                              "deleted d/sub/deep/c", "added d/sub/new file 644"}));
}

TEST(Collect, ADirectoryThatBecameAFileTakesItsContentWithIt) {
  const Stage stage;
  Stage::write(stage.work("d/a/b"), "x");
  Stage::write(stage.work("f"), "x");
  Stage::write(stage.upper("d"), "file now");
  Stage::write(stage.upper("f/inside"), "directory now");
  EXPECT_EQ(lines_of(stage.collect()), (Lines{"modified d file 644", "deleted d/a", "deleted d/a/b",
                                              "modified f directory 755", "added f/inside file 644"}));
}

TEST(Collect, TwoNamesOfOneFileStayOne) {
  const Stage stage;
  Stage::write(stage.work("z/old"), "x");
  Stage::write(stage.upper("z/old"), "x");
  fs::create_hard_link(stage.upper("z/old"), stage.upper("a"));
  Stage::write(stage.upper("n1"), "new");
  fs::create_hard_link(stage.upper("n1"), stage.upper("n2"));
  const auto lines = lines_of(stage.collect());
  EXPECT_THAT(lines, ::testing::Contains("added a file 644 = z/old"));
  EXPECT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines, ::testing::Contains(::testing::AnyOf("added n2 file 644 = n1", "added n1 file 644 = n2")));
}

TEST(Collect, SpecialFilesAreListedAndLeftOut) {
  const Stage stage;
  ASSERT_EQ(::mkfifo(stage.upper("fifo").c_str(), 0644), 0);
  EXPECT_EQ(lines_of(stage.collect()), Lines{"added fifo file 0 !"});
}

TEST(Collect, NeverGivesSetuid) {
  const Stage stage;
  Stage::write(stage.upper("new"), "x", 06755);
  Stage::write(stage.work("old"), "x", 0755);
  Stage::write(stage.upper("old"), "x", 04755);
  EXPECT_EQ(lines_of(stage.collect()), (Lines{"added new file 755", "modified old file 755"}));
}

TEST(Collect, ALinkInTheWayIsNotFollowed) {
  const Stage stage;
  Stage::write(stage.work("real/secret"), "x");
  fs::create_directory_symlink("real", stage.work("d"));
  Stage::write(stage.upper("d/secret"), "mine");
  // The kernel would have put it over the link's target; here the link itself is replaced.
  EXPECT_EQ(lines_of(stage.collect()), (Lines{"modified d directory 755", "added d/secret file 644"}));
}

TEST(Collect, AWhiteoutOfNothingIsNothing) {
  const Stage stage;
  ASSERT_TRUE(Stage::whiteout(stage.upper("ghost")));
  EXPECT_EQ(lines_of(stage.collect()), Lines());
}

TEST(Collect, OddNamesAreNames) {
  const Stage stage;
  const std::string name = "a\nb\x1b[31m\xff'\"";
  Stage::write(stage.upper(name), "x");
  const auto list = stage.collect();
  ASSERT_TRUE(list);
  EXPECT_EQ(list->changes.at(0).path, name);
  const auto again = change_list_from(to_json(*list));
  ASSERT_TRUE(again) << again.error().sentence;
  EXPECT_EQ(again->changes.at(0).path, name);
  EXPECT_EQ(again->digest(), list->digest());
}

TEST(Collect, WhatItsOwnerMayNotReadIsReadAllTheSame) {
  const Stage stage;
  Stage::write(stage.upper("d/f"), "secret", 0);
  ASSERT_EQ(::chmod(stage.upper("d").c_str(), 0), 0);
  EXPECT_EQ(lines_of(stage.collect()), (Lines{"added d directory 0", "added d/f file 0"}));
}

TEST(Collect, ManyLargeOrDeepThingsEndItInsteadOfUs) {
  const Stage stage;
  for (int i = 0; i < 20; ++i) Stage::write(stage.upper(std::to_string(i)), "x");
  EXPECT_THAT(lines_of(stage.collect({.changes = 10})).at(0), HasSubstr("more than 10"));
  const Stage sparse;
  Stage::write(sparse.upper("huge"), "");
  ASSERT_EQ(::truncate(sparse.upper("huge").c_str(), 1L << 40), 0);
  EXPECT_THAT(lines_of(sparse.collect()).at(0), HasSubstr("larger than"));
  const Stage deep;
  std::string path = "d";
  for (std::size_t i = 0; i < deepest_path + 2; ++i) path += "/d";
  fs::create_directories(deep.upper(path));
  EXPECT_THAT(lines_of(deep.collect()).at(0), HasSubstr("nested too deeply"));
}

TEST(Collect, ProtectedPathsAreLeftOutAndPlaceholdersAreNotSeen) {
  const Stage stage;
  fs::create_directories(stage.work(".git"));
  Stage::write(stage.upper(".git/hooks/pre-commit"), "#!/bin/sh\n", 0755);
  Stage::write(stage.upper("SANDBOX.md"), "");
  Stage::write(stage.upper(".vscode/tasks.json"), "evil");
  EXPECT_EQ(lines_of(stage.collect({}, {".git/hooks/", "SANDBOX.md", ".vscode/tasks.json"})),
            (Lines{"added .vscode directory 755", "added .vscode/tasks.json file 644 !"}));
}

TEST(Collect, WhatSomebodyElseChangedMeanwhileIsAConflict) {
  Stage stage;
  stage.begun_ns = file_clock_ns() - 3'600'000'000'000;
  Stage::write(stage.work("f"), "theirs");
  Stage::write(stage.upper("f"), "ours");
  const auto list = stage.collect();
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().fault, Fault::conflict);
}

}  // namespace
}  // namespace cordon::sandbox::preview
