#include "config/sandbox_md.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing.h"

namespace cordon::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Read {
  std::vector<std::string> said;  // "line key = value"
  std::vector<std::string> warnings;
  std::string error;
};

Read read(std::string_view text) {
  static const Surroundings around{"/work", "/home/someone", BindRules::create("/home/someone", {}, {})};
  std::vector<Remark> remarks;
  const auto changes = read_sandbox_md(text, "SANDBOX.md", around, remarks);
  Read made;
  for (const Remark& remark : remarks) made.warnings.push_back(remark.sentence);
  if (!changes) {
    made.error = changes.error().sentence;
    return made;
  }
  for (const Change& change : *changes) {
    const auto say = [&](int line, const std::string& value) {
      made.said.push_back(fmt::format("{} {} = {}", line, change.field->key, value));
    };
    if (!is_list(change.field->form)) say(change.origin.line, shown(*change.field, change.scalar));
    for (const Item& item : change.items) say(item.origin().line, item.text());
  }
  return made;
}

TEST(SandboxMd, ReadsTheDocumentedExampleWithEveryLine) {
  const Read made = read(Room::data("SANDBOX.md"));
  EXPECT_EQ(made.error, "");
  EXPECT_THAT(made.warnings, IsEmpty());
  EXPECT_THAT(
      made.said,
      ElementsAre("4 policy.level = allowlist", "7 policy.allowed = ls", "8 policy.allowed = pwd",
                  "9 policy.allowed = cat", "10 policy.allowed = echo", "11 policy.allowed = grep",
                  "12 policy.allowed = rg", "13 policy.allowed = node --version", "14 policy.allowed = npm list",
                  "17 policy.dangerous = rm -rf", "18 policy.dangerous = dd if=", "19 policy.dangerous = mkfs",
                  "20 policy.dangerous = sudo", "21 policy.dangerous = chmod 777", "22 policy.dangerous = *",
                  "25 policy.disallowed = curl http://", "26 policy.disallowed = wget http://",
                  "27 policy.disallowed = nc -l", "28 policy.disallowed = bash -c", "29 policy.disallowed = eval",
                  "32 policy.autoApproveSafe = true", "33 policy.dryRun = false", "34 policy.auditRetention = 30d"));
}

TEST(SandboxMd, ReadsTheSameWithCarriageReturnsAndAByteOrderMark) {
  const std::string plain = Room::data("SANDBOX.md");
  std::string windows = "\xEF\xBB\xBF", old;
  for (const char c : plain) {
    windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    old += c == '\n' ? '\r' : c;
  }
  EXPECT_EQ(read(windows).said, read(plain).said);
  EXPECT_EQ(read(old).said, read(plain).said);
}

TEST(SandboxMd, KeepsEntriesExactlyAsWritten) {
  const Read made = read(
      "## Dangerous Patterns\n- *\n* *\n+ *\n1. rm *.o *.a\n- foo*bar*baz\n- __init__\n- a <dir> b\n- [x](y)\n- * rm\n"
      "- `git push *`\n- `` a`b ``\n- `rm -rf` — never\n- \\*\n- echo &amp;\n- # x\n- > y\n- find -exec rm {} \\;\n- "
      "rm   -r\n");
  EXPECT_EQ(made.error, "");
  std::vector<std::string> texts;
  for (const std::string& said : made.said) texts.push_back(said.substr(said.find('=') + 2));
  EXPECT_THAT(texts, ElementsAre("*", "*", "*", "rm *.o *.a", "foo*bar*baz", "__init__", "a <dir> b", "[x](y)", "* rm",
                                 "git push *", "a`b", "rm -rf", "*", "echo &amp;", "# x", "> y", "find -exec rm {} \\;",
                                 "rm   -r"));
}

TEST(SandboxMd, FindsSectionsAtAnyHeadingLevelAndStyle) {
  const Read made = read(
      "Security Level\n==============\nLevel: deny\n\nallowed commands (these run)\n---\n- ls\n\n"
      "#### LIMITS ####\n**Time:** 5s\n- **Memory**: `512M`\n\n###### Network:\n- a.example\n");
  EXPECT_EQ(made.error, "");
  EXPECT_THAT(made.warnings, IsEmpty());
  EXPECT_THAT(made.said, ElementsAre("3 policy.level = deny", "7 policy.allowed = ls", "10 sandbox.limits.timeMs = 5s",
                                     "11 sandbox.limits.memory = 512 MiB", "14 sandbox.network.allow = a.example"));
}

TEST(SandboxMd, ReadsQuantitiesAsPeopleWriteThem) {
  const Read made = read(
      "# Limits\nTime: 10 min\nMemory: 1 GiB\nProcesses: 1,000\nOutput: 64k\nDisk: 1.5g\nCPU: 0.5\n"
      "Connections: 8\nNetwork bytes: 1 MiB\nConnection time: 2 min\n"
      "# Approval Settings\nPreview: off\nAudit retention: 30 days\nApproval expiry: 15 minutes\nqueue limit: 10\n"
      "AUTO-APPROVE SAFE: no\nOn audit failure: continue\n");
  EXPECT_EQ(made.error, "");
  EXPECT_THAT(
      made.said,
      ElementsAre("2 sandbox.limits.timeMs = 10m", "3 sandbox.limits.memory = 1 GiB", "4 sandbox.limits.pids = 1000",
                  "5 sandbox.limits.output = 64 KiB", "6 sandbox.limits.disk = 1536 MiB", "7 sandbox.limits.cpus = 0.5",
                  "8 sandbox.network.limits.connections = 8", "9 sandbox.network.limits.bytes = 1 MiB",
                  "10 sandbox.network.limits.timeMs = 2m", "12 policy.preview = off", "13 policy.auditRetention = 30d",
                  "14 policy.approvalExpiry = 15m", "15 policy.queueLimit = 10", "16 policy.autoApproveSafe = false",
                  "17 policy.onAuditFailure = continue"));
}

TEST(SandboxMd, ReadsNetworkAndFilesystem) {
  const Read made = read(
      "# Network\n- API.Example.com:443\n- *.example.org\n- preset:npm\n- none\n"
      "# Filesystem\n- secrets: none\n- `./docs`: ro\n- /srv/share: rw\n- ~/data: ro\n");
  EXPECT_EQ(made.error, "");
  EXPECT_THAT(made.said,
              ElementsAre("2 sandbox.network.allow = api.example.com:443", "3 sandbox.network.allow = *.example.org",
                          "4 sandbox.network.allow = preset:npm", "7 policy.filesystem = /work/secrets: none",
                          "8 policy.filesystem = /work/docs: ro", "9 policy.filesystem = /srv/share: rw",
                          "10 policy.filesystem = /home/someone/data: ro"));
}

TEST(SandboxMd, WhatAReaderOfThePageDoesNotSeeDoesNotCount) {
  const Read made = read("# Allowed Commands\n<!-- only these\n- rm\n-->\n- ls <!-- not: - dd -->\n");
  EXPECT_EQ(made.error, "");
  EXPECT_THAT(made.said, ElementsAre("5 policy.allowed = ls"));
  EXPECT_THAT(made.warnings, IsEmpty());
}

TEST(SandboxMd, CodeQuotesAndHtmlAreNotReadAndSaidSo) {
  const Read made =
      read("# Disallowed Commands\n```\n- rm\n- dd\n```\n\n> - nc\n\n<div>\n- x\n</div>\n\nplain words\n");
  EXPECT_THAT(made.said, IsEmpty());
  EXPECT_THAT(made.warnings,
              ElementsAre("SANDBOX.md:3: a code block under Disallowed Commands is not read",
                          "SANDBOX.md:7: a quotation under Disallowed Commands is not read",
                          "SANDBOX.md:9: HTML under Disallowed Commands is not read",
                          "SANDBOX.md:13: text outside a list is not read as an entry of Disallowed Commands (begin "
                          "the line with '- ')"));
}

TEST(SandboxMd, AnUnknownSectionIsAWarningAndATitleIsNot) {
  const Read made = read("# Our rules\n\nSome prose.\n\n## Dissallowed Commands\n- rm\n\n## Notes\n");
  EXPECT_EQ(made.error, "");
  EXPECT_THAT(made.warnings,
              ElementsAre("SANDBOX.md:5: unknown section 'Dissallowed Commands' is not read (did you mean "
                          "'Disallowed Commands'?)",
                          "SANDBOX.md:8: unknown section 'Notes' is not read"));
}

struct Wrong {
  std::string_view text;
  std::string_view error;
};

TEST(SandboxMd, EveryErrorNamesTheLineAndWhatWasExpected) {
  const std::string long_path = "# Filesystem\n- /usr/" + std::string(300, 'x') + ": ro\n";
  const std::string long_path_error = fmt::format("SANDBOX.md:2: filesystem path '/usr/{0}…' (305 bytes): \"/usr/{1}",
                                                  std::string(75, 'x'), std::string(194, 'x'));
  const Wrong cases[] = {
      {"## Security Level\n\nLevle: ask\n",
       "SANDBOX.md:3: unknown key 'Levle' under Security Level (did you mean 'Level'?)"},
      {"# Security Level\nLevel: allowlst\n",
       "SANDBOX.md:2: Level is 'allowlst'; expected deny, allowlist, ask or full (did you mean 'allowlist'?)"},
      {"# Security Level\nLevel: ask\n- Level: full\n", "SANDBOX.md:3: Level is already set in line 2"},
      {"# Security Level\nLevel:\n", "SANDBOX.md:2: Level is ''; expected deny, allowlist, ask or full"},
      {"# Security Level\n- ask\n", "SANDBOX.md:2: expected 'Key: value' under Security Level"},
      {"Level: deny\n", "SANDBOX.md:1: 'Level' stands outside its section 'Security Level'"},
      {"# Security Level\nLevel: deny\n---\n",
       "SANDBOX.md:2: 'Level: deny' has become a heading (by the line of dashes below it?); put a blank line between"},
      {"# Allowed Commands\n- ls\n  -la\n", "SANDBOX.md:3: an entry goes on over a second line; write it on one"},
      {"# Allowed Commands\n- npm\n  - list\n",
       "SANDBOX.md:3: an entry inside another entry; every entry stands by itself"},
      {"# Dangerous Patterns\n- npm\n    - *\n",
       "SANDBOX.md:3: an entry inside another entry; every entry stands by itself"},
      {"# Allowed Commands\n-\n", "SANDBOX.md:2: an entry is empty"},
      {"# Allowed Commands\n- `ls\n", "SANDBOX.md:2: the backtick of '`ls' is not closed"},
      {"# Allowed Commands\n- `ls` -la\n",
       "SANDBOX.md:2: '`ls` -la' has text after the backticks; put all of the entry inside them"},
      {"# Allowed Commands\n- ls\xE2\x80\xAE\n",
       "SANDBOX.md:2: entry 'ls\\u{202e}' holds a character that nobody would see (\\u{202e}: text-direction "
       "character)"},
      {"# Limits\nTime: soon\n",
       "SANDBOX.md:2: Time is 'soon'; expected a duration such as 60s, 15 minutes or 30 days, between 1ms and 30d"},
      {"# Limits\nTime: 60\n",
       "SANDBOX.md:2: Time is '60'; expected a duration such as 60s, 15 minutes or 30 days, between 1ms and 30d"},
      {"# Limits\nMemory: 1k\n",
       "SANDBOX.md:2: Memory is '1k'; expected a size such as 512M or 1 GiB, between 1 MiB and 64 TiB"},
      {"# Limits\nProcesses: -1\n", "SANDBOX.md:2: Processes is '-1'; expected a whole number between 1 and 4194304"},
      {"# Limits\nCPU: nan\n", "SANDBOX.md:2: CPU is 'nan'; expected a number of processors between 0.01 and 4096"},
      {"# Approval Settings\nDry-run by default: maybe\n",
       "SANDBOX.md:2: Dry-run by default is 'maybe'; expected true or false"},
      {"# Network\n- https://x.example/\n",
       "SANDBOX.md:2: network entry 'https://x.example/' is not a bare domain; expected a domain, domain:port or "
       "preset:NAME"},
      {"# Network\n- x.example:0\n",
       "SANDBOX.md:2: network entry 'x.example:0' has a bad port; expected a domain, domain:port or preset:NAME"},
      {"# Network\n- 2852039166\n",
       "SANDBOX.md:2: network entry '2852039166' is an address in another spelling than 192.0.2.1 or [2001:db8::1]; "
       "expected a domain, domain:port or preset:NAME"},
      {"# Network\n- *\n",
       "SANDBOX.md:2: network entry '*' would open the whole network; expected a domain, domain:port or preset:NAME"},
      {"# Network\n- *.com\n",
       "SANDBOX.md:2: network entry '*.com' would open a whole top-level domain; expected a domain, domain:port or "
       "preset:NAME"},
      {"# Network\n- preset:nmp\n",
       "SANDBOX.md:2: unknown network preset 'nmp'; expected npm, pip, apt, cargo or git (did you mean 'npm'?)"},
      {"# Filesystem\n- /srv: readonly\n",
       "SANDBOX.md:2: filesystem entry '/srv: readonly' is not of the form 'path: ro', 'path: rw' or 'path: none'"},
      {"# Filesystem\n- ~/.ssh: ro\n",
       "SANDBOX.md:2: filesystem path '/home/someone/.ssh' is the blocked path \"/home/someone/.ssh\"; name a "
       "directory "
       "that holds no secrets"},
      {long_path, long_path_error},
      {"# Filesystem\n- ~other/x: ro\n",
       "SANDBOX.md:2: filesystem path '~other/x' names another user's home; write it out"},
  };
  for (const Wrong& one : cases) EXPECT_EQ(read(one.text).error, one.error) << one.text;
}

TEST(SandboxMd, APathThatIsClosedNeedsNoCheck) {
  EXPECT_EQ(read("# Filesystem\n- /etc: none\n- ~/.ssh: none\n").error, "");
}

}  // namespace
}  // namespace cordon::config
