// What a workspace holds, and which tools of the user's home it may need: the facts that `cordon init` writes a
// SANDBOX.md from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/bind.h"

namespace cordon::config {

struct ProjectKind {
  std::string_view name;      // "Node.js"
  std::string_view markers;   // names of files in its root, separated by blanks; * matches within a name
  std::string_view commands;  // everyday commands, one per line
  std::string_view preset;    // of its registry; may be empty
};

/// Every kind that the directory's files speak for, in the order of the table.
std::vector<const ProjectKind*> detect_project(const std::string& workspace);

struct Toolchain {
  std::string name;     // "pyenv"
  std::string path;     // absolute
  std::string refused;  // why it cannot be bound; empty: it can
};

/// Toolchains that exist under the home. Narrow enough to leave credential files out; each is checked as a bind is.
std::vector<Toolchain> find_toolchains(const std::string& home, const BindRules& rules);

}  // namespace cordon::config
