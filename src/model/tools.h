// Tool policy: which tools an agent has at all.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/settings.h"

namespace cordon {

/// Every tool that Cordon's documents or OpenClaw know, in lower case.
std::span<const std::string_view> known_tools();
/// Every group name, "group:fs" …
std::span<const std::string_view> known_groups();

/// Lower case, and OpenClaw's other spellings replaced (bash → exec).
std::string canonical_tool(std::string_view name);

/// Is it a known tool or group, or a pattern with `*`?
bool is_tool_name(std::string_view name);

/// What one entry of allow or deny stands for among the known tools. A group that both the documents and OpenClaw
/// define means the documents' tools in allow, and the tools of both in deny.
enum class Side { allow, deny };
std::set<std::string> tools_named(std::string_view entry, Side side);

std::set<std::string> tools_of(ToolProfile profile);

/// The known tools that this agent has: its profile, more by allow, less by deny. Deny is absolute. The documented ones
/// come first.
std::vector<std::string> effective_tools(const ToolSettings& tools);
std::vector<std::string> effective_tools(const Settings& settings, std::string_view agent);

/// The same rule for one tool, which may be one that nobody knows (a plugin's): only the profile `full` or a matching
/// allow entry has it, and no deny entry may match it.
bool has_tool(const ToolSettings& tools, std::string_view tool);

}  // namespace cordon
