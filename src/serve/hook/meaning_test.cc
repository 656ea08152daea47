#include "serve/hook/meaning.h"

#include <gtest/gtest.h>

#include "serve/hook/dialect.h"

namespace cordon::serve::hook {
namespace {

struct Case {
  const char* agent;
  const char* tool;
  const char* input;
  const char* means;
  Touch touch;
  std::vector<std::string> paths;
};

TEST(Meaning, OfEachAgentsTools) {
  const std::vector<Case> table = {
      {"claude-code", "Bash", R"({"command":"ls"})", "exec", Touch::commands, {}},
      {"claude-code", "MultiEdit", R"({"file_path":"/a"})", "edit", Touch::writes, {"/a"}},
      {"claude-code", "NotebookEdit", R"({"notebook_path":"n"})", "edit", Touch::writes, {"n"}},
      {"claude-code", "Grep", R"({"pattern":"x","path":"p"})", "read", Touch::searches, {"p"}},
      {"claude-code", "TodoWrite", R"({})", "", Touch::nothing, {}},
      {"claude-code", "mcp__cordon__sandbox_exec", R"({})", "", Touch::nothing, {}},
      {"claude-code", "mcp__files__write", R"({"path":"/x"})", "mcp__files__write", Touch::writes, {"/x"}},
      {"codex", "exec_command", R"({"cmd":"ls"})", "exec", Touch::commands, {}},
      {"codex",
       "apply_patch",
       R"({"input":"*** Add File: a\n+x\n*** Move to: b\n"})",
       "apply_patch",
       Touch::writes,
       {"a", "b"}},
      {"gemini", "replace", R"({"file_path":"f"})", "edit", Touch::writes, {"f"}},
      {"gemini", "read_many_files", R"({"paths":["a","b"]})", "read", Touch::searches, {"a", "b"}},
      {"cursor", "beforeShellExecution", R"({"command":"ls"})", "exec", Touch::commands, {}},
      {"openclaw", "bash", R"({"command":"ls"})", "exec", Touch::commands, {}},
      {"openclaw", "write", R"({"path":"f"})", "write", Touch::writes, {"f"}},
      {"gemini", "new_shell", R"({"command":"ls"})", "exec", Touch::commands, {}},
      {"gemini", "Read", R"({"url":"x"})", "read", Touch::nothing, {}},
  };
  for (const Case& one : table) {
    const Meaning meaning = meaning_of(one.agent, one.tool, parse_json(one.input));
    EXPECT_EQ(meaning.tool, one.means) << one.agent << ' ' << one.tool;
    EXPECT_EQ(meaning.touch, one.touch) << one.agent << ' ' << one.tool;
    EXPECT_EQ(meaning.paths, one.paths) << one.agent << ' ' << one.tool;
  }
}

TEST(Dialect, ABlockIsANoInEveryAgentsWords) {
  for (const Dialect& dialect : dialects()) {
    const Printed printed = print_blocked(dialect, "broken");
    EXPECT_EQ(printed.exit_code, 2) << dialect.agent;
    EXPECT_NE(printed.err.find("broken"), std::string::npos) << dialect.agent;
    const bool no =
        printed.out.find("\"deny\"") != std::string::npos || printed.out.find("\"block\":true") != std::string::npos;
    EXPECT_TRUE(no) << dialect.agent << printed.out;
  }
}

TEST(Dialect, CodexIsNeverToldABareAllow) {
  const Dialect* codex = find_dialect("codex");
  EXPECT_EQ(codex->write({}, {.kind = Said::Kind::allow, .reason = "x"}), Json::object());
  EXPECT_EQ(codex->write({}, {.kind = Said::Kind::pass}), Json::object());
}

}  // namespace
}  // namespace cordon::serve::hook
