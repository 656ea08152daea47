// The decision on one request.
#pragma once

#include <string>
#include <vector>

#include "model/analysis.h"

namespace cordon {

/// Where a setting or rule stands. Built-in ones have no file.
struct Origin {
  std::string file;
  int line = 0;
  int column = 0;

  /// "SANDBOX.md:18", or "built-in".
  std::string text() const;
  bool operator==(const Origin&) const = default;
};

enum class Action { allow, ask, deny };
const char* name_of(Action action);

enum class Where { sandbox, host };
const char* name_of(Where where);

struct Verdict {
  Action action = Action::deny;
  Risk risk = Risk::dangerous;
  Where where = Where::sandbox;
  std::string rule;          // what decided, e.g. "fs.delete.recursive" or "disallowed: nc -l"
  std::string reason;        // one sentence
  Origin origin;             // file:line of the deciding rule
  std::string allowlisted;   // the entry that covers it, if one does
  std::vector<Need> grants;  // opened beyond the settings once approved
  bool needs_host = false;   // only elevation would do
};

}  // namespace cordon
