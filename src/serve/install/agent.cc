#include "serve/install/agent.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "serve/install/skill.h"

namespace cordon::serve::install {

namespace {

/// A hook may wait for nothing, but the command that it hands on may wait for a person.
std::int64_t timeout_s(const Facts& facts) { return facts.approval_expiry_ms / 1000 + 60; }

constexpr std::string_view guard_head = "/bin/sh -c 'answer=$(\"$0\" hook ";

/// Most agents go on when a hook is not there, crashes, is killed or says nothing; all of them take exit code 2 with a
/// word on stderr for a no. So a shell, which is always there, asks Cordon and turns all that into one.
std::string hook_command(const Facts& facts, std::string_view agent) {
  return std::string(guard_head) + std::string(agent) +
         ") && [ -n \"$answer\" ] && printf %s \"$answer\" && exit 0; "
         "echo \"Cordon did not answer, so this is not done. Tell the user to run: cordon doctor\" >&2; exit 2' " +
         shell_word(facts.program);
}

bool is_ours(const Json& hook) {
  if (!hook.is_object() || !hook.contains("command") || !hook["command"].is_string()) return false;
  const std::string command = hook["command"].get<std::string>();
  if (command.starts_with(guard_head)) return true;
  // As earlier versions wrote it.
  const std::size_t verb = command.find(" hook ");
  if (verb == std::string::npos) return false;
  std::string program = command.substr(0, verb);
  if (program.ends_with('\'')) program.pop_back();
  return program.ends_with("/cordon");
}

/// From a list of groups of hooks, or of hooks: what is ours, and what is empty then.
void remove_hooks(Json& list) {
  if (!list.is_array()) return;
  Json kept = Json::array();
  for (Json& item : list) {
    if (is_ours(item)) continue;
    if (item.is_object() && item.contains("hooks") && item["hooks"].is_array()) {
      const std::size_t before = item["hooks"].size();
      remove_hooks(item["hooks"]);
      if (item["hooks"].empty() && before > 0) continue;
    }
    kept.push_back(std::move(item));
  }
  list = std::move(kept);
}

void remove_all_hooks(Json& file) {
  if (!file.contains("hooks") || !file["hooks"].is_object()) return;
  std::vector<std::string> empty;
  for (auto& [event, list] : file["hooks"].items()) {
    const bool had = list.is_array() && !list.empty();
    remove_hooks(list);
    if (had && list.empty()) empty.push_back(event);
  }
  for (const std::string& event : empty) file["hooks"].erase(event);
  if (file["hooks"].empty()) file.erase("hooks");
}

void remove_server(Json& file) {
  if (!file.contains("mcpServers") || !file["mcpServers"].is_object()) return;
  file["mcpServers"].erase("cordon");
  if (file["mcpServers"].empty()) file.erase("mcpServers");
}

Json server(const Facts& facts, std::string_view agent) {
  Json arguments = {"mcp", "--agent", std::string(agent)};
  if (facts.scope == Scope::project) {
    arguments.push_back("--workspace");
    arguments.push_back(facts.workspace);
  }
  return {{"command", facts.program}, {"args", std::move(arguments)}};
}

void remove_hooks_and_server(Json& file) {
  remove_all_hooks(file);
  remove_server(file);
}

// Claude Code: settings.json and, for servers, .mcp.json or ~/.claude.json.

void add_claude_hook(Json& file, const Facts& facts) {
  file["hooks"]["PreToolUse"].push_back({{"matcher", "*"},
                                         {"hooks",
                                          {{{"type", "command"},
                                            {"command", hook_command(facts, "claude-code")},
                                            {"timeout", timeout_s(facts)},
                                            {"onFailure", "block"}}}}});
}

void add_claude_server(Json& file, const Facts& facts) { file["mcpServers"]["cordon"] = server(facts, "claude-code"); }

std::vector<Edit> claude_edits(const Facts& facts) {
  const bool user = facts.scope == Scope::user;
  return {{facts.root() + "/.claude/settings.json", add_claude_hook, remove_all_hooks},
          {facts.root() + (user ? "/.claude.json" : "/.mcp.json"), add_claude_server, remove_server}};
}

std::vector<OwnFile> claude_files(const Facts& facts) {
  return {{facts.root() + "/.claude/skills/cordon/SKILL.md", skill_text(facts.program)}};
}

// Codex: hooks.json. Its servers stand in a TOML file, which is the user's to edit.

void add_codex_hook(Json& file, const Facts& facts) {
  file["hooks"]["PreToolUse"].push_back({{"matcher", ".*"},
                                         {"hooks",
                                          {{{"type", "command"},
                                            {"command", hook_command(facts, "codex")},
                                            {"timeout", timeout_s(facts)},
                                            {"statusMessage", "Cordon"}}}}});
}

std::vector<Edit> codex_edits(const Facts& facts) {
  return {{facts.root() + "/.codex/hooks.json", add_codex_hook, remove_all_hooks}};
}

std::vector<OwnFile> shared_skill(const Facts& facts) {
  return {{facts.root() + "/.agents/skills/cordon/SKILL.md", skill_text(facts.program)}};
}

// Gemini CLI: one settings.json for both. Its times are milliseconds.

void add_gemini(Json& file, const Facts& facts) {
  file["hooks"]["BeforeTool"].push_back({{"matcher", ".*"},
                                         {"hooks",
                                          {{{"type", "command"},
                                            {"name", "cordon"},
                                            {"command", hook_command(facts, "gemini")},
                                            {"timeout", timeout_s(facts) * 1000}}}}});
  file["mcpServers"]["cordon"] = server(facts, "gemini");
}

std::vector<Edit> gemini_edits(const Facts& facts) {
  return {{facts.root() + "/.gemini/settings.json", add_gemini, remove_hooks_and_server}};
}

// Cursor: hooks.json and mcp.json.

void add_cursor_hook(Json& file, const Facts& facts) {
  if (!file.contains("version")) file["version"] = 1;
  for (const char* event : {"beforeShellExecution", "beforeReadFile", "beforeMCPExecution", "preToolUse"}) {
    file["hooks"][event].push_back(
        {{"command", hook_command(facts, "cursor")}, {"timeout", timeout_s(facts)}, {"failClosed", true}});
  }
}

void add_cursor_server(Json& file, const Facts& facts) { file["mcpServers"]["cordon"] = server(facts, "cursor"); }

std::vector<Edit> cursor_edits(const Facts& facts) {
  return {{facts.root() + "/.cursor/hooks.json", add_cursor_hook, remove_all_hooks},
          {facts.root() + "/.cursor/mcp.json", add_cursor_server, remove_server}};
}

// OpenClaw: a plugin that asks the hook, and a skill.

std::vector<Edit> no_edits(const Facts&) { return {}; }

std::vector<OwnFile> openclaw_files(const Facts& facts) {
  const std::string base = facts.scope == Scope::user ? facts.home + "/.openclaw" : facts.workspace;
  const std::string plugin =
      base + (facts.scope == Scope::user ? "/extensions/cordon" : "/.openclaw/extensions/cordon");
  return {{base + "/skills/cordon/SKILL.md", skill_text(facts.program)},
          {plugin + "/openclaw.plugin.json", openclaw_manifest()},
          {plugin + "/index.js", openclaw_plugin(facts.program)}};
}

const std::array<Agent, 5> table = {{
    {.name = "claude-code",
     .edits = claude_edits,
     .files = claude_files,
     .probe =
         R"({"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf / --no-preserve-root"}})",
     .notes =
         {"Restart Claude Code; /hooks shows what is in force. --dangerously-skip-permissions does not skip hooks.",
          "A hook that is killed together with its shell, or that Claude Code ends by its own time, blocks too "
          "(onFailure); versions before 2.1.325 do not know that and go on.",
          "disableAllHooks in any of its settings switches this off; cordon doctor looks for it.",
          "Hooks in a project's file count only after the project is trusted; --user is the safer place."}},
    {.name = "codex",
     .edits = codex_edits,
     .files = shared_skill,
     .probe =
         R"({"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf / --no-preserve-root"}})",
     .notes =
         {"Codex asks you to trust a new or changed hook: until you do, it is NOT in force.",
          "Cordon gone, crashed, killed or silent is a no, by the shell that asks it. What Codex can NOT be made to "
          "enforce: it goes on when that shell itself is killed, or takes longer than the hook's timeout.",
          "Its web search runs at the service and asks no hook.",
          "For the tools, add to ~/.codex/config.toml:  [mcp_servers.cordon]  command = \"<cordon>\"  args = "
          "[\"mcp\", \"--agent\", \"codex\"]"}},
    {.name = "gemini",
     .edits = gemini_edits,
     .files = shared_skill,
     .probe =
         R"({"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"rm -rf / --no-preserve-root"}})",
     .notes = {"Cordon gone, crashed, killed or silent is a no, by the shell that asks it. What Gemini CLI can NOT be "
               "made to enforce: it goes on when that shell itself is killed, or takes longer than the hook's timeout.",
               "hooksConfig.enabled must not be false in its settings."}},
    {.name = "cursor",
     .edits = cursor_edits,
     .files = shared_skill,
     .probe = R"({"hook_event_name":"beforeShellExecution","command":"rm -rf / --no-preserve-root","cwd":""})",
     .notes = {"Cursor's hook cannot change a command: it is told to run the isolated form itself, and anything else "
               "is denied.",
               "Versions that do not know failClosed go on when a hook is killed or takes longer than its timeout."}},
    {.name = "openclaw",
     .edits = no_edits,
     .files = openclaw_files,
     .probe = R"({"toolName":"exec","params":{"command":"rm -rf / --no-preserve-root"}})",
     .notes =
         {"Enable the plugin: openclaw plugins enable cordon; then restart the gateway.",
          "It must not be left out of plugins.allow, where you use that list; without the plugin nothing is asked.",
          "What OpenClaw runs on other nodes (host=node) is judged here, but isolated only if Cordon is there."}},
}};

std::string find_hook(const Json& value, std::string_view agent) {
  if (value.is_object()) {
    if (is_ours(value) &&
        value["command"].get<std::string>().find(" hook " + std::string(agent)) != std::string::npos) {
      return value["command"].get<std::string>();
    }
    for (const auto& [key, member] : value.items()) {
      if (std::string found = find_hook(member, agent); !found.empty()) return found;
    }
  }
  if (value.is_array()) {
    for (const Json& item : value) {
      if (std::string found = find_hook(item, agent); !found.empty()) return found;
    }
  }
  return "";
}

}  // namespace

std::span<const Agent> agents() { return table; }

const Agent* find_agent(std::string_view name) {
  for (const Agent& agent : table) {
    if (agent.name == name) return &agent;
  }
  return nullptr;
}

std::string installed_hook(const Json& file, std::string_view agent) {
  return file.is_object() && file.contains("hooks") ? find_hook(file["hooks"], agent) : "";
}

std::string switched_off(const Json& file) {
  if (!file.is_object()) return "";
  // Claude Code's.
  if (file.contains("disableAllHooks") && file["disableAllHooks"] == true) return "disableAllHooks";
  // Gemini's.
  if (!file.contains("hooksConfig") || !file["hooksConfig"].is_object()) return "";
  const Json& config = file["hooksConfig"];
  if (config.contains("enabled") && config["enabled"] == false) return "hooksConfig.enabled";
  if (!config.contains("disabled") || !config["disabled"].is_array()) return "";
  const bool named = std::ranges::any_of(config["disabled"], [](const Json& name) {
    return name == "cordon" || is_ours(Json{{"command", name}});
  });
  return named ? "hooksConfig.disabled" : "";
}

std::string plugin_probe(const std::string& path) {
  if (!path.ends_with("/index.js")) return "";
  return "exec node --input-type=module -e " + shell_word(openclaw_probe()) + " " + shell_word(path);
}

}  // namespace cordon::serve::install
