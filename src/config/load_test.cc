#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/describe.h"
#include "config/preset.h"
#include "config/testing.h"
#include "model/tools.h"

namespace cordon::config {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Loaded loaded(const Room& room) {
  auto made = load(room.sources());
  EXPECT_TRUE(made) << made.error().sentence;
  return made ? *std::move(made) : Loaded{};
}

std::vector<std::string> texts(const std::vector<Entry>& entries) {
  std::vector<std::string> made;
  for (const Entry& entry : entries) made.push_back(entry.value);
  return made;
}

std::vector<std::string> ignored(const Loaded& from) {
  std::vector<std::string> made;
  for (const Ignored& one : from.ignored)
    made.push_back(fmt::format("{} {}={}", one.origin.text(), one.key, one.value));
  return made;
}

/// "key = value  origin" of the rows that some file set.
std::vector<std::string> said(const Settings& settings) {
  std::vector<std::string> made;
  for (const Described& row : describe(settings)) {
    if (!row.origin.file.empty()) made.push_back(fmt::format("{} = {}  {}", row.key, row.text, row.origin_text()));
  }
  return made;
}

TEST(Load, WithoutAnyFileTheDefaultsStand) {
  const Settings settings = loaded(Room()).settings;
  EXPECT_EQ(settings.level.value, SecurityLevel::ask);
  EXPECT_EQ(settings.defaults.sandbox.mode.value, SandboxMode::all);
  EXPECT_EQ(settings.defaults.sandbox.scope.value, SandboxScope::session);
  EXPECT_EQ(settings.defaults.sandbox.workspace.value, PathAccess::rw);
  EXPECT_EQ(settings.defaults.sandbox.limits.time_ms.value, 60'000);
  EXPECT_THAT(settings.defaults.sandbox.network, IsEmpty());
  EXPECT_EQ(settings.on_audit_failure.value, OnAuditFailure::stop);
  EXPECT_THAT(said(settings), IsEmpty());
  for (const Described& row : describe(settings)) EXPECT_EQ(row.origin_text(), "default");
}

TEST(Load, AnUntrustedFileOnlyTightens) {
  Room room;
  room.write("SANDBOX.md", room.data("SANDBOX.md"));
  const Loaded made = loaded(room);
  EXPECT_EQ(made.settings.level.value, SecurityLevel::allowlist);
  EXPECT_THAT(made.settings.allowed, IsEmpty());
  EXPECT_THAT(texts(made.settings.dangerous), Contains("*"));
  EXPECT_EQ(made.settings.disallowed.size(), 5U);
  EXPECT_EQ(made.ignored.size(), 8U);
  EXPECT_EQ(made.ignored[0].reason, "SANDBOX.md is not trusted; run: cordon trust");
  EXPECT_EQ(made.files.back().state, SourceFile::State::untrusted);
}

TEST(Load, EveryKindOfLooseningInAnUntrustedFileIsDroppedAndListed) {
  Room room;
  fs::create_directories(room.path("data"));
  room.write("SANDBOX.md",
             "# Security Level\nLevel: full\n# Allowed Commands\n- rm\n# Approval Settings\nAudit retention: 1 day\n"
             "Approval expiry: 1 h\nQueue limit: 2000\nOn audit failure: continue\n# Network\n- a.example\n"
             "# Filesystem\n- " +
                 room.path("data") +
                 ": ro\n- src: rw\n# Limits\nTime: 2 min\nMemory: 2 GiB\nConnections: 2000\n"
                 "Network bytes: 1 TiB\nConnection time: 1 day\n");
  room.write(".cordon/config.json5", R"({agents: {defaults: {sandbox: {mode: 'off', scope: 'shared', binds: [')" +
                                         room.path("data") +
                                         R"(:/data:ro'], backend: 'docker', network: {allow: ['b.example']},
    docker: {image: 'x', env: {A: '1'}, idle: '1h', age: '1 day'}}}}, tools: {allow: ['exec'], elevated: {enabled: true, patterns: ['git push *'],
    requireApproval: false}}})");
  const Loaded made = loaded(room);
  EXPECT_THAT(said(made.settings), ElementsAre("policy.filesystem = " + room.workspace() + "/src: rw  SANDBOX.md:14"))
      << "rw inside the workspace is what it has anyway";
  EXPECT_EQ(made.ignored.size(), 26U);
  EXPECT_THAT(ignored(made), Contains(".cordon/config.json5:2 agents.defaults.sandbox.docker.idle=1h"));
  EXPECT_THAT(ignored(made), Contains(".cordon/config.json5:2 agents.defaults.sandbox.docker.age=1d"));
  EXPECT_THAT(ignored(made), Contains("SANDBOX.md:18 agents.defaults.sandbox.network.limits.connections=2000"));
  EXPECT_THAT(ignored(made), Contains("SANDBOX.md:2 policy.level=full"));
  EXPECT_THAT(ignored(made), Contains("SANDBOX.md:6 policy.auditRetention=1d"));
  EXPECT_THAT(ignored(made), Contains(".cordon/config.json5:1 agents.defaults.sandbox.mode=off"));
  EXPECT_THAT(ignored(made), Contains(".cordon/config.json5:3 tools.elevated.requireApproval=false"));
}

TEST(Load, EveryKindOfTighteningInAnUntrustedFileCounts) {
  Room room;
  room.write_user_file(R"({agents: {defaults: {sandbox: {mode: 'off', network: {allow: ['a.example', 'b.example']}}},
    entries: {ops: {sandbox: {limits: {timeMs: 600000}}, tools: {profile: 'full'}}}}, tools: {profile: 'coding'},
    policy: {level: 'full'}})");
  room.write(
      "SANDBOX.md",
      "# Security Level\nLevel: deny\n# Approval Settings\nDry-run by default: true\nAudit retention: 1000 days\n"
      "# Disallowed Commands\n- nc\n# Filesystem\n- secret: none\n- docs: ro\n# Limits\nTime: 5s\n");
  room.write(".cordon/config.json5", R"({agents: {defaults: {sandbox: {mode: 'all', workspace: 'ro',
    network: {allow: ['b.example', 'c.example'], limits: {connections: 2, bytes: 1024, timeMs: 5}},
    docker: {idle: '1 min', age: '1h'}}}}, policy: {preview: 'off'}, tools: {profile: 'minimal', deny: ['exec']}})");
  const Loaded made = loaded(room);
  const Settings& settings = made.settings;
  EXPECT_EQ(settings.level.value, SecurityLevel::deny);
  EXPECT_TRUE(settings.approval.dry_run.value);
  EXPECT_EQ(settings.defaults.sandbox.mode.value, SandboxMode::all);
  EXPECT_EQ(settings.defaults.sandbox.workspace.value, PathAccess::ro);
  ASSERT_EQ(settings.defaults.sandbox.network.size(), 1U) << "of the listed hosts only those that were open before";
  EXPECT_EQ(settings.defaults.sandbox.network[0].host, "b.example");
  EXPECT_EQ(settings.defaults.sandbox.network_limits.connections.value, 2);
  EXPECT_EQ(settings.defaults.sandbox.network_limits.bytes.value, 1024);
  EXPECT_EQ(settings.defaults.sandbox.network_limits.time_ms.value, 5);
  EXPECT_EQ(settings.defaults.sandbox.docker.idle_ms.value, 60'000);
  EXPECT_EQ(settings.defaults.sandbox.docker.age_ms.value, 3'600'000);
  EXPECT_EQ(settings.defaults.sandbox.docker.age_ms.origin.line, 3);
  EXPECT_EQ(settings.approval.preview.value, QueuePreview::off);
  EXPECT_EQ(settings.filesystem.size(), 2U);
  EXPECT_EQ(settings.agent("ops").sandbox.limits.time_ms.value, 5000) << "also for an agent with its own limit";
  EXPECT_EQ(settings.agent("ops").tools.profile.value, ToolProfile::minimal);
  EXPECT_THAT(effective_tools(settings, "ops"), ElementsAre("web_search"));
  EXPECT_THAT(effective_tools(settings, "main"), IsEmpty()) << "web_search is in minimal, but was not in coding";
  EXPECT_THAT(ignored(made), ElementsAre(".cordon/config.json5:2 agents.defaults.sandbox.network.allow=c.example"));
}

TEST(Load, AFileOfTheWorkspaceTurnsPreviewsOffButNotOnAgain) {
  Room room;
  room.write_user_file("{policy: {preview: 'off'}}");
  room.write("SANDBOX.md", "# Approval Settings\nPreview: auto\n");
  const Loaded made = loaded(room);
  EXPECT_EQ(made.settings.approval.preview.value, QueuePreview::off);
  EXPECT_THAT(ignored(made), ElementsAre("SANDBOX.md:2 policy.preview=auto"));
}

TEST(Load, ATrustedFileCountsInFull) {
  Room room;
  room.write("SANDBOX.md", room.data("SANDBOX.md"));
  room.trust_all();
  const Loaded made = loaded(room);
  EXPECT_EQ(made.files.back().state, SourceFile::State::trusted);
  EXPECT_THAT(made.ignored, IsEmpty());
  EXPECT_EQ(made.settings.allowed.size(), 8U);
  EXPECT_EQ(made.settings.allowed[7].origin.text(), "SANDBOX.md:14");
}

TEST(Load, WhatIsAddedAfterTrustDoesNotCountAndTheTighteningsStay) {
  Room room;
  const std::string trusted = room.data("SANDBOX.md");
  room.write("SANDBOX.md", trusted);
  room.trust_all();
  std::string changed = trusted;
  changed.insert(changed.find("- pwd"), "- rm\n");
  changed.erase(changed.find("- nc -l\n"), 8);
  changed += "- Approval expiry: 1 minute\n";
  room.write("SANDBOX.md", changed);
  const Loaded made = loaded(room);
  EXPECT_EQ(made.files.back().state, SourceFile::State::changed);
  EXPECT_THAT(made.settings.allowed, IsEmpty());
  EXPECT_THAT(ignored(made), Contains("SANDBOX.md:8 policy.allowed=rm"));
  EXPECT_EQ(made.ignored[0].reason, "SANDBOX.md has changed since it was trusted; run: cordon trust");
  EXPECT_EQ(made.settings.level.value, SecurityLevel::allowlist);
  EXPECT_EQ(made.settings.approval.expiry_ms.value, 60'000);
  EXPECT_THAT(texts(made.settings.disallowed), Contains("nc -l")) << "removing a prohibition takes trust, too";
}

TEST(Load, DeletingATrustedFileLiftsNoProhibition) {
  Room room;
  room.write("SANDBOX.md", room.data("SANDBOX.md"));
  room.trust_all();
  fs::remove(room.workspace() + "/SANDBOX.md");
  const Loaded made = loaded(room);
  EXPECT_EQ(made.files.back().state, SourceFile::State::gone);
  EXPECT_EQ(made.settings.level.value, SecurityLevel::allowlist);
  EXPECT_EQ(made.settings.level.origin.text(), "SANDBOX.md (as trusted):4");
  EXPECT_THAT(made.settings.allowed, IsEmpty());
  EXPECT_THAT(made.ignored, IsEmpty());
}

TEST(Load, ThePreviewOfTrustShowsWhatWouldLoosenAndTheDifference) {
  Room room;
  room.write("SANDBOX.md", "# Allowed Commands\n- ls\n# Disallowed Commands\n- nc\n");
  room.trust_all();
  room.write("SANDBOX.md", "# Allowed Commands\n- ls\n- rm\n# Disallowed Commands\n- nc\n");
  const auto previews = preview_trust(room.sources());
  ASSERT_TRUE(previews);
  ASSERT_EQ(previews->size(), 1U);
  const TrustPreview& preview = previews->front();
  ASSERT_EQ(preview.loosenings.size(), 2U);
  EXPECT_EQ(preview.loosenings[1].value, "rm");
  EXPECT_EQ(preview.loosenings[1].origin.text(), "SANDBOX.md:3");
  EXPECT_EQ(preview.difference,
            "--- SANDBOX.md (trusted)\n+++ SANDBOX.md\n@@ -1,4 +1,5 @@\n # Allowed Commands\n - ls\n+- rm\n"
            " # Disallowed Commands\n - nc\n");
}

TEST(Load, WhatIsTrustedIsWhatWasShownEvenIfTheFileChangesMeanwhile) {
  Room room;
  room.write("SANDBOX.md", "# Allowed Commands\n- ls\n");
  const auto previews = preview_trust(room.sources());
  room.write("SANDBOX.md", "# Allowed Commands\n- rm\n");
  ASSERT_TRUE(trust(room.sources(), previews->front(), SystemClock().now()));
  EXPECT_EQ(loaded(room).files.back().state, SourceFile::State::changed);
}

TEST(Load, LaterFilesWinAgentsGoOverDefaultsAndBindsAreJoined) {
  Room room;
  for (const char* name : {"a", "b", "c"}) fs::create_directories(room.path(name));
  room.write_user_file("{agents: {defaults: {sandbox: {mode: 'off', workspace: 'ro', binds: ['" + room.path("a") +
                       ":/a:ro']}}, entries: {ops: {sandbox: {mode: 'non-main', binds: ['" + room.path("b") +
                       ":/b:rw']}}}}}");
  room.write_extra("extra.json5", "{agents: {defaults: {sandbox: {mode: 'all', limits: {pids: 10}, binds: ['" +
                                      room.path("c") + ":/c:ro']}}, entries: {ops: {tools: {deny: ['exec']}}}}}");
  const Settings settings = loaded(room).settings;
  EXPECT_EQ(settings.defaults.sandbox.mode.value, SandboxMode::all);
  EXPECT_EQ(settings.defaults.sandbox.workspace.value, PathAccess::ro);
  EXPECT_EQ(settings.defaults.sandbox.binds.size(), 2U);
  const AgentSettings& ops = settings.agent("ops");
  EXPECT_EQ(ops.sandbox.mode.value, SandboxMode::non_main);
  EXPECT_EQ(ops.sandbox.workspace.value, PathAccess::ro);
  EXPECT_EQ(ops.sandbox.limits.processes.value, 10);
  ASSERT_EQ(ops.sandbox.binds.size(), 3U);
  EXPECT_EQ(ops.sandbox.binds[2].target, "/b");
  EXPECT_THAT(texts(ops.tools.deny), ElementsAre("exec"));
  EXPECT_THAT(settings.defaults.tools.deny, IsEmpty());
  EXPECT_THAT(said(settings),
              Contains("agents.entries.ops.sandbox.mode = non-main  " + room.sources().user_file + ":1"));
}

TEST(Load, SkippingTheApprovalOfElevationCountsOnlyFromTheUsersOwnFile) {
  const std::string_view text =
      "{tools: {elevated: {enabled: true, patterns: ['git push *'], requireApproval: false}}}";
  Room own, extra, trusted;
  own.write_user_file(text);
  extra.write_extra("extra.json5", text);
  trusted.write(".cordon/config.json5", text);
  trusted.trust_all();
  EXPECT_FALSE(loaded(own).settings.defaults.elevated.require_approval.value);
  for (Room* room : {&extra, &trusted}) {
    const Loaded made = loaded(*room);
    EXPECT_TRUE(made.settings.defaults.elevated.require_approval.value);
    EXPECT_TRUE(made.settings.defaults.elevated.enabled.value);
    ASSERT_EQ(made.ignored.size(), 1U);
    EXPECT_EQ(made.ignored[0].reason, "this counts only from the user's own settings file");
  }
}

TEST(Load, AnUntrustedPathRuleCannotOpenTheOutsideThroughALink) {
  Room room;
  fs::create_directories(room.path("outside"));
  fs::create_symlink(room.path("outside"), room.workspace() + "/inside");
  room.write("SANDBOX.md", "# Filesystem\n- inside: ro\n");
  const Loaded made = loaded(room);
  EXPECT_THAT(made.settings.filesystem, IsEmpty());
  EXPECT_EQ(made.ignored.size(), 1U);
}

TEST(Load, TheTrustStoreIsPrivateAndADamagedOneStopsEverything) {
  Room room;
  room.write("SANDBOX.md", "# Allowed Commands\n- ls\n");
  room.trust_all();
  struct stat about {};
  ASSERT_EQ(::stat((room.state() + "/trust.json").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
  for (const char* text :
       {"", "{", "[]", "{\"version\":2,\"files\":{}}", "{\"version\":1,\"files\":{\"/x\":{}}}",
        "{\"version\":1,\"files\":{\"/x\":{\"sha256\":\"00\",\"text\":\"a\",\"trusted_at\":\"x\"}}}"}) {
    room.write_at(room.state() + "/trust.json", text);
    const auto made = load(room.sources());
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().fault, Fault::corrupt);
  }
}

TEST(Load, ATrustedTextThatNoLongerHoldsStopsRunsButNotANewTrust) {
  Room room;
  fs::create_directories(room.path("data"));
  room.write("SANDBOX.md", "# Filesystem\n- " + room.path("data") + ": ro\n");
  room.trust_all();
  fs::remove(room.path("data"));
  fs::create_directories(room.home() + "/.ssh");
  fs::create_directory_symlink(room.home() + "/.ssh", room.path("data"));
  room.write("SANDBOX.md", "# Limits\nTime: 5s\n");
  const auto made = load(room.sources());
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().sentence, HasSubstr("SANDBOX.md (as trusted):2: "));
  room.trust_all();
  EXPECT_EQ(loaded(room).files.back().state, SourceFile::State::trusted);
}

TEST(Load, TrustCanBeTakenBack) {
  Room room;
  room.write("SANDBOX.md", "# Allowed Commands\n- ls\n");
  room.trust_all();
  const TrustStore store(room.state());
  EXPECT_EQ(store.load()->size(), 1U);
  EXPECT_EQ(store.remove(sandbox_md_path(room.sources())), true);
  EXPECT_EQ(store.remove(sandbox_md_path(room.sources())), false);
  EXPECT_EQ(loaded(room).files.back().state, SourceFile::State::untrusted);
}

TEST(Load, TrustBelongsToTheRealFileNotToAName) {
  Room room;
  room.write("SANDBOX.md", "# Allowed Commands\n- ls\n");
  room.trust_all();
  fs::create_directory_symlink(room.workspace(), room.path("other"));
  Sources other = room.sources();
  other.workspace = room.path("other");
  EXPECT_EQ(load(other)->files.back().state, SourceFile::State::trusted);
}

TEST(Load, PresetsComeFromTheStateAlone) {
  Room room;
  ASSERT_TRUE(save_presets(room.state(), {{"npm", {"registry.example:443"}}}));
  EXPECT_THAT(loaded(room).settings.presets.at("npm"), ElementsAre("registry.example:443"));
  room.write_at(room.state() + "/presets.json", "{}");
  EXPECT_FALSE(load(room.sources()));
}

}  // namespace
}  // namespace cordon::config
