#include "model/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace cordon {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

ToolSettings policy(ToolProfile profile, std::vector<std::string> allow, std::vector<std::string> deny) {
  ToolSettings made;
  made.profile.value = profile;
  for (const std::string& name : allow) made.allow.push_back({name, {}});
  for (const std::string& name : deny) made.deny.push_back({name, {}});
  return made;
}

TEST(ToolPolicy, ProfilesHaveTheDocumentedTools) {
  EXPECT_THAT(effective_tools(policy(ToolProfile::coding, {}, {})),
              ElementsAre("read", "write", "edit", "exec", "browser"));
  EXPECT_THAT(effective_tools(policy(ToolProfile::messaging, {}, {})),
              ElementsAre("message", "web_search", "web_fetch"));
  EXPECT_THAT(effective_tools(policy(ToolProfile::minimal, {}, {})), ElementsAre("web_search"));
  EXPECT_EQ(effective_tools(policy(ToolProfile::full, {}, {})).size(), known_tools().size());
}

TEST(ToolPolicy, AllowBringsBackWhatTheProfileLeavesOut) {
  EXPECT_THAT(effective_tools(policy(ToolProfile::coding, {"web_search"}, {"browser", "group:automation", "cron"})),
              ElementsAre("read", "write", "edit", "exec", "web_search"));
}

TEST(ToolPolicy, DenyIsAbsolute) {
  EXPECT_THAT(effective_tools(policy(ToolProfile::full, {"exec", "group:runtime", "*"}, {"exec"})),
              Not(Contains("exec")));
  EXPECT_THAT(effective_tools(policy(ToolProfile::full, {"exec"}, {"*"})), IsEmpty());
}

TEST(ToolPolicy, GroupsMeanTheDocumentedToolsWhenAllowed) {
  EXPECT_THAT(effective_tools(policy(ToolProfile::minimal, {"group:fs"}, {})),
              ElementsAre("read", "write", "edit", "web_search"));
  EXPECT_THAT(effective_tools(policy(ToolProfile::minimal, {"group:media"}, {})),
              ElementsAre("web_search", "image", "tts"));
}

TEST(ToolPolicy, GroupsMeanAlsoOpenClawsToolsWhenDenied) {
  const auto left = effective_tools(policy(ToolProfile::full, {}, {"group:fs"}));
  for (const char* tool : {"read", "write", "edit", "ls", "apply_patch"}) EXPECT_THAT(left, Not(Contains(tool)));
}

TEST(ToolPolicy, NamesIgnoreCaseAndKnowOpenClawsSpellings) {
  EXPECT_THAT(effective_tools(policy(ToolProfile::coding, {}, {"EXEC", "Browser"})),
              ElementsAre("read", "write", "edit"));
  EXPECT_FALSE(has_tool(policy(ToolProfile::full, {}, {"Bash"}), "exec"));
  EXPECT_FALSE(has_tool(policy(ToolProfile::full, {}, {"cron"}), "automations"));
  EXPECT_FALSE(has_tool(policy(ToolProfile::full, {}, {"write"}), "apply_patch"));
}

TEST(ToolPolicy, AStarMatchesAnyRunOfCharactersAndNothingElseIsSpecial) {
  const auto left = effective_tools(policy(ToolProfile::full, {}, {"web_*", "*_generate"}));
  EXPECT_THAT(left, Not(Contains("web_search")));
  EXPECT_THAT(left, Not(Contains("music_generate")));
  EXPECT_THAT(left, Contains("read"));
  EXPECT_TRUE(has_tool(policy(ToolProfile::full, {}, {"rea?", "rea[d]", "rea."}), "read"));
}

TEST(ToolPolicy, AToolNobodyKnowsNeedsFullOrItsOwnAllow) {
  EXPECT_TRUE(has_tool(policy(ToolProfile::full, {}, {}), "my_plugin"));
  EXPECT_FALSE(has_tool(policy(ToolProfile::coding, {}, {}), "my_plugin"));
  EXPECT_TRUE(has_tool(policy(ToolProfile::coding, {"my_*"}, {}), "my_plugin"));
  EXPECT_FALSE(has_tool(policy(ToolProfile::full, {}, {"my_plugin"}), "My_Plugin"));
}

TEST(ToolPolicy, AnAgentThatNoFileNamesHasTheDefaults) {
  Settings settings;
  settings.defaults.tools = policy(ToolProfile::minimal, {}, {});
  settings.agents["work"].tools = policy(ToolProfile::messaging, {}, {"message"});
  EXPECT_THAT(effective_tools(settings, "other"), ElementsAre("web_search"));
  EXPECT_THAT(effective_tools(settings, "work"), ElementsAre("web_search", "web_fetch"));
}

TEST(ToolPolicy, OnlyTheAgentsOwnMainSessionIsMain) {
  EXPECT_TRUE(is_main_session("agent:main:main", "main"));
  EXPECT_FALSE(is_main_session("agent:main:main", "work"));
  EXPECT_FALSE(is_main_session("agent:main:telegram:group:-100123", "main"));
}

}  // namespace
}  // namespace cordon
