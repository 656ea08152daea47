#include "model/tools.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cordon {
namespace {

// The documented ones first, in the order in which they are listed to people.
constexpr std::string_view tools[] = {
    "read",
    "write",
    "edit",
    "exec",
    "browser",
    "message",
    "web_search",
    "web_fetch",
    "image",
    "tts",
    "cron",
    "gateway",
    "sessions_spawn",
    "sessions_send",
    "agents_list",
    "agents_wait",
    "apply_patch",
    "ask_user",
    "automations",
    "bundle-mcp",
    "canvas",
    "code_execution",
    "computer",
    "conversations_list",
    "conversations_send",
    "conversations_turn",
    "create_goal",
    "dashboard",
    "dismiss_task",
    "get_goal",
    "github_identity_status",
    "github_publish",
    "heartbeat_respond",
    "image_generate",
    "ls",
    "memory_get",
    "memory_search",
    "mobile_ui",
    "music_generate",
    "nodes",
    "openclaw",
    "pdf",
    "plugins",
    "portal",
    "process",
    "progress_card",
    "screen",
    "secrets",
    "session_status",
    "sessions",
    "sessions_history",
    "sessions_list",
    "sessions_search",
    "sessions_yield",
    "show_widget",
    "skill_workshop",
    "subagents",
    "suggest_task",
    "terminal",
    "theme",
    "update_goal",
    "video_generate",
    "view_image",
    "x_search",
};

constexpr std::string_view groups[] = {
    "group:agents",  "group:automation", "group:browser",  "group:fs",    "group:media",
    "group:memory",  "group:messaging",  "group:network",  "group:nodes", "group:openclaw",
    "group:plugins", "group:runtime",    "group:sessions", "group:ui",    "group:web",
};

/// Names separated by blanks.
struct Bundle {
  std::string_view name;
  std::string_view members;
};

constexpr Bundle profiles[] = {
    {"coding", "read write edit exec browser"},
    {"messaging", "message web_search web_fetch"},
    {"minimal", "web_search"},
};

constexpr Bundle documented_groups[] = {
    {"group:fs", "read write edit"},
    {"group:runtime", "exec"},
    {"group:automation", "cron gateway sessions_spawn sessions_send"},
    {"group:browser", "browser"},
    {"group:network", "web_fetch web_search"},
    {"group:media", "image tts"},
    {"group:messaging", "message"},
};

constexpr Bundle openclaw_groups[] = {
    {"group:openclaw",
     "code_execution secrets web_search web_fetch x_search memory_search memory_get sessions "
     "sessions_list sessions_history sessions_search conversations_list conversations_send "
     "conversations_turn sessions_send sessions_spawn github_identity_status github_publish "
     "agents_wait sessions_yield subagents session_status suggest_task dismiss_task browser "
     "screen theme dashboard terminal portal show_widget message heartbeat_respond automations "
     "gateway plugins openclaw nodes computer mobile_ui agents_list get_goal create_goal "
     "update_goal progress_card ask_user skill_workshop view_image image_generate music_generate "
     "video_generate tts pdf"},
    {"group:fs", "ls read write edit apply_patch"},
    {"group:runtime", "exec process code_execution secrets"},
    {"group:web", "web_search web_fetch x_search"},
    {"group:memory", "memory_search memory_get"},
    {"group:sessions",
     "sessions sessions_list sessions_history sessions_search conversations_list "
     "conversations_send conversations_turn sessions_send sessions_spawn github_identity_status "
     "github_publish agents_wait sessions_yield subagents session_status suggest_task "
     "dismiss_task"},
    {"group:ui", "browser screen theme dashboard terminal portal canvas show_widget"},
    {"group:messaging", "message"},
    {"group:automation", "heartbeat_respond automations gateway plugins openclaw"},
    {"group:nodes", "nodes computer mobile_ui"},
    {"group:agents", "agents_list get_goal create_goal update_goal progress_card ask_user skill_workshop"},
    {"group:media", "view_image image_generate music_generate video_generate tts pdf"},
};

/// OpenClaw's other spellings of one tool.
constexpr std::pair<std::string_view, std::string_view> spellings[] = {
    {"bash", "exec"},
    {"apply-patch", "apply_patch"},
};

/// What a deny of the first must take away too: in OpenClaw they are the same tool, or the one gives the other.
constexpr std::pair<std::string_view, std::string_view> implied_by_deny[] = {
    {"cron", "automations"},
    {"automations", "cron"},
    {"write", "apply_patch"},
};

void insert_words(std::set<std::string>& into, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    into.emplace(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

template <std::size_t count>
bool insert_bundle(std::set<std::string>& into, const Bundle (&bundles)[count], std::string_view name) {
  for (const Bundle& bundle : bundles) {
    if (bundle.name != name) continue;
    insert_words(into, bundle.members);
    return true;
  }
  return false;
}

/// `*` stands for any run of characters. Linear but for the retries of one star, which is enough for short names.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0, in = 0, star = std::string_view::npos, retry = 0;
  while (in < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      retry = in;
    } else if (at < pattern.size() && pattern[at] == name[in]) {
      ++at;
      ++in;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in = ++retry;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool is_group(std::string_view name) { return name.starts_with("group:"); }

std::set<std::string> tools_of_group(std::string_view group, Side side) {
  std::set<std::string> made;
  const bool documented = insert_bundle(made, documented_groups, group);
  if (!documented || side == Side::deny) insert_bundle(made, openclaw_groups, group);
  return made;
}

bool entry_covers(std::string_view written, std::string_view tool, Side side) {
  const std::string entry = canonical_tool(written);
  if (is_group(entry)) return tools_of_group(entry, side).contains(std::string(tool));
  if (matches(entry, tool)) return true;
  if (side == Side::allow) return false;
  return std::ranges::any_of(implied_by_deny,
                             [&](const auto& pair) { return pair.second == tool && matches(entry, pair.first); });
}

}  // namespace

std::span<const std::string_view> known_tools() { return tools; }
std::span<const std::string_view> known_groups() { return groups; }

std::string canonical_tool(std::string_view name) {
  std::string lower = to_lower(trim(name));
  for (const auto& [other, usual] : spellings) {
    if (lower == other) return std::string(usual);
  }
  return lower;
}

bool is_tool_name(std::string_view name) {
  const std::string wanted = canonical_tool(name);
  if (wanted.find('*') != std::string::npos) return !is_group(wanted);
  return std::ranges::find(tools, wanted) != std::end(tools) || std::ranges::find(groups, wanted) != std::end(groups);
}

std::set<std::string> tools_named(std::string_view entry, Side side) {
  std::set<std::string> made;
  for (const std::string_view tool : tools) {
    if (entry_covers(entry, tool, side)) made.emplace(tool);
  }
  return made;
}

std::set<std::string> tools_of(ToolProfile profile) {
  std::set<std::string> made;
  if (profile == ToolProfile::full) return {std::begin(tools), std::end(tools)};
  insert_bundle(made, profiles, name_of(profile));
  return made;
}

std::vector<std::string> effective_tools(const ToolSettings& settings) {
  std::vector<std::string> made;
  for (const std::string_view tool : tools) {
    if (has_tool(settings, tool)) made.emplace_back(tool);
  }
  return made;
}

std::vector<std::string> effective_tools(const Settings& settings, std::string_view agent) {
  return effective_tools(settings.agent(agent).tools);
}

bool has_tool(const ToolSettings& settings, std::string_view name) {
  const std::string tool = canonical_tool(name);
  for (const Entry& entry : settings.deny) {
    if (entry_covers(entry.value, tool, Side::deny)) return false;
  }
  if (settings.profile.value == ToolProfile::full || tools_of(settings.profile.value).contains(tool)) return true;
  return std::ranges::any_of(settings.allow,
                             [&](const Entry& entry) { return entry_covers(entry.value, tool, Side::allow); });
}

}  // namespace cordon
