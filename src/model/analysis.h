// What a command does, and how grave that is. `risk/` makes an Analysis; `policy/` decides on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/script.h"

namespace cordon {

enum class Risk { safe, normal, dangerous, critical, disallowed };
const char* name_of(Risk risk);
std::optional<Risk> risk_named(std::string_view name);

struct Effect {
  enum class Kind { reads, writes, deletes, runs, reaches, privilege, persists, unknown };
  Kind kind;
  std::string target;
  bool operator==(const Effect&) const = default;
};
const char* name_of(Effect::Kind kind);

/// One cause for concern. Findings with the same reason are one cause.
struct Finding {
  std::string rule;  // stable dotted name, e.g. "fs.delete.recursive"
  Risk risk = Risk::dangerous;
  std::string reason;  // short human phrase, e.g. "Recursive deletion"
  Span where;
  std::string safer;  // a safer way, where one exists
};

/// A program call as a pattern of SANDBOX.md sees it: wrappers, paths and quoting undone, options in canonical
/// spelling.
struct Invocation {
  std::string program;             // name without directory; empty when unknowable
  std::string path;                // as written, e.g. "/usr/bin/nc" or "./run"
  std::vector<std::string> words;  // every word as it would reach the program; unknown ones as their source text
  std::vector<std::string>
      canonical;  // words with option clusters split and abbreviations expanded: -rf → -r -f → recursive, force …
  bool exact = true;        // every word is known
  Risk risk = Risk::safe;   // of this call alone
  bool wrapper = false;     // only carries another call (env, timeout, sudo …) which follows in the list
  std::string uncoverable;  // why no allow entry may cover it (executing flag, code-loading variable, redirect out of
                            // the workspace …); empty: it may be covered
  Span where;
};

/// What a run needs beyond the default profile.
struct Need {
  enum class Kind { read_path, write_path, host, elevation };
  Kind kind;
  std::string target;
  bool operator==(const Need&) const = default;
};

struct Analysis {
  std::vector<Effect> effects;
  std::vector<Finding> findings;        // the gravest first
  std::vector<Invocation> invocations;  // every program call found, at any depth
  std::vector<Need> needs;
  Risk risk = Risk::safe;
  bool understood = true;
  std::uint64_t work = 0;  // what judging cost, in about bytes: the same on every machine, for tests
};

/// What is known about where a command would run.
struct RiskContext {
  std::string cwd = "/";
  std::string workspace = "/";
  std::string home;
  std::string user;
  std::string state;                     // Cordon's own state: not even reading it is anybody's business
  std::vector<std::string> guarded;      // Cordon's own state and settings: touching them through Cordon is critical
  bool look_at_files = true;             // may symlinks and PATH be looked up on this machine
  std::vector<std::string> search_path;  // the directories of PATH; none: programs are not looked for
};

}  // namespace cordon
