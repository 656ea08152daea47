// Every setting with its value and where it was said, for `cordon config show`.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "model/settings.h"

namespace cordon::config {

struct Described {
  std::string key;   // "policy.level", "agents.defaults.sandbox.mode", "agents.entries.main.tools.profile"
  Json value;        // numbers in the unit that the key names: milliseconds, bytes
  std::string text;  // for people: "15m", "1 GiB"
  Origin origin;     // no file: the default

  /// "SANDBOX.md:14", or "default".
  std::string origin_text() const;
};

/// One row per setting, and per entry of a list; an empty list is a row with an empty array. Agents: only what differs
/// from the defaults.
std::vector<Described> describe(const Settings& settings);

}  // namespace cordon::config
