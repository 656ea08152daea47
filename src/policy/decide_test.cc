#include "policy/decide.h"

#include <gtest/gtest.h>

namespace cordon::policy {
namespace {

const Canonical as_written = [](const std::vector<std::string>& words) { return words; };

Invocation call(const std::vector<std::string>& words, Risk risk) {
  Invocation made;
  made.path = made.program = words.front();
  made.words = made.canonical = words;
  made.risk = risk;
  return made;
}

Analysis analysis_of(const std::vector<Invocation>& calls) {
  Analysis analysis;
  analysis.invocations = calls;
  for (const Invocation& c : calls) analysis.risk = std::max(analysis.risk, c.risk);
  if (analysis.risk >= Risk::dangerous)
    analysis.findings.push_back({"test.rule", analysis.risk, "Test reason", {}, ""});
  return analysis;
}

Entry entry(const char* text, int line = 7) { return {text, Origin{"SANDBOX.md", line}}; }

struct Fixture : testing::Test {
  Settings settings;
  Allowlist allowlist;
  Verdict decided(const Analysis& analysis, bool require_approval = false) {
    return decide(analysis, {.settings = settings,
                             .allowlist = allowlist,
                             .canonical = as_written,
                             .require_approval = require_approval,
                             .now = *from_rfc3339("2026-01-01")});
  }
  Action action(Risk risk) { return decided(analysis_of({call({"prog", "word"}, risk)})).action; }
};
using Decide = Fixture;

struct Row {
  SecurityLevel level;
  bool listed;
  std::array<Action, 5> expected;  // safe, normal, dangerous, critical, disallowed
};

TEST_F(Decide, FollowsTheTableOfLevelAndRisk) {
  constexpr auto x = Action::allow, q = Action::ask, no = Action::deny;
  const std::vector<Row> rows = {
      {SecurityLevel::deny, true, {x, x, x, no, no}},      {SecurityLevel::deny, false, {no, no, no, no, no}},
      {SecurityLevel::allowlist, true, {x, x, x, no, no}}, {SecurityLevel::allowlist, false, {x, q, q, no, no}},
      {SecurityLevel::ask, true, {x, x, x, no, no}},       {SecurityLevel::ask, false, {x, x, q, no, no}},
      {SecurityLevel::full, true, {x, x, x, q, no}},       {SecurityLevel::full, false, {x, x, x, q, no}},
  };
  for (const Row& row : rows) {
    settings = {};
    settings.level.value = row.level;
    if (row.listed) settings.allowed.push_back(entry("prog word"));
    for (int risk = 0; risk < 5; ++risk) {
      EXPECT_EQ(action(static_cast<Risk>(risk)), row.expected[static_cast<std::size_t>(risk)])
          << name_of(row.level) << (row.listed ? " listed " : " unlisted ") << name_of(static_cast<Risk>(risk));
    }
  }
}

TEST_F(Decide, SafeAsksAtAllowlistLevelWithoutAutoApprove) {
  settings.level.value = SecurityLevel::allowlist;
  settings.approval.auto_approve_safe.value = false;
  EXPECT_EQ(action(Risk::safe), Action::ask);
}

TEST_F(Decide, DisallowedBeatsDangerousBeatsAllowed) {
  settings.allowed = {entry("prog word", 1)};
  settings.dangerous = {entry("prog", 2)};
  EXPECT_EQ(action(Risk::normal), Action::ask);
  settings.disallowed = {entry("prog word", 3)};
  const Verdict verdict = decided(analysis_of({call({"prog", "word"}, Risk::safe)}));
  EXPECT_EQ(verdict.action, Action::deny);
  EXPECT_EQ(verdict.risk, Risk::disallowed);
  EXPECT_EQ(verdict.origin.text(), "SANDBOX.md:3");
}

TEST_F(Decide, ADangerousEntryAsksEvenAtLevelFullAndRefusesAtLevelDeny) {
  settings.dangerous = {entry("prog")};
  settings.level.value = SecurityLevel::full;
  EXPECT_EQ(action(Risk::safe), Action::ask);
  settings.level.value = SecurityLevel::deny;
  settings.allowed = {entry("prog word")};
  EXPECT_EQ(action(Risk::safe), Action::deny);
}

TEST_F(Decide, EveryCallOfAScriptMustBeCovered) {
  settings.level.value = SecurityLevel::allowlist;
  settings.allowed = {entry("npm")};
  EXPECT_EQ(decided(analysis_of({call({"npm", "test"}, Risk::normal)})).action, Action::allow);
  EXPECT_EQ(decided(analysis_of({call({"npm", "test"}, Risk::normal), call({"make"}, Risk::normal)})).action,
            Action::ask);
}

TEST_F(Decide, ACoverDoesNotReachWhatIsGraverThanItsCalls) {
  settings.allowed = {entry("cat"), entry("tee")};
  Analysis flow = analysis_of({call({"cat", "x"}, Risk::safe), call({"tee", "y"}, Risk::normal)});
  flow.risk = Risk::dangerous;
  EXPECT_EQ(decided(flow).action, Action::ask);
}

TEST_F(Decide, AWrapperNeedsNoEntryOfItsOwnUnlessItIsGrave) {
  settings.level.value = SecurityLevel::allowlist;
  settings.allowed = {entry("npm")};
  Invocation timeout = call({"timeout", "60", "npm", "test"}, Risk::normal);
  timeout.wrapper = true;
  EXPECT_EQ(decided(analysis_of({timeout, call({"npm", "test"}, Risk::normal)})).action, Action::allow);
  Invocation sudo = call({"sudo", "npm", "test"}, Risk::dangerous);
  sudo.wrapper = true;
  EXPECT_EQ(decided(analysis_of({sudo, call({"npm", "test"}, Risk::normal)})).action, Action::ask);
}

TEST_F(Decide, AStarAsDangerousEntryAsksAboutAllThatIsNotSpokenFor) {
  settings.dangerous = {entry("*")};
  settings.allowed = {entry("prog word")};
  EXPECT_EQ(action(Risk::normal), Action::allow);
  EXPECT_EQ(decided(analysis_of({call({"make"}, Risk::normal)})).action, Action::ask);
  EXPECT_EQ(decided(analysis_of({call({"ls"}, Risk::safe)})).action, Action::allow);
  settings.approval.auto_approve_safe.value = false;
  EXPECT_EQ(decided(analysis_of({call({"ls"}, Risk::safe)})).action, Action::ask);
}

TEST_F(Decide, AnUnknownWordThatMayBeDisallowedAsks) {
  settings.disallowed = {entry("nc -l")};
  settings.allowed = {entry("nc")};
  Invocation unknown = call({"nc", "$X"}, Risk::normal);
  unknown.exact = false;
  const Verdict verdict = decided(analysis_of({unknown}));
  EXPECT_EQ(verdict.action, Action::ask);
  EXPECT_EQ(verdict.risk, Risk::dangerous);
}

TEST_F(Decide, AllowlistEntriesExpireAndMayStillAsk) {
  AllowlistEntry until{.pattern = "prog", .expires = from_rfc3339("2026-01-02")};
  allowlist = Allowlist({until});
  settings.level.value = SecurityLevel::allowlist;
  EXPECT_EQ(action(Risk::normal), Action::allow);
  until.expires = from_rfc3339("2025-12-31");
  allowlist = Allowlist({until});
  EXPECT_EQ(action(Risk::normal), Action::ask);
  allowlist = Allowlist({{.pattern = "prog", .auto_approve = false}});
  EXPECT_EQ(action(Risk::normal), Action::ask);
}

TEST_F(Decide, WhatTheSettingsDoNotGiveIsAGrantAndAsks) {
  Analysis analysis = analysis_of({call({"npm", "install"}, Risk::normal)});
  analysis.needs = {{Need::Kind::host, "registry.example:443"}};
  Verdict verdict = decided(analysis);
  EXPECT_EQ(verdict.action, Action::ask);
  ASSERT_EQ(verdict.grants.size(), 1U);
  settings.defaults.sandbox.network.push_back({.host = "registry.example"});
  verdict = decided(analysis);
  EXPECT_EQ(verdict.action, Action::allow);
  EXPECT_TRUE(verdict.grants.empty());
}

TEST_F(Decide, WhatOnlyTheHostCanDoIsRefused) {
  Analysis analysis = analysis_of({call({"mount", "/dev/sdb", "/mnt"}, Risk::dangerous)});
  analysis.needs = {{Need::Kind::elevation, "mount"}};
  const Verdict verdict = decided(analysis);
  EXPECT_EQ(verdict.action, Action::deny);
  EXPECT_TRUE(verdict.needs_host);
}

TEST_F(Decide, AnElevatedPatternMovesOnlyExactlyThatToTheHostAndAsks) {
  settings.defaults.elevated.enabled.value = true;
  settings.defaults.elevated.patterns = {entry("git push *")};
  const Analysis push = analysis_of({call({"git", "push", "origin"}, Risk::normal)});
  EXPECT_EQ(decided(push).where, Where::host);
  EXPECT_EQ(decided(push).action, Action::ask);
  const Analysis both = analysis_of({call({"git", "status"}, Risk::safe), call({"git", "push"}, Risk::normal)});
  EXPECT_EQ(decided(both).where, Where::sandbox);
  EXPECT_EQ(decided(analysis_of({call({"git", "pushx"}, Risk::normal)})).where, Where::sandbox);
  Invocation alias = call({"git", "push"}, Risk::normal);
  alias.uncoverable = "-c alias.push=!sh";
  EXPECT_EQ(decided(analysis_of({alias})).where, Where::sandbox);
  settings.disallowed = {entry("git push")};
  EXPECT_EQ(decided(push).action, Action::deny);
}

TEST_F(Decide, RequiredApprovalAsksAboutSafeCommandsToo) {
  EXPECT_EQ(decided(analysis_of({call({"ls"}, Risk::safe)}), true).action, Action::ask);
}

TEST_F(Decide, WhatWasNotUnderstoodIsNeverCovered) {
  settings.allowed = {entry("prog word")};
  Analysis analysis = analysis_of({call({"prog", "word"}, Risk::dangerous)});
  analysis.understood = false;
  EXPECT_EQ(decided(analysis).action, Action::ask);
}

}  // namespace
}  // namespace cordon::policy
