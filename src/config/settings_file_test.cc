#include "config/settings_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing.h"

namespace cordon::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Read {
  std::vector<std::string> said;  // "line key = value"
  std::vector<std::string> remarks;
  std::string error;
};

Read read(std::string_view text, Dialect dialect = Dialect::cordon, std::string_view name = "c") {
  static const Surroundings around{"/work", "/home/someone", BindRules::create("/home/someone", {}, {})};
  std::vector<Remark> remarks;
  const auto changes = read_settings_file(text, name, dialect, around, remarks);
  Read made;
  for (const Remark& remark : remarks) made.remarks.push_back(remark.sentence);
  if (!changes) {
    made.error = changes.error().sentence;
    return made;
  }
  for (const Change& change : *changes) {
    const std::string prefix = change.agent.empty() ? "" : change.agent + "/";
    const auto say = [&](int line, std::string_view value) {
      made.said.push_back(fmt::format("{} {}{} = {}", line, prefix, change.field->key, value));
    };
    if (!is_list(change.field->form)) say(change.origin.line, shown(*change.field, change.scalar));
    for (const Item& item : change.items) say(item.origin().line, item.text());
    if (is_list(change.field->form) && change.items.empty()) say(change.origin.line, "nothing");
  }
  return made;
}

TEST(SettingsFile, ReadsEveryDocumentedExampleWithEveryLine) {
  EXPECT_THAT(read(Room::data("enabling.json5")).said,
              ElementsAre("5 sandbox.mode = all", "6 sandbox.scope = session", "7 sandbox.workspace = none"));
  EXPECT_THAT(read(Room::data("binds.json5")).said,
              ElementsAre("5 sandbox.mode = all", "7 sandbox.binds = /home/user/projects:/projects:ro",
                          "8 sandbox.binds = /home/user/data:/data:rw"));
  EXPECT_THAT(read(Room::data("profile.json5")).said, ElementsAre("3 tools.profile = messaging"));
  EXPECT_THAT(read(Room::data("allow_deny.json5")).said,
              ElementsAre("3 tools.profile = coding", "5 tools.deny = browser", "6 tools.deny = group:automation",
                          "7 tools.deny = cron", "8 tools.deny = gateway", "11 tools.allow = web_search"));
  EXPECT_THAT(read(Room::data("elevated.json5")).said,
              ElementsAre("4 tools.elevated.enabled = true", "6 tools.elevated.patterns = brew *",
                          "7 tools.elevated.patterns = git push *", "8 tools.elevated.patterns = docker *",
                          "10 tools.elevated.requireApproval = true"));
  EXPECT_THAT(read(Room::data("personal.json5")).said, ElementsAre("4 sandbox.mode = off", "8 tools.profile = full"));
  EXPECT_THAT(read(Room::data("mixed.json5")).said,
              ElementsAre("4 sandbox.mode = non-main", "8 tools.profile = coding", "9 tools.deny = group:automation"));
  EXPECT_THAT(read(Room::data("remote.json5")).said,
              ElementsAre("5 sandbox.mode = all", "6 sandbox.scope = session", "7 sandbox.workspace = ro",
                          "12 tools.profile = messaging", "13 tools.deny = group:runtime", "13 tools.deny = group:fs",
                          "15 tools.elevated.enabled = true", "16 tools.elevated.patterns = systemctl status *",
                          "16 tools.elevated.patterns = journalctl *", "17 tools.elevated.requireApproval = true"));
}

TEST(SettingsFile, ReadsEverySetting) {
  const Read made = read(R"({
    agents: { defaults: { sandbox: { backend: "gvisor", network: { allow: ["A.example:443", "preset:pip"], limits: { connections: 4, bytes: "2 MiB", timeMs: 500 } },
        limits: { timeMs: 90000, memory: "512m", cpus: 1.5, pids: 64, disk: 1048576, output: "1 MiB" },
        docker: { image: "debian:12", user: "1000", env: { A: "b c" }, idle: "20 min", age: 7200000 } } },
      entries: { ops: { sandbox: "non-main", tools: { profile: "minimal" } } } },
    policy: { level: "deny", allowed: ["ls"], dangerous: ["*"], disallowed: ["nc -l"], autoApproveSafe: false, dryRun: true,
      auditRetention: "90 days", approvalExpiry: "5 min", queueLimit: 10, preview: "off", onAuditFailure: "continue",
      filesystem: { "secrets": "none" } } })");
  EXPECT_EQ(made.error, "");
  EXPECT_THAT(
      made.said,
      ElementsAre("2 sandbox.backend = gvisor", "2 sandbox.network.allow = a.example:443",
                  "2 sandbox.network.allow = preset:pip", "2 sandbox.network.limits.connections = 4",
                  "2 sandbox.network.limits.bytes = 2 MiB", "2 sandbox.network.limits.timeMs = 500ms",
                  "3 sandbox.limits.timeMs = 1m30s", "3 sandbox.limits.memory = 512 MiB", "3 sandbox.limits.cpus = 1.5",
                  "3 sandbox.limits.pids = 64", "3 sandbox.limits.disk = 1 MiB", "3 sandbox.limits.output = 1 MiB",
                  "4 sandbox.docker.image = debian:12", "4 sandbox.docker.user = 1000", "4 sandbox.docker.env = A=b c",
                  "4 sandbox.docker.idle = 20m", "4 sandbox.docker.age = 2h", "5 ops/sandbox.mode = non-main",
                  "5 ops/tools.profile = minimal", "6 policy.level = deny", "6 policy.allowed = ls",
                  "6 policy.dangerous = *", "6 policy.disallowed = nc -l", "6 policy.autoApproveSafe = false",
                  "6 policy.dryRun = true", "7 policy.auditRetention = 90d", "7 policy.approvalExpiry = 5m",
                  "7 policy.queueLimit = 10", "7 policy.preview = off", "7 policy.onAuditFailure = continue",
                  "8 policy.filesystem = /work/secrets: none"));
}

TEST(SettingsFile, KnowsOpenClawsSpellings) {
  const Read made = read(R"({agents: {defaults: {sandbox: {workspaceAccess: "ro", docker: {binds: ["/srv/x:/x:ro"],
    network: "none", memory: "1g", cpus: 2, pidsLimit: 100}}}, list: [{id: "main", tools: {alsoAllow: ["exec"]}}]},
    tools: {sandbox: {tools: {deny: ["browser"]}}}})");
  EXPECT_EQ(made.error, "");
  EXPECT_THAT(made.said, ElementsAre("1 sandbox.workspace = ro", "1 sandbox.binds = /srv/x:/x:ro",
                                     "2 sandbox.network.allow = nothing", "2 sandbox.limits.memory = 1 GiB",
                                     "2 sandbox.limits.cpus = 2", "2 sandbox.limits.pids = 100",
                                     "2 main/tools.allow = exec", "3 tools.deny = browser"));
}

TEST(SettingsFile, ListsOnceWhatMeansNothingHereInOpenClawsOwnFile) {
  const std::string_view text = R"({
  gateway: { port: 18789 },
  channels: { telegram: { enabled: true } },
  agents: { defaults: { model: "x", sandbox: { mode: "all", prune: { idleHours: 1 }, docker: { readOnlyRoot: true } } } },
  tools: { exec: { timeoutSeconds: 5 } },
})";
  const Read made = read(text, Dialect::any);
  EXPECT_EQ(made.error, "");
  EXPECT_THAT(made.said, ElementsAre("4 sandbox.mode = all"));
  EXPECT_THAT(made.remarks, ElementsAre("c: these keys mean nothing here: gateway (line 2), channels (line 3), "
                                        "agents.defaults.model (line 4), agents.defaults.sandbox.prune (line 4), "
                                        "agents.defaults.sandbox.docker.readOnlyRoot (line 4), tools.exec (line 5)"));
  EXPECT_EQ(read(text).error, "c:2: unknown key 'gateway'");
}

TEST(SettingsFile, ASlipInOpenClawsSandboxIsStillAnError) {
  EXPECT_EQ(read("{gateway: {}, agents: {defaults: {sandbox: {mdoe: 'all'}}}}", Dialect::any).error,
            "c:1: unknown key 'mdoe' under agents.defaults.sandbox (did you mean 'mode'?)");
}

struct Wrong {
  std::string_view text;
  std::string_view error;
};

TEST(SettingsFile, EveryErrorNamesTheLineAndWhatWasExpected) {
  const Wrong cases[] = {
      {"[]", "c:1: the file is an array; expected an object"},
      {"{\n agnets: {}}", "c:2: unknown key 'agnets' (did you mean 'agents'?)"},
      {"{agents: {default: {}}}", "c:1: unknown key 'default' under agents (did you mean 'defaults'?)"},
      {"{agents: {defaults: {sandbox: {\n mod: 'all'}}}}",
       "c:2: unknown key 'mod' under agents.defaults.sandbox (did you mean 'mode'?)"},
      {"{agents: {defaults: {tools: {}}}}", "c:1: unknown key 'tools' under agents.defaults"},
      {"{agents: []}", "c:1: agents is an array; expected an object"},
      {"{agents: {defaults: {sandbox: {mode: true}}}}",
       "c:1: agents.defaults.sandbox.mode is true or false; expected all, non-main or off"},
      {"{agents: {defaults: {sandbox: {mode: 'al'}}}}",
       "c:1: agents.defaults.sandbox.mode is 'al'; expected all, non-main or off (did you mean 'all'?)"},
      {"{agents: {defaults: {sandbox: 'some'}}}",
       "c:1: agents.defaults.sandbox is 'some'; expected all, non-main or off"},
      {"{agents: {defaults: {sandbox: {workspace: 'ro', workspaceAccess: 'rw'}}}}",
       "c:1: agents.defaults.sandbox.workspaceAccess is already set in line 1"},
      {"{agents: {defaults: {sandbox: {binds: '/x:/y'}}}}",
       "c:1: agents.defaults.sandbox.binds is a string; expected an array"},
      {"{agents: {defaults: {sandbox: {binds: [1]}}}}",
       "c:1: an entry of agents.defaults.sandbox.binds is a number; expected a string"},
      {"{agents: {defaults: {sandbox: {network: 'all'}}}}",
       "c:1: agents.defaults.sandbox.network is 'all'; expected \"none\" or {allow: [\"domain:port\", …]}"},
      {"{agents: {defaults: {sandbox: {docker: {network: 'host'}}}}}",
       "c:1: agents.defaults.sandbox.docker.network is 'host'; expected \"none\" or {allow: [\"domain:port\", …]}"},
      {"{agents: {defaults: {sandbox: {limits: {timeMs: -1}}}}}",
       "c:1: agents.defaults.sandbox.limits.timeMs is -1; expected a duration such as 60s, 15 minutes or 30 days, "
       "between "
       "1ms and 30d"},
      {"{agents: {defaults: {sandbox: {limits: {pids: 1.5}}}}}",
       "c:1: agents.defaults.sandbox.limits.pids is 1.5; expected a whole number between 1 and 4194304"},
      {"{agents: {defaults: {sandbox: {limits: {memory: Infinity}}}}}",
       "c:1: agents.defaults.sandbox.limits.memory is inf; expected a size such as 512M or 1 GiB, between 1 MiB and 64 "
       "TiB"},
      {"{agents: {defaults: {sandbox: {limits: {cpus: NaN}}}}}",
       "c:1: agents.defaults.sandbox.limits.cpus is nan; expected a number of processors between 0.01 and 4096"},
      {"{agents: {entries: {'a:b': {}}}}", "c:1: 'a:b' is no agent id (1 to 64 characters, no blank, ':' or '/')"},
      {"{agents: {list: [{}]}}", "c:1: an entry of agents.list has no 'id'"},
      {"{tools: {profile: 'codng'}}",
       "c:1: tools.profile is 'codng'; expected minimal, messaging, coding or full (did you mean 'coding'?)"},
      {"{tools: {allow: ['web_serch']}}", "c:1: unknown tool 'web_serch' in allow (did you mean 'web_search'?)"},
      {"{tools: {allow: ['group:filesystem']}}", "c:1: unknown tool 'group:filesystem' in allow"},
      {"{tools: {elevated: {enabled: 'yes'}}}", "c:1: tools.elevated.enabled is a string; expected true or false"},
      {"{tools: {elevated: {patterns: ['']}}}", "c:1: an entry is empty"},
      {"{tools: {deny: []},\n tools: {}}", "c:2: key 'tools' stands a second time (first in line 1)"},
      {"{policy: {level: null}}", "c:1: policy.level is null; expected deny, allowlist, ask or full"},
  };
  for (const Wrong& one : cases) EXPECT_EQ(read(one.text).error, one.error) << one.text;
}

TEST(SettingsFile, ABindWhoseSourceIsMissingIsNoted) {
  EXPECT_THAT(read("{agents: {defaults: {sandbox: {binds: ['/srv/none:/x:ro']}}}}").remarks,
              ElementsAre("c:1: the source of bind '/srv/none:/x:ro' does not exist"));
}

TEST(SettingsFile, AnUnknownToolInDenyIsKeptWithAWarning) {
  const Read made = read("{tools: {deny: ['web_serch', 'Exec']}}");
  EXPECT_THAT(made.said, ElementsAre("1 tools.deny = web_serch", "1 tools.deny = exec"));
  EXPECT_THAT(made.remarks, ElementsAre("c:1: unknown tool 'web_serch' in deny is kept (did you mean 'web_search'?)"));
}

}  // namespace
}  // namespace cordon::config
