// Every wrong file: one clear sentence that names the file and, where there is one, the line; nothing is loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/load.h"
#include "config/source_file.h"
#include "config/testing.h"

namespace cordon::config {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Wrong {
  const char* name;
  std::string text;
  std::string begins;  // of the sentence
  std::string holds;
};

std::string refusal(const Room& room) {
  const auto made = load(room.sources());
  if (made) return "accepted";
  EXPECT_THAT(made.error().sentence, Not(HasSubstr("\n")));
  EXPECT_LT(made.error().sentence.size(), 600U);
  return made.error().sentence;
}

std::string sandbox(std::string_view inner) {
  return fmt::format("{{agents: {{defaults: {{sandbox: {{\n{}}}}}}}}}", inner);
}

const Wrong settings_files[] = {
    {"empty", "", ":1:1: ", "expected a value"},
    {"words", "hello", ":1:1: ", "expected a value, found 'h'"},
    {"no comma", "{tools: {}\n policy: {}}", ":2:2: ", "expected ',' or '}'"},
    {"open object", "{tools: {", ":1:10: ", "found the end of the file"},
    {"open string", "{tools: {profile: 'full}}", ":1:19: ", "is not closed"},
    {"open comment", "/* x", ":1:1: ", "not closed by '*/'"},
    {"text after it", "{} {}", ":1:4: ", "expected the end of the file"},
    {"an array", "[]", ":1: ", "expected an object"},
    {"null", "null", ":1: ", "expected an object"},
    {"unknown key", "{\n\n tolls: {}}", ":3: ", "unknown key 'tolls' (did you mean 'tools'?)"},
    {"unknown inner key", sandbox("mdoe: 'all'"), ":2: ", "(did you mean 'mode'?)"},
    {"key twice", "{tools: {},\n tools: {}}", ":2: ", "key 'tools' stands a second time (first in line 1)"},
    {"mode of another type", sandbox("mode: 1"), ":2: ", "is a number; expected all, non-main or off"},
    {"mode unknown", sandbox("mode: 'none'"), ":2: ", "expected all, non-main or off"},
    {"scope unknown", sandbox("scope: 'global'"), ":2: ", "expected session, agent or shared"},
    {"workspace unknown", sandbox("workspace: 'w'"), ":2: ", "expected none, ro or rw"},
    {"backend unknown", sandbox("backend: 'podmn'"), ":2: ", "expected auto, native, docker, gvisor or runc"},
    {"network open", sandbox("network: 'bridge'"), ":2: ", "expected \"none\""},
    {"network of another type", sandbox("network: 5"), ":2: ", "expected an object"},
    {"network address", sandbox("network: {allow: ['10.1']}"), ":2: ", "is an address in another spelling"},
    {"network everything", sandbox("network: {allow: ['*']}"), ":2: ", "would open the whole network"},
    {"network port", sandbox("network: {allow: ['a.example:99999']}"), ":2: ", "has a bad port"},
    {"preset unknown", sandbox("network: {allow: ['preset:gem']}"), ":2: ", "unknown network preset 'gem'"},
    {"limit negative", sandbox("limits: {memory: -5}"), ":2: ", "expected a size"},
    {"limit too large", sandbox("limits: {pids: 1e12}"), ":2: ", "expected a whole number between"},
    {"limit no number", sandbox("limits: {cpus: NaN}"), ":2: ", "expected a number of processors"},
    {"container's time in words", sandbox("docker: {idle: 'soon'}"), ":2: ", "expected a duration such as"},
    {"container that nobody reaches", sandbox("docker: {idle: 0}"), ":2: ", "between 5s and 30d"},
    {"container for ever", sandbox("docker: {age: '1000 days'}"), ":2: ", "between 1m and 30d"},
    {"limit a list", sandbox("limits: []"), ":2: ", "expected an object"},
    {"binds no list", sandbox("binds: {}"), ":2: ", "expected an array"},
    {"bind relative", sandbox("binds: ['x:/x:ro']"), ":2: ", "not an absolute path"},
    {"bind without target", sandbox("binds: ['/srv']"), ":2: ", "not of the form"},
    {"bind mode", sandbox("binds: ['/srv/x:/x:rwx']"), ":2: ", "expected ro or rw"},
    {"bind of /etc", sandbox("binds: ['/etc:/x:ro']"), ":2: ", "is the blocked path \"/etc\""},
    {"bind of everything", sandbox("binds: ['/:/x:ro']"), ":2: ", "is the blocked path \"/\""},
    {"bind of the engine", sandbox("binds: ['/var/run/docker.sock:/x:ro']"), ":2: ", "docker.sock"},
    {"bind on the workspace", sandbox("binds: ['/srv/x:/workspace:ro']"), ":2: ", "is reserved for the workspace"},
    {"tool unknown", "{tools: {allow: ['excc']}}", ":1: ", "unknown tool 'excc' in allow (did you mean 'exec'?)"},
    {"tools no list", "{tools: {deny: 'exec'}}", ":1: ", "expected an array"},
    {"pattern empty", "{tools: {elevated: {patterns: ['  ']}}}", ":1: ", "an entry is empty"},
    {"pattern invisible", "{tools: {elevated: {patterns: ['ls\\u200b']}}}", ":1: ", "nobody would see"},
    {"pattern of two lines", "{tools: {elevated: {patterns: ['ls\\nrm']}}}", ":1: ", "is not one line"},
    {"agent id", "{agents: {entries: {'': {}}}}", ":1: ", "is no agent id"},
    {"NUL", std::string("{\n a\0: 1}", 9), ":2:3: ", "a NUL byte"},
    {"not UTF-8", "{\r\n 'é\xFF': 1}", ":2:4: ", "not valid UTF-8 (byte 0xFF)"},
    {"half a character", "{'\xE2\x82", ":1:3: ", "not valid UTF-8"},
    {"UTF-16", std::string("\xFF\xFE{\0}\0", 6), ":1:1: ", "not valid UTF-8"},
    {"10 MB", std::string(10'000'000, ' '), ": ", "is larger than 1048576 bytes"},
    {"100,000 levels", std::string(100'000, '['), ":1:257: ", "nested deeper than 256 levels"},
    {"a million of one digit", "{a: " + std::string(1'000'000, '1') + "}", ":1: ", "unknown key 'a'"},
    {"a key of a megabyte", "{" + std::string(1'000'000, 'k') + ": 1}", ":1: ", "unknown key 'kkk"},
};

TEST(WrongFiles, InTheUsersSettings) {
  for (const Wrong& one : settings_files) {
    Room room;
    room.write_user_file(one.text);
    const std::string sentence = refusal(room);
    EXPECT_THAT(sentence, StartsWith(room.sources().user_file + one.begins)) << one.name;
    EXPECT_THAT(sentence, HasSubstr(one.holds)) << one.name;
  }
}

TEST(WrongFiles, InTheWorkspacesSettingsTheSame) {
  for (const Wrong& one : settings_files) {
    Room room;
    room.write(".cordon/config.json5", one.text);
    EXPECT_THAT(refusal(room), StartsWith(".cordon/config.json5" + one.begins)) << one.name;
  }
}

TEST(WrongFiles, AreBoundedAlsoWhenTheyAreHostileMarkdown) {
  constexpr std::string_view pieces[] = {
      ">",     "> ",      "[",       "[a]\n",   "[a]: b\n", "[a]:\n",    "![",         "](",     "[a](b",
      "[`",    "*",       "*a",      "a_*",     "**a ",     "`",         "`a ``",      "`a\n",   "<a",
      "<a\n",  "<!--",    "<b \n",   "<p>\n",   "<?",       "<a href='", "&a",         "\\[",    "\r",
      "-",     "+ ",      "1. ",     "1) a\n",  "- x\n",    "=\na\n",    "```\n",      "~~~a",   "|a|\n",
      "# a\n", "    a\n", "- a\n\n", "> - a\n", "a\n",      "http://a ", "<!-- -->\n", "\t- a\n"};
  for (const std::string_view piece : pieces) {
    Room room;
    std::string text = "# Allowed Commands\n";
    // Links are what md4c alone takes quadratic time for; the others need less to show.
    const std::size_t bytes = piece.find('[') == std::string_view::npos ? largest_source / 8 : largest_source;
    while (text.size() + piece.size() <= bytes) text += piece;
    room.write("SANDBOX.md", text);
    const auto made = load(room.sources());
    if (!made) {
      EXPECT_THAT(made.error().sentence, StartsWith("SANDBOX.md:")) << piece;
    }
  }
  Room room;
  std::string many = "# Disallowed Commands\n";
  for (int entry = 0; entry < 20'000; ++entry) many += fmt::format("- a longer entry with number {}\n", entry);
  room.write("SANDBOX.md", many);
  EXPECT_EQ(load(room.sources())->settings.disallowed.size(), 20'000U);
  room.write("SANDBOX.md", many + "- one more\n");
  EXPECT_EQ(refusal(room), "SANDBOX.md:20002: more than 20000 entries under Disallowed Commands");
}

TEST(WrongFiles, SandboxMdBytes) {
  const Wrong cases[] = {
      {"NUL", std::string("# x\n\0", 5), "SANDBOX.md:2:1: ", "a NUL byte"},
      {"not UTF-8", "# x\r\n\r\na\xC0\xAF", "SANDBOX.md:3:2: ", "not valid UTF-8 (byte 0xC0)"},
      {"10 MB", std::string(10'000'000, '#'), "SANDBOX.md: ", "is larger than 1048576 bytes"},
  };
  for (const Wrong& one : cases) {
    Room room;
    room.write("SANDBOX.md", one.text);
    EXPECT_THAT(refusal(room), StartsWith(one.begins)) << one.name;
    EXPECT_THAT(refusal(room), HasSubstr(one.holds)) << one.name;
  }
}

TEST(WrongFiles, SomethingElseInPlaceOfAFile) {
  {
    Room room;
    fs::create_directories(room.workspace() + "/SANDBOX.md");
    EXPECT_EQ(refusal(room), fmt::format("SANDBOX.md: {}/SANDBOX.md is a directory, not a file", room.workspace()));
  }
  {
    Room room;
    fs::create_directories(room.home() + "/.config/cordon/config.json5");
    EXPECT_THAT(refusal(room), HasSubstr("is a directory, not a file"));
  }
  {
    Room room;
    ASSERT_EQ(::mkfifo((room.workspace() + "/SANDBOX.md").c_str(), 0600), 0);
    EXPECT_THAT(refusal(room), HasSubstr("not a file")) << "and it must not wait for a writer";
  }
  {
    Room room;
    fs::create_symlink("/dev/zero", room.workspace() + "/SANDBOX.md");
    EXPECT_THAT(refusal(room), HasSubstr("not a file"));
  }
  {
    Room room;
    fs::create_symlink("SANDBOX.md", room.workspace() + "/SANDBOX.md");
    EXPECT_THAT(refusal(room), StartsWith("SANDBOX.md: "));
  }
}

TEST(WrongFiles, AConfigThatWasNamedMustExist) {
  Room room;
  room.write_extra("x.json5", "{}");
  fs::remove(room.path("x.json5"));
  EXPECT_EQ(refusal(room), fmt::format("{}: no such file (given by --config)", room.path("x.json5")));
}

TEST(WrongFiles, ABindIntoSecretsThroughALinkInTheWorkspace) {
  Room room;
  fs::create_directories(room.home() + "/.ssh");
  fs::create_symlink(room.home() + "/.ssh", room.workspace() + "/keys");
  room.write(".cordon/config.json5", sandbox("binds: ['" + room.workspace() + "/keys/id:/k:ro']"));
  EXPECT_THAT(refusal(room),
              StartsWith(".cordon/config.json5:2: bind \"" + room.workspace() + "/keys/id:/k:ro\" lies inside"));
  EXPECT_THAT(refusal(room), HasSubstr("the blocked path \"" + room.home() + "/.ssh\""));
}

TEST(WrongFilesDeath, AFileThatMayNotBeReadIsAnError) {
  Room room;
  room.write("SANDBOX.md", "# Allowed Commands\n- ls\n");
  fs::permissions(room.path(""), fs::perms::all);
  fs::permissions(room.workspace() + "/SANDBOX.md", fs::perms::none);
  EXPECT_EXIT(
      {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);
        ::_exit(refusal(room).ends_with("Permission denied") ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cordon::config
