// Where each agent keeps its hooks, its MCP servers and its skills, and what it cannot be made to enforce.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cordon::serve::install {

enum class Scope { user, project };

struct Facts {
  std::string program;  // absolute path of cordon
  std::string workspace;
  std::string home;
  Scope scope = Scope::user;
  std::int64_t approval_expiry_ms = 15 * 60'000;

  const std::string& root() const { return scope == Scope::user ? home : workspace; }
};

/// One JSON file and what is to be in it. `add` is given the file's object without anything of ours.
struct Edit {
  std::string path;
  void (*add)(Json& file, const Facts& facts);
  void (*remove)(Json& file);
};

/// A file that is wholly ours.
struct OwnFile {
  std::string path;
  std::string content;
};

struct Agent {
  std::string_view name;
  std::vector<Edit> (*edits)(const Facts& facts);
  std::vector<OwnFile> (*files)(const Facts& facts);
  /// The agent's file that names the hook's command, and the event to try it with.
  std::string_view probe;
  /// What a person must still do or know.
  std::vector<std::string_view> notes;
};

std::span<const Agent> agents();
const Agent* find_agent(std::string_view name);

/// The command line of the hook that a file of this agent names, as the agent would run it; empty: none.
std::string installed_hook(const Json& file, std::string_view agent);

/// The line of an agent's settings that keeps all hooks, or ours, from being run; empty: there is none.
std::string switched_off(const Json& file);

/// For a file of ours that is a plugin: the command that asks it as its agent would, with the event on stdin. Empty: it
/// is none.
std::string plugin_probe(const std::string& path);

}  // namespace cordon::serve::install
