#include "plan/freeze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "plan/profile.h"

namespace cordon::plan {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A workspace on disk, one plain call, and settings as they come.
class Freezing : public ::testing::Test {
 protected:
  Freezing() : root_(fs::path("/var/tmp") / fmt::format("cordon-plan-{}", ::getpid())), contents_("", clock_) {
    fs::remove_all(root_);
    fs::create_directories(work());
    fs::create_directories(root_ / "home");
    request_.cwd = request_.workspace = work();
    request_.home = root_ / "home";
    verdict_.action = Action::ask;
  }
  ~Freezing() override { fs::remove_all(root_); }

  std::string work() const { return (root_ / "work").string(); }
  std::string write(const std::string& name, const std::string& content, int mode = 0644) const {
    const std::string path = work() + "/" + name;
    std::ofstream(path) << content;
    ::chmod(path.c_str(), static_cast<mode_t>(mode));
    return path;
  }
  void call(const std::vector<std::string>& words) {
    Command command;
    for (const std::string& word : words) command.words.push_back(Word::literal(word));
    script_.text = request_.text = "the text";
    command.where = {0, static_cast<std::uint32_t>(script_.text.size())};
    script_.commands = {command};
    Invocation invocation;
    invocation.program = fs::path(words.front()).filename();
    invocation.words = words;
    analysis_.invocations = {invocation};
  }
  Result<Plan> freeze() {
    return plan::freeze(
        request_,
        {.settings = settings_,
         .script = script_,
         .analysis = analysis_,
         .verdict = verdict_,
         .policy = sha256("settings"),
         .session = {},
         .may_be_written = [this](const std::string& path) -> Result<void> {
           if (path == blocked_) return fail(Fault::denied, "{} is blocked", path);
           return {};
         },
         .loads_code = [](std::string_view name) { return name.starts_with("LD_") ? "loads code" : ""; }},
        contents_);
  }
  Digest digest() {
    auto plan = freeze();
    EXPECT_TRUE(plan) << plan.error().sentence;
    return plan ? plan->digest() : Digest();
  }

  fs::path root_;
  ManualClock clock_{Time(std::chrono::seconds(4'000'000'000))};
  Contents contents_;
  Request request_;
  Settings settings_;
  Script script_;
  Analysis analysis_;
  Verdict verdict_;
  std::string blocked_;
};

TEST_F(Freezing, AProgramIsFoundOnTheSandboxsPathAndHashed) {
  call({"true"});
  const auto plan = freeze();
  ASSERT_TRUE(plan) << plan.error().sentence;
  ASSERT_TRUE(plan->executable);
  EXPECT_EQ(plan->executable->path, "/usr/bin/true");
  ASSERT_TRUE(plan->profile.program.expected);
  EXPECT_EQ(plan->profile.program.expected->inode, plan->executable->identity.inode);
  EXPECT_EQ(plan->profile.program.expected->content, plan->executable->content) << "compared again inside the sandbox";
}

TEST_F(Freezing, ASwappedProgramIsAnotherPlan) {
  write("run", "#!/bin/sh\necho one\n", 0755);
  call({"./run"});
  const Digest before = digest();
  EXPECT_TRUE(digest() == before);
  write("run", "#!/bin/sh\necho two\n", 0755);
  EXPECT_FALSE(digest() == before);
}

TEST_F(Freezing, AScriptRewrittenWhilePendingIsAnotherPlan) {
  const std::string script = write("deploy.sh", "echo one\n");
  call({"bash", "deploy.sh"});
  analysis_.effects = {{Effect::Kind::reads, script}};
  const Digest before = digest();
  write("deploy.sh", "echo two\n");
  EXPECT_FALSE(digest() == before);
  write("deploy.sh", "echo one\n");
  EXPECT_TRUE(digest() == before) << "the same content again is the same plan";
}

TEST_F(Freezing, AWorkingDirectoryThatIsAnotherOneIsAnotherPlan) {
  call({"true"});
  const Digest before = digest();
  fs::rename(work(), root_ / "aside");
  fs::create_directories(work());
  EXPECT_FALSE(digest() == before);
}

TEST_F(Freezing, WhatCannotBePinnedIsSaid) {
  fs::create_directories(work() + "/src");
  call({"make"});
  analysis_.effects = {{Effect::Kind::reads, work() + "/src"}};
  const auto plan = freeze();
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->unpinned, Contains(HasSubstr("what is in")));
}

TEST_F(Freezing, AVariableThatLoadsCodeIsRefused) {
  call({"true"});
  request_.environment = {{"LD_PRELOAD", "x.so"}};
  EXPECT_EQ(freeze().error().fault, Fault::denied);
  for (const char* name : {"", "A-B", "1X", "PATH", "HOME", "CORDON_AGENT"}) {
    request_.environment = {{name, "x"}};
    EXPECT_FALSE(freeze()) << name;
  }
}

TEST_F(Freezing, AWriteGrantOpensTheNarrowestExistingDirectory) {
  fs::create_directories(root_ / "share");
  call({"cp", "a", root_ / "share/sub/new.txt"});
  verdict_.grants = {{Need::Kind::write_path, root_ / "share/sub/new.txt"}};
  const auto plan = freeze();
  ASSERT_TRUE(plan) << plan.error().sentence;
  ASSERT_EQ(plan->profile.binds.size(), 1U);
  EXPECT_EQ(plan->profile.binds.front().source, (root_ / "share").string());
  EXPECT_EQ(plan->profile.binds.front().access, Bind::Access::rw);
  blocked_ = root_ / "share";
  EXPECT_FALSE(freeze()) << "what is blocked is not opened by asking";
}

TEST_F(Freezing, AReadGrantIsReadOnly) {
  std::ofstream(root_ / "report.pdf") << "x";
  call({"cat", root_ / "report.pdf"});
  verdict_.grants = {{Need::Kind::read_path, root_ / "report.pdf"}};
  const auto plan = freeze();
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->profile.binds.size(), 1U);
  EXPECT_EQ(plan->profile.binds.front().access, Bind::Access::ro);
}

TEST_F(Freezing, WiderApprovalsAreForPlainCommandsOnly) {
  call({"rm", "-f", "build.log"});
  EXPECT_EQ(freeze()->not_twice, "");
  // What make and npm run stands in files that can be rewritten between two runs.
  for (const char* program : {"bash", "python3", "python3.11", "env", "xargs", "ssh", "busybox", "make", "npm"}) {
    call({program, "x"});
    EXPECT_THAT(freeze()->not_twice, Not("")) << program;
  }
  call({"timeout", "5", "rm"});
  analysis_.invocations.front().wrapper = true;
  EXPECT_THAT(freeze()->not_twice, Not(""));
  script_.commands.push_back(script_.commands.front());
  EXPECT_THAT(freeze()->not_twice, Not(""));
}

TEST_F(Freezing, TheDirectoryOfTheCommandMustBeSeenInside) {
  call({"true"});
  request_.cwd = "/usr";
  EXPECT_FALSE(freeze());
  settings_.defaults.sandbox.workspace.value = PathAccess::none;
  ASSERT_TRUE(freeze()) << "without a workspace it runs in its own home";
  EXPECT_EQ(freeze()->profile.cwd, "");
}

TEST_F(Freezing, FilesystemRulesNarrowTheWorkspaceAndWidenTheRest) {
  fs::create_directories(root_ / "data");
  call({"true"});
  settings_.filesystem = {{work() + "/secrets", PathAccess::none, {}},
                          {work() + "/vendor", PathAccess::ro, {}},
                          {(root_ / "data").string(), PathAccess::rw, {}}};
  const auto plan = freeze();
  ASSERT_TRUE(plan) << plan.error().sentence;
  EXPECT_THAT(plan->profile.workspace.hidden_paths, Contains("secrets"));
  EXPECT_THAT(plan->profile.workspace.protected_paths, Contains("vendor"));
  EXPECT_EQ(plan->profile.binds.size(), 1U);
}

TEST(Environment, OnlyTheShortListPassesAndNoPathInALocale) {
  const char* environment[] = {
      "LANG=C.UTF-8", "LC_ALL=/tmp/evil", "LC_TIME=../../x", "AWS_SECRET=1", "TZ=Europe/Rome",     "TERM=xterm",
      "NO_COLOR=1",   "LC_X=a b",         "broken",          "=x",           "LANG_EXTRA=C.UTF-8", nullptr};
  EXPECT_EQ(inherited_variables(environment),
            (Variables{{"LANG", "C.UTF-8"}, {"NO_COLOR", "1"}, {"TZ", "Europe/Rome"}}));
}

TEST(Contents, AChangedFileIsHashedAgain) {
  const std::string state = fmt::format("/var/tmp/cordon-contents-{}", ::getpid());
  fs::remove_all(state);
  fs::create_directories(state);
  const SystemClock clock;
  const std::string file = state + "/program";
  std::ofstream(file) << std::string(100'000, 'a');
  Contents contents(state, clock);
  const auto first = contents.freeze(file, 1 << 20);
  ASSERT_TRUE(first && *first);
  EXPECT_TRUE((*first)->content == sha256(std::string(100'000, 'a')));
  std::ofstream(file) << std::string(100'000, 'b');
  EXPECT_TRUE((*contents.freeze(file, 1 << 20))->content == sha256(std::string(100'000, 'b')));
  EXPECT_FALSE(contents.freeze(file, 1000)) << "larger than the limit";
  EXPECT_FALSE(contents.freeze(state, 1000).value()) << "a directory is no file";
  EXPECT_FALSE(contents.freeze(state + "/none", 1000).value());
  fs::remove_all(state);
}

TEST(Contents, WhatIsRememberedIsForExactlyThatFile) {
  const std::string state = fmt::format("/var/tmp/cordon-remember-{}", ::getpid());
  fs::remove_all(state);
  fs::create_directories(state);
  const ManualClock later(Time(std::chrono::seconds(4'000'000'000)));  // everything has settled
  const std::string file = state + "/program";
  std::ofstream(file) << std::string(100'000, 'a');
  {
    Contents contents(state, later);
    ASSERT_TRUE(contents.freeze(file, 1 << 20));
    contents.remember();
  }
  ASSERT_TRUE(fs::exists(state + "/contents.txt"));
  fs::remove(file);
  std::ofstream(file) << std::string(100'000, 'b');
  Contents contents(state, later);
  EXPECT_TRUE((*contents.freeze(file, 1 << 20))->content == sha256(std::string(100'000, 'b')));
  fs::remove_all(state);
}

}  // namespace
}  // namespace cordon::plan
