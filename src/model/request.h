// What is asked, and by whom. `app/` and `serve/` make these; `guard/` answers them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/profile.h"

namespace cordon {

/// Who asks, as the channel knows it; never as the request says.
struct Principal {
  std::string user;
  std::uint32_t uid = 0;
  std::string agent = "main";
  std::string session;          // key; empty: the default one of workspace and agent
  std::string surface = "cli";  // "cli", "hook", "mcp", "http"
  bool is_agent = false;        // then a y on a terminal does not approve
};

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Code in place of a command. The request's text is then what one would type to run it, and that is judged and shown.
struct Snippet {
  std::string language;  // any of its names
  std::string code;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> files;  // name in its working directory, content
  std::uint64_t output_bytes = 1ULL << 20;                 // kept of each stream
  std::string session;                                     // lives on under this name; empty: it does not
  std::string fork_of;                                     // JavaScript: the session begins where this one stands
  std::optional<std::uint64_t> step;                       // JavaScript: the session is taken back to this step first
  WorkspaceAccess access = WorkspaceAccess::none;          // none: a clean room
};

/// One command. Everything that a later run of the same request must be given again is here, because whoever approves
/// may be the one who runs it.
struct Request {
  std::string text;
  Principal asker;
  std::string cwd;        // absolute, resolved
  std::string workspace;  // absolute, resolved
  std::string home;       // of the user
  std::string config;     // --config; empty: none
  Variables environment;  // asked for by name
  Variables inherited;    // of the short list that passes
  Variables of_host;      // of the longer list that passes to the host, where that is where it runs
  std::optional<std::uint64_t> wall_ms;
  std::optional<Level> require;
  std::string backend;                        // "native", "docker", …; empty: as the settings say
  std::optional<std::uint64_t> output_bytes;  // kept of each stream
  bool require_approval = false;
  bool input_given = false;  // stdin is the caller's
  bool tty = false;
  bool report_violations = false;
  bool clean_room = false;             // the workspace as a throwaway view, nothing of the session's, nothing stays
  bool detached = false;               // outlives whoever asked
  std::vector<std::uint16_t> publish;  // ports inside to be reached from the host's loopback
  bool learn_network = false;          // hosts that no rule names are asked about, or listed
  std::optional<Snippet> snippet;
};

}  // namespace cordon
