// The one decision function. check, exec, dry run, explain, hooks, MCP and HTTP all ask this one.
#pragma once

#include <string>

#include "base/clock.h"
#include "model/analysis.h"
#include "model/settings.h"
#include "model/verdict.h"
#include "policy/allowlist.h"
#include "policy/pattern.h"

namespace cordon::policy {

/// Everything a decision depends on besides the command itself.
struct Rules {
  const Settings& settings;
  const Allowlist& allowlist;
  const Canonical& canonical;
  std::string agent = "main";
  std::string session;
  bool clean_room = false;  // nothing of the user's is there and nothing stays: only what is disallowed is refused
  bool require_approval = false;  // the caller wants a person to look, whatever the rules say
  Time now{};
};

Verdict decide(const Analysis& analysis, const Rules& rules);

/// Which entry covers one call: an Allowed line of SANDBOX.md or an allowlist entry.
struct Cover {
  std::string pattern;
  Origin origin;  // of the Allowed line; the allowlist has no file
  bool auto_approve = true;
};
std::optional<Cover> cover_of(const Invocation& call, const Rules& rules);

}  // namespace cordon::policy
