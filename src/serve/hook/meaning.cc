#include "serve/hook/meaning.h"

#include <array>

#include "base/text.h"

namespace cordon::serve::hook {

namespace {

struct Row {
  std::string_view agent;  // empty: any
  std::string_view tools;  // of the agent, in lower case
  std::string_view means;  // empty: harmless in itself
  Touch touch;
  std::string_view keys;  // of the input that hold a path or a list of paths; "*patch" holds a patch
};

// The names of the versions in docs/agents.md. A row of the agent's own comes before one of any agent.
constexpr std::array<Row, 31> rows = {{
    {"claude-code", "bash", "exec", Touch::commands, ""},
    {"claude-code", "read notebookread", "read", Touch::reads, "file_path notebook_path"},
    {"claude-code", "glob ls", "read", Touch::reads, "path"},
    {"claude-code", "grep", "read", Touch::searches, "path"},
    {"claude-code", "write", "write", Touch::writes, "file_path"},
    {"claude-code", "edit multiedit notebookedit", "edit", Touch::writes, "file_path notebook_path"},
    {"claude-code", "webfetch", "web_fetch", Touch::nothing, ""},
    {"claude-code", "websearch", "web_search", Touch::nothing, ""},
    {"claude-code", "task agent workflow", "sessions_spawn", Touch::nothing, ""},
    {"claude-code",
     "bashoutput killshell killbash taskoutput taskstop todowrite exitplanmode enterplanmode askuserquestion skill "
     "slashcommand toolsearch listagents reportfindings schedulewakeup",
     "", Touch::nothing, ""},
    {"codex", "bash shell local_shell exec_command shell_command container.exec", "exec", Touch::commands, ""},
    {"codex", "apply_patch", "apply_patch", Touch::writes, "*patch"},
    {"codex", "view_image", "view_image", Touch::reads, "path"},
    {"codex", "read_file list_dir", "read", Touch::reads, "file_path dir_path path"},
    {"codex", "grep_files", "read", Touch::searches, "path"},
    {"codex", "update_plan write_stdin request_user_input", "", Touch::nothing, ""},
    {"gemini", "run_shell_command", "exec", Touch::commands, ""},
    {"gemini", "read_file list_directory glob", "read", Touch::reads, "absolute_path file_path path dir_path"},
    {"gemini", "grep_search search_file_content read_many_files", "read", Touch::searches,
     "path dir_path paths include"},
    {"gemini", "write_file", "write", Touch::writes, "file_path"},
    {"gemini", "replace", "edit", Touch::writes, "file_path"},
    {"gemini", "google_web_search", "web_search", Touch::nothing, ""},
    {"gemini", "invoke_agent", "sessions_spawn", Touch::nothing, ""},
    {"gemini", "update_topic list_background_processes read_background_output enter_plan_mode exit_plan_mode", "",
     Touch::nothing, ""},
    {"cursor", "beforeshellexecution shell", "exec", Touch::commands, ""},
    {"cursor", "beforereadfile beforetabfileread read glob ls", "read", Touch::reads,
     "file_path path target_file target_directory"},
    {"cursor", "grep", "read", Touch::searches, "path target_directory"},
    {"cursor", "write edit delete strreplace multiedit", "write", Touch::writes, "file_path path target_file"},
    {"openclaw", "exec bash", "exec", Touch::commands, ""},
    {"openclaw", "read ls view_image pdf", "", Touch::reads, "path file_path file"},
    {"openclaw", "write edit", "", Touch::writes, "path file_path"},
}};

bool is_word_of(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::string_view one = words.substr(0, words.find(' '));
    if (one == word) return true;
    words.remove_prefix(std::min(words.size(), one.size() + 1));
  }
  return false;
}

void add_path(const Json& value, std::vector<std::string>& paths) {
  if (value.is_string() && !value.get_ref<const std::string&>().empty()) paths.push_back(value.get<std::string>());
  if (!value.is_array()) return;
  for (const Json& one : value) {
    if (one.is_string()) paths.push_back(one.get<std::string>());
  }
}

/// The files that a patch of Codex names.
void add_patched(const Json& input, std::vector<std::string>& paths) {
  for (const auto& [key, value] : input.items()) {
    if (!value.is_string()) continue;
    for (std::string_view rest = value.get_ref<const std::string&>(); !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      for (const std::string_view head :
           {"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}) {
        const std::string_view bare = trim(line);
        if (bare.starts_with(trim(head))) paths.emplace_back(trim(bare.substr(trim(head).size())));
      }
    }
  }
}

std::vector<std::string> paths_in(const Json& input, std::string_view keys) {
  std::vector<std::string> paths;
  if (!input.is_object()) return paths;
  if (keys == "*patch") {
    add_patched(input, paths);
    return paths;
  }
  for (const auto& [key, value] : input.items()) {
    if (is_word_of(keys, key)) add_path(value, paths);
  }
  return paths;
}

constexpr std::string_view usual_keys =
    "path paths file file_path filepath absolute_path target_file destination source";

}  // namespace

Meaning meaning_of(std::string_view agent, std::string_view tool, const Json& input) {
  const std::string name = to_lower(trim(tool));
  for (const Row& row : rows) {
    if (row.agent != agent || !is_word_of(row.tools, name)) continue;
    Meaning meaning{.tool = std::string(row.means), .touch = row.touch, .paths = paths_in(input, row.keys)};
    // OpenClaw's names are those of tool policy.
    if (agent == "openclaw" && meaning.tool.empty()) meaning.tool = name;
    return meaning;
  }
  // Cordon's own tools judge for themselves.
  if (name.starts_with("mcp__cordon__") || name.starts_with("mcp_cordon_")) return {};
  // A shell by a name that is new to us is a shell all the same.
  const bool is_server = name.starts_with("mcp_") || agent == "openclaw";
  if (!is_server && input.is_object() && (input.contains("command") || input.contains("cmd"))) {
    return {.tool = "exec", .touch = Touch::commands, .paths = {}};
  }
  Meaning meaning{.tool = name, .touch = Touch::nothing, .paths = paths_in(input, usual_keys)};
  if (agent == "openclaw" && name == "apply_patch") meaning.paths = paths_in(input, "*patch");
  if (!meaning.paths.empty()) meaning.touch = Touch::writes;
  return meaning;
}

}  // namespace cordon::serve::hook
