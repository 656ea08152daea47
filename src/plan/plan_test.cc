#include "plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace cordon::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Plan sample() {
  Plan plan;
  plan.request.text = "./deploy.sh --now";
  plan.request.asker = {.user = "ann", .uid = 1000, .agent = "a1", .session = "s", .is_agent = true};
  plan.request.cwd = "/work/p";
  plan.request.workspace = "/work/p";
  plan.request.home = "/home/ann";
  plan.request.environment = {{"MODE", "x"}};
  plan.request.wall_ms = 5000;
  plan.request.require = Level::L1;
  plan.profile.program.argv = {"./deploy.sh", "--now"};
  plan.profile.cwd = "/work/p";
  plan.profile.environment = {{"MODE", "x"}};
  plan.profile.workspace = {.path = "/work/p", .access = WorkspaceAccess::rw, .protected_paths = {"SANDBOX.md"}};
  plan.profile.binds = {{"/srv/a", "/srv/a", Bind::Access::ro}};
  plan.executable = FrozenFile{"/work/p/deploy.sh", {.device = 1, .inode = 2, .size = 3}, sha256("one")};
  plan.cwd = {.device = 1, .inode = 9};
  plan.operands = {{"/work/p/data.txt", {.device = 1, .inode = 4, .size = 5}, sha256("data")}};
  plan.grants = {{Need::Kind::write_path, "/srv/share"}};
  plan.policy = sha256("settings");
  return plan;
}

TEST(Plan, ItsDigestChangesWithEverythingThatDecidesWhatHappens) {
  struct Change {
    const char* what;
    std::function<void(Plan&)> make;
  };
  const std::vector<Change> changes = {
      {"text", [](Plan& p) { p.request.text += " "; }},
      {"user", [](Plan& p) { p.request.asker.user = "bob"; }},
      {"uid", [](Plan& p) { p.request.asker.uid = 0; }},
      {"agent", [](Plan& p) { p.request.asker.agent = "a2"; }},
      {"session", [](Plan& p) { p.request.asker.session = "t"; }},
      {"asked by a person", [](Plan& p) { p.request.asker.is_agent = false; }},
      {"argv", [](Plan& p) { p.profile.program.argv.back() = "--later"; }},
      {"argv joined otherwise", [](Plan& p) { p.profile.program.argv = {"./deploy.sh --now"}; }},
      {"shell", [](Plan& p) { p.profile.program.shell_text = ""; }},
      {"program", [](Plan& p) { p.executable->content = sha256("two"); }},
      {"program's inode", [](Plan& p) { p.executable->identity.inode = 77; }},
      {"program gone", [](Plan& p) { p.executable.reset(); }},
      {"cwd retargeted", [](Plan& p) { p.cwd.inode = 10; }},
      {"operand", [](Plan& p) { p.operands.front().content = sha256("other"); }},
      {"operand gone", [](Plan& p) { p.operands.clear(); }},
      {"unpinned", [](Plan& p) { p.unpinned.push_back("what is in src"); }},
      {"grant", [](Plan& p) { p.grants.front().target = "/srv"; }},
      {"grant's kind", [](Plan& p) { p.grants.front().kind = Need::Kind::read_path; }},
      {"on the host", [](Plan& p) { p.where = Where::host; }},
      {"policy", [](Plan& p) { p.policy = sha256("others"); }},
      {"variable", [](Plan& p) { p.profile.environment.front().second = "y"; }},
      {"workspace", [](Plan& p) { p.profile.workspace.path = "/work/q"; }},
      {"access", [](Plan& p) { p.profile.workspace.access = WorkspaceAccess::ro; }},
      {"protection", [](Plan& p) { p.profile.workspace.protected_paths.clear(); }},
      {"hidden", [](Plan& p) { p.profile.workspace.hidden_paths.push_back(".env"); }},
      {"bind", [](Plan& p) { p.profile.binds.front().access = Bind::Access::rw; }},
      {"time", [](Plan& p) { p.profile.limits.wall_ms = 1; }},
      {"memory", [](Plan& p) { p.profile.limits.memory_bytes = 1; }},
      {"cpus", [](Plan& p) { p.profile.limits.cpus = 0.5; }},
      {"connections", [](Plan& p) { p.profile.limits.connections = 1; }},
      {"network bytes", [](Plan& p) { p.profile.limits.network_bytes = 1; }},
      {"connection's time", [](Plan& p) { p.profile.limits.connection_ms = 1; }},
      {"network", [](Plan& p) { p.profile.network = Network::loopback; }},
      {"how long a container waits", [](Plan& p) { p.profile.kept.idle_ms = 1; }},
      {"how old a container gets", [](Plan& p) { p.profile.kept.age_ms = 1; }},
      {"input", [](Plan& p) { p.profile.input = Input::given; }},
      {"tty", [](Plan& p) { p.profile.tty = true; }},
      {"level", [](Plan& p) { p.profile.require = Level::L4; }},
      {"session's files", [](Plan& p) { p.profile.session.path = "/state/sessions/x"; }},
  };
  const Digest before = sample().digest();
  for (const Change& change : changes) {
    Plan plan = sample();
    change.make(plan);
    EXPECT_FALSE(plan.digest() == before) << change.what;
  }
}

TEST(Plan, ATouchedFileIsTheSamePlan) {
  Plan plan = sample();
  plan.executable->identity.mtime_ns = 5;
  plan.executable->identity.ctime_ns = 6;
  plan.cwd.mtime_ns = 7;
  EXPECT_TRUE(plan.digest() == sample().digest());
}

TEST(Plan, VariablesInAnotherOrderAreTheSamePlan) {
  Plan one = sample();
  Plan two = sample();
  one.profile.environment = {{"A", "1"}, {"B", "2"}};
  two.profile.environment = {{"B", "2"}, {"A", "1"}};
  EXPECT_TRUE(one.digest() == two.digest());
}

TEST(Plan, TheRequestComesBackFromItsDescription) {
  Plan plan = sample();
  plan.request.text = "printf '\xff\n'";
  plan.request.environment = {{"RAW", "\xfe"}};
  plan.request.inherited = {{"LANG", "C"}};
  plan.request.config = "/etc/x.json5";
  plan.request.require_approval = true;
  plan.request.detached = true;
  plan.request.output_bytes = 77;
  const Json stored = Json::parse(to_json(plan).dump());
  const auto request = request_of(stored);
  ASSERT_TRUE(request) << request.error().sentence;
  EXPECT_EQ(request->text, plan.request.text);
  EXPECT_EQ(request->environment, plan.request.environment);
  EXPECT_EQ(request->inherited, plan.request.inherited);
  EXPECT_EQ(request->asker.agent, "a1");
  EXPECT_EQ(request->asker.uid, 1000U);
  EXPECT_TRUE(request->asker.is_agent && request->require_approval && request->detached && !request->tty);
  EXPECT_EQ(request->wall_ms, 5000U);
  EXPECT_EQ(request->output_bytes, 77U);
  EXPECT_EQ(request->require, Level::L1);
  EXPECT_EQ(request->config, "/etc/x.json5");
}

TEST(Plan, ADamagedDescriptionIsAnErrorNotAGuess) {
  const Json good = to_json(sample());
  for (const auto& [key, value] : good["request"].items()) {
    Json missing = good;
    missing["request"].erase(key);
    EXPECT_FALSE(request_of(missing)) << key << " missing";
    Json wrong = good;
    wrong["request"][key] = Json::array({1, 2});
    EXPECT_FALSE(request_of(wrong)) << key << " of another type";
  }
  EXPECT_FALSE(request_of(Json()));
  EXPECT_FALSE(request_of({{"request", 5}}));
}

std::vector<std::string> differences_after(const std::function<void(Plan&)>& change) {
  Plan now = sample();
  change(now);
  return differences(to_json(sample()), to_json(now));
}

TEST(Differences, SayWhatChangedInWordsForAPerson) {
  EXPECT_THAT(differences_after([](Plan&) {}), IsEmpty());
  EXPECT_THAT(differences_after([](Plan& p) { p.operands.front().content = sha256("x"); }),
              ElementsAre("/work/p/data.txt has another content"));
  EXPECT_THAT(differences_after([](Plan& p) { p.operands.clear(); }), ElementsAre("/work/p/data.txt is gone"));
  EXPECT_THAT(differences_after([](Plan& p) { p.executable->content = sha256("x"); }),
              ElementsAre("the program /work/p/deploy.sh is another file"));
  EXPECT_THAT(differences_after([](Plan& p) { p.executable.reset(); }), ElementsAre(HasSubstr("is gone")));
  EXPECT_THAT(differences_after([](Plan& p) { p.cwd.inode = 1; }), ElementsAre(HasSubstr("the working directory")));
  EXPECT_THAT(differences_after([](Plan& p) { p.profile.environment.front().second = "z"; }),
              ElementsAre("the variable MODE has another value"));
  EXPECT_THAT(differences_after([](Plan& p) { p.policy = sha256("x"); }), ElementsAre("the settings changed"));
  EXPECT_THAT(differences_after([](Plan& p) { p.request.text += "#"; }), Contains(HasSubstr("request itself")));
}

TEST(Differences, NamesOfStrangersCannotDriveATerminal) {
  Plan before = sample();
  before.operands.front().path = "/work/p/\x1b[2Jx";
  EXPECT_THAT(differences(to_json(before), to_json(sample())), Contains(HasSubstr("\\x1b")));
}

}  // namespace
}  // namespace cordon::plan
