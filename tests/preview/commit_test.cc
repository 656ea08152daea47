#include "sandbox/preview/commit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cstdlib>
#include <map>

#include "sandbox/preview/journal.h"
#include "sandbox/preview/stage.h"
#include "sandbox/preview/testing.h"
#include "tests/support/unrecorded_clearance.h"

namespace cordon::sandbox::preview {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::Stage;
namespace fs = std::filesystem;

/// Everything that a commit promises to get right.
std::map<std::string, std::string> tree_of(const fs::path& root) {
  std::map<std::string, std::string> tree;
  for (const auto& item : fs::recursive_directory_iterator(root)) {
    struct stat status {};
    EXPECT_EQ(::lstat(item.path().c_str(), &status), 0);
    std::string text = fmt::format("{:o} ", status.st_mode);
    if (item.is_symlink()) {
      text += fs::read_symlink(item.path()).string();
    } else if (item.is_regular_file()) {
      text += Stage::read(item.path());
    }
    tree[item.path().lexically_relative(root)] = text;
  }
  return tree;
}

Clearance clearance() { return cordon::testing::UnrecordedClearance::make({}); }

class CommitTest : public ::testing::Test {
 protected:
  Result<CommitReport> commit_now(const Preview& preview, const ProtectedPaths& protected_paths = {}) {
    return commit(clearance(), store, preview, protected_paths);
  }
  Stage stage;
  const SystemClock clock;
  const Store store{stage.state(), clock};
};

/// One of everything; returns the tree that it is to become.
void fill(const Stage& stage) {
  Stage::write(stage.work("src/a.c"), "int a;\n");
  Stage::write(stage.work("src/b.c"), "int b;\n");
  Stage::write(stage.work("old/x/y"), "y");
  Stage::write(stage.work("old/z"), "z");
  Stage::write(stage.work("run.sh"), "#!/bin/sh\n");
  Stage::write(stage.work("becomes-directory"), "f");
  Stage::write(stage.work("becomes-file/inner"), "i");
  Stage::write(stage.work("kept"), "k");
  fs::create_symlink("a.c", stage.work("src/link"));
  Stage::write(stage.upper("src/a.c"), "int a = 1;\n");
  Stage::whiteout(stage.upper("src/b.c"));
  fs::create_symlink("/etc/shadow", stage.upper("src/link"));
  Stage::whiteout(stage.upper("old"));
  Stage::write(stage.upper("run.sh"), "#!/bin/sh\n", 0755);
  Stage::write(stage.upper("becomes-directory/f"), "f2");
  Stage::write(stage.upper("becomes-file"), "i2");
  Stage::write(stage.upper("new/deep/er"), "n", 0600);
  fs::permissions(stage.upper("new/deep"), fs::perms::owner_read | fs::perms::owner_exec);
}

void expect_new_tree(const Stage& stage) {
  EXPECT_EQ(Stage::read(stage.work("src/a.c")), "int a = 1;\n");
  EXPECT_FALSE(fs::exists(stage.work("src/b.c")));
  EXPECT_EQ(fs::read_symlink(stage.work("src/link")), "/etc/shadow");
  EXPECT_FALSE(fs::exists(stage.work("old")));
  EXPECT_EQ(fs::status(stage.work("run.sh")).permissions(), fs::perms(0755));
  EXPECT_EQ(Stage::read(stage.work("becomes-directory/f")), "f2");
  EXPECT_EQ(Stage::read(stage.work("becomes-file")), "i2");
  EXPECT_EQ(Stage::read(stage.work("new/deep/er")), "n");
  EXPECT_EQ(fs::status(stage.work("new/deep")).permissions(), fs::perms(0500));
  EXPECT_EQ(Stage::read(stage.work("kept")), "k");
}

TEST_F(CommitTest, AppliesEverythingAndLeavesNothingBehind) {
  fill(stage);
  const auto preview = stage.keep(store);
  ASSERT_TRUE(preview) << preview.error().sentence;
  const auto report = commit_now(*preview);
  ASSERT_TRUE(report) << report.error().sentence;
  EXPECT_THAT(report->conflicts, ::testing::IsEmpty());
  ASSERT_EQ(report->end, CommitReport::End::applied);
  expect_new_tree(stage);
  for (const auto& item : fs::directory_iterator(stage.work())) {
    EXPECT_FALSE(item.path().filename().string().starts_with(".cordon-commit")) << item.path();
  }
  EXPECT_FALSE(store.find(preview->id));
}

TEST_F(CommitTest, FindsWhatChangedSince) {
  struct Row {
    const char* what;
    std::function<void(const Stage&)> meddle;
  };
  const Row rows[] = {
      {"src/a.c", [](const Stage& s) { Stage::write(s.work("src/a.c"), "int c;\n"); }},
      {"src/b.c", [](const Stage& s) { Stage::write(s.work("src/b.c"), "new content of what is to go"); }},
      {"src/b.c", [](const Stage& s) { fs::remove(s.work("src/b.c")); }},
      {"old/new", [](const Stage& s) { Stage::write(s.work("old/new"), "work of today"); }},
      {"old/x/y", [](const Stage& s) { Stage::write(s.work("old/x/y"), "longer than before"); }},
      {"new", [](const Stage& s) { Stage::write(s.work("new"), "in the way"); }},
      {"run.sh", [](const Stage& s) { fs::permissions(s.work("run.sh"), fs::perms(0700)); }},
      {"src",
       [](const Stage& s) {
         fs::rename(s.work("src"), s.work("moved"));
         fs::create_directory_symlink("moved", s.work("src"));
       }},
      {"src",
       [](const Stage& s) {
         fs::rename(s.work("src"), s.work("moved"));
         fs::copy(s.work("moved"), s.work("src"), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
       }},
      {"src/link",
       [](const Stage& s) {
         fs::remove(s.work("src/link"));
         fs::create_symlink("elsewhere", s.work("src/link"));
       }},
  };
  for (const Row& row : rows) {
    const Stage own;
    fill(own);
    const Store its(own.state(), clock);
    const auto preview = own.keep(its);
    ASSERT_TRUE(preview);
    row.meddle(own);
    const auto before = tree_of(own.work());
    const auto report = commit(clearance(), its, *preview, {});
    ASSERT_TRUE(report) << report.error().sentence;
    EXPECT_EQ(report->end, CommitReport::End::conflicts) << row.what;
    EXPECT_THAT(report->conflicts, Contains(HasSubstr(row.what)));
    EXPECT_EQ(tree_of(own.work()), before) << row.what;
  }
}

TEST_F(CommitTest, AFileThatWasOnlyTouchedIsNoConflict) {
  fill(stage);
  const auto preview = stage.keep(store);
  fs::last_write_time(stage.work("src/a.c"), fs::file_time_type::clock::now());
  const auto report = commit_now(*preview);
  ASSERT_TRUE(report && report->end == CommitReport::End::applied);
  expect_new_tree(stage);
}

TEST_F(CommitTest, WhatBecameProtectedSinceIsLeftOut) {
  Stage::write(stage.upper("hooks/run"), "x");
  Stage::write(stage.upper("free"), "x");
  const auto preview = stage.keep(store);
  const auto report = commit_now(*preview, {"hooks/"});
  ASSERT_TRUE(report && report->end == CommitReport::End::applied);
  EXPECT_TRUE(fs::exists(stage.work("free")));
  EXPECT_FALSE(fs::exists(stage.work("hooks")));
  EXPECT_EQ(report->left_out.size(), 2U);
}

TEST_F(CommitTest, NeverMakesSpecialFilesOrSetuid) {
  ASSERT_EQ(::mkfifo(stage.upper("fifo").c_str(), 0644), 0);
  Stage::write(stage.upper("suid"), "x", 04755);
  const auto preview = stage.keep(store);
  ASSERT_TRUE(commit_now(*preview));
  EXPECT_FALSE(fs::exists(stage.work("fifo")));
  EXPECT_EQ(fs::status(stage.work("suid")).permissions(), fs::perms(0755));
}

TEST_F(CommitTest, OneFileWithTwoNamesStaysOne) {
  Stage::write(stage.work("old"), "o");
  Stage::write(stage.upper("old"), "o");
  fs::create_hard_link(stage.upper("old"), stage.upper("other"));
  Stage::write(stage.upper("n1"), "n");
  fs::create_hard_link(stage.upper("n1"), stage.upper("n2"));
  const auto preview = stage.keep(store);
  ASSERT_TRUE(commit_now(*preview));
  EXPECT_TRUE(fs::equivalent(stage.work("old"), stage.work("other")));
  EXPECT_TRUE(fs::equivalent(stage.work("n1"), stage.work("n2")));
}

TEST_F(CommitTest, AProtectedFileGetsNoSecondName) {
  Stage::write(stage.work("old"), "o");
  Stage::write(stage.upper("old"), "o");
  fs::create_hard_link(stage.upper("old"), stage.upper("other"));
  const auto preview = stage.keep(store);
  const auto report = commit_now(*preview, {"old"});
  ASSERT_TRUE(report && report->end == CommitReport::End::applied);
  EXPECT_EQ(Stage::read(stage.work("other")), "o");
  EXPECT_FALSE(fs::equivalent(stage.work("old"), stage.work("other")))
      << "what is written through one name is seen through the other";
}

TEST_F(CommitTest, ALongFileOfNothingStaysSmall) {
  constexpr std::uintmax_t length = 512U << 20;
  Stage::write(stage.upper("hole"), "start");
  fs::resize_file(stage.upper("hole"), length);
  Stage::write(stage.upper("later"), "l");
  const auto preview = stage.keep(store);
  ASSERT_TRUE(preview) << preview.error().sentence;
  const auto on_disk = [](const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return static_cast<std::uintmax_t>(status.st_blocks) * 512;
  };
  EXPECT_LT(on_disk(store.directory_of(preview->id) + "/content"), length / 8);
  const auto report = commit_now(*preview);
  ASSERT_TRUE(report && report->end == CommitReport::End::applied);
  EXPECT_EQ(fs::file_size(stage.work("hole")), length);
  EXPECT_LT(on_disk(stage.work("hole")), length / 8);
  EXPECT_EQ(Stage::read(stage.work("later")), "l");
}

TEST_F(CommitTest, ADirectorySwappedInIsNotOpenedToAnybody) {
  // Closed to its owner and open to others, so that a commit opens it for a while.
  Stage::write(stage.work("d/f"), "1");
  Stage::write(stage.upper("d/f"), "2");
  for (const fs::path& path : {stage.work("d"), stage.upper("d")}) fs::permissions(path, fs::perms(0557));
  const auto preview = stage.keep(store);
  ASSERT_TRUE(preview) << preview.error().sentence;
  // A commit that was cut off in the middle, and another directory in that place since.
  const fs::path staged = stage.work(stage_name(preview->id));
  fs::create_directory(staged);
  struct stat status {};
  ASSERT_EQ(::stat(staged.c_str(), &status), 0);
  ASSERT_TRUE(
      write_journal(store.directory_of(preview->id), {.state = Journal::State::applying,
                                                      .device = status.st_dev,
                                                      .inode = status.st_ino,
                                                      .operations = {{Operation::Do::exchange, "d/f", "0", 1}}}));
  fs::permissions(stage.work("d"), fs::perms(0700));
  fs::rename(stage.work("d"), stage.work("moved"));
  Stage::write(stage.work("d/private"), "p");
  fs::permissions(stage.work("d"), fs::perms(0700));
  EXPECT_FALSE(roll_back(clearance(), store, *preview));
  EXPECT_EQ(fs::status(stage.work("d")).permissions(), fs::perms(0700));
}

TEST_F(CommitTest, DamagedContentIsNotCommitted) {
  Stage::write(stage.upper("a"), "as shown");
  const auto preview = stage.keep(store);
  Stage::write(store.directory_of(preview->id) + "/content", "swapped!");
  const auto report = commit_now(*preview);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().fault, Fault::corrupt);
  EXPECT_EQ(tree_of(stage.work()).size(), 0U);
}

TEST_F(CommitTest, AnotherPreviewUnderTheSameIdIsNotCommitted) {
  Stage::write(stage.upper("a"), "as shown");
  auto preview = stage.keep(store);
  preview->list.changes[0].after->mode = 0700;
  const auto report = commit_now(*preview);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().fault, Fault::conflict);
}

TEST_F(CommitTest, ExpiredPreviewsGoAndTheirNumberIsBounded) {
  Stage::write(stage.upper("a"), "x");
  const Store small(stage.state(), clock, {.previews = 1});
  ASSERT_TRUE(stage.keep(small));
  EXPECT_FALSE(stage.keep(small));
  const Store later(stage.state(), clock, {.lasts = std::chrono::hours(-1)});
  ASSERT_TRUE(stage.keep(later));
  EXPECT_EQ(store.list()->size(), 1U);
}

/// Runs `work` in a process that is killed when it enters its `last` system call; how many it made.
template <class Work>
long killed_at(long last, Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (long stops = 0;; ++stops) {
    if (stops == 2 * last) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return last;
    }
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) || WIFSIGNALED(status)) return stops / 2;
  }
}

TEST_F(CommitTest, KilledAtAnySystemCallItCanBeFinishedOrUndone) {
  const char* step = std::getenv("CORDON_KILL_STEP");
  bool ended = false;
  for (long last = 1; !ended; last += step != nullptr ? std::atol(step) : 13) {
    for (const bool finish : {true, false}) {
      const Stage own;
      fill(own);
      const Store its(own.state(), clock);
      const auto preview = own.keep(its);
      ASSERT_TRUE(preview);
      const auto before = tree_of(own.work());
      const long made = killed_at(last, [&] { static_cast<void>(commit(clearance(), its, *preview, {})); });
      ended = made < last;
      if (!its.find(preview->id)) {
        expect_new_tree(own);
        continue;
      }
      if (finish) {
        const auto report = commit(clearance(), its, *preview, {});
        ASSERT_TRUE(report) << last << ": " << report.error().sentence;
        ASSERT_EQ(report->end, CommitReport::End::applied)
            << last << ": " << (report->conflicts.empty() ? "" : report->conflicts[0]);
        expect_new_tree(own);
        continue;
      }
      const auto undone = roll_back(clearance(), its, *preview);
      if (undone) {
        EXPECT_EQ(tree_of(own.work()), before) << last;
      } else {
        EXPECT_THAT(undone.error().sentence, HasSubstr("was complete")) << last;
        expect_new_tree(own);
      }
      EXPECT_FALSE(fs::exists(own.work(".cordon-commit-" + preview->id))) << last;
    }
  }
}

}  // namespace
}  // namespace cordon::sandbox::preview
