// Texts that `cordon install` writes for agents.
#pragma once

#include <string>

namespace cordon::serve::install {

/// SKILL.md: the same text as skills/cordon/SKILL.md, with the program by its absolute path.
std::string skill_text(const std::string& program);

/// OpenClaw's plugin: asks the hook before every tool call; no answer is a no.
std::string openclaw_manifest();
std::string openclaw_plugin(const std::string& program);
/// A script for node that hands the event on stdin to the plugin that its argument names, and prints what it says.
std::string openclaw_probe();

}  // namespace cordon::serve::install
