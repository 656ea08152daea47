#include "guard/judge.h"

#include <gtest/gtest.h>

namespace cordon::guard {
namespace {

Judgement judged(const std::string& command, const std::vector<std::string>& disallowed) {
  Settings settings;
  for (const std::string& text : disallowed) settings.disallowed.push_back({text, Origin{"SANDBOX.md", 3}});
  const policy::Allowlist allowlist;
  return judge(command, {.settings = settings,
                         .allowlist = allowlist,
                         .place = {.cwd = "/home/me/project",
                                   .workspace = "/home/me/project",
                                   .home = "/home/me",
                                   .user = "me",
                                   .look_at_files = false}});
}

bool denied(const std::string& command, const std::string& entry) {
  const Judgement judgement = judged(command, {entry});
  return judgement.verdict.risk == Risk::disallowed && judgement.verdict.action == Action::deny;
}

TEST(Judge, ADisallowedCommandIsFoundInEveryDisguise) {
  for (const char* command : {"git push",
                              "git push origin main",
                              "g''it push",
                              "\\git pu\"sh\"",
                              "/usr/bin/git push",
                              "./git push",
                              "env git push",
                              "env -i A=1 git push",
                              "git -C x push",
                              "git --no-pager -c a.b=c push",
                              "command git push",
                              "timeout 5 git push",
                              "nice -n 5 env git push",
                              "bash -c 'git push'",
                              "eval 'git push'",
                              "x=push; git $x",
                              "a=git; $a push",
                              "true && git push",
                              "(git push)",
                              "{ git push; }",
                              "echo $(git push)",
                              "ls | git push",
                              "if true; then git push; fi",
                              "f() { git push; }; f",
                              "echo origin | xargs git push",
                              "find . -exec git push \\;",
                              "git \\\npush",
                              "echo Z2l0IHB1c2g= | base64 -d | sh",
                              "sh <<< 'git push'",
                              "GIT_DIR=x git push",
                              "git push; ls )"})
    EXPECT_TRUE(denied(command, "git push")) << command;
}

TEST(Judge, TextThatOnlyNamesADisallowedCommandIsNotIt) {
  for (const char* command :
       {"echo \"git push\"", "grep -rn 'git push' docs", "git commit -m 'then git push'",
        "printf '%s\\n' 'git push' >> notes.md", "cat <<'E' > notes.md\ngit push\nE", "git stash # git push",
        "git pull", "git pushx", "gitx push", "ls git push", "echo git push", "man git-push"})
    EXPECT_FALSE(denied(command, "git push")) << command;
}

TEST(Judge, ADisallowedCommandIsFoundWithItsWordsInAnyOrderAndSpelling) {
  for (const char* command :
       {"rm -rf x", "rm -fr x", "rm -r -f x", "rm --recursive --force x", "rm x -rf", "rm -r x --force"})
    EXPECT_TRUE(denied(command, "rm -rf")) << command;
  for (const char* command : {"rm -r x", "rm -f x", "rm x", "rmdir -rf x"})
    EXPECT_FALSE(denied(command, "rm -rf")) << command;
}

}  // namespace
}  // namespace cordon::guard
