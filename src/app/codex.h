// Codex runs a hook only after its user has trusted it, so it is asked itself.
#pragma once

#include <string>

#include "base/result.h"

namespace cordon::app {

struct CodexHook {
  bool runs = false;
  std::string says;  // "trusted", "untrusted", "modified", "managed", "disabled"; empty: it does not know the hook
};

/// What the `codex` on PATH says about the hook of this file and command when it works in `directory`. An error: there
/// is none, or it does not tell.
Result<CodexHook> ask_codex(const std::string& directory, const std::string& file, const std::string& command);

}  // namespace cordon::app
