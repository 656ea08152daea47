// How each agent's hooks speak: what they send, what they understand, and what they take for a no.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace cordon::serve::hook {

/// What an agent is about to do.
struct Asked {
  std::string event;
  std::string tool;
  Json input = Json::object();
  /// Where the agent itself works, which decides about the workspace. Empty: where it has started the hook.
  std::string cwd;
  /// Where the model wants it done; it must lie in that workspace. Empty: where the agent works.
  std::string directory;
};

struct Said {
  enum class Kind {
    pass,   // nothing against it; the agent goes on by its own rules
    allow,  // as it stands in `input`
    ask,    // the same, once the person at the agent has said yes
    deny,
  };
  Kind kind = Kind::deny;
  std::string reason;
  /// With deny: what decided. It is what the audit log is told; empty: nothing was refused, only said another way.
  std::string rule;
  Json input;  // with allow: what is to be done instead; null: as it was
};

/// What the hook prints and how it ends.
struct Printed {
  std::string out;
  std::string err;
  int exit_code = 0;
};

struct Dialect {
  std::string_view agent;
  /// Can an answer change what is run? Without that an allowed command is not isolated by the hook.
  bool rewrites;
  /// Does its client ask a person when told to, and then do what the answer said?
  bool asks;
  Result<Asked> (*read)(const Json& sent);
  Json (*write)(const Asked& asked, const Said& said);
};

std::span<const Dialect> dialects();
const Dialect* find_dialect(std::string_view agent);

Printed print(const Dialect& dialect, const Asked& asked, const Said& said);
/// For whatever went wrong: every agent takes this for a no, those that only look at the exit code too.
Printed print_blocked(const Dialect& dialect, std::string_view sentence);

}  // namespace cordon::serve::hook
