// Several files' changes → one Settings. The order of files and the trust rule live here.
#pragma once

#include <string>
#include <vector>

#include "config/field.h"

namespace cordon::config {

/// What a file may do.
enum class Standing {
  own,      // the user's file: anything
  asked,    // --config: anything but what only the user's own file may say
  trusted,  // a workspace file whose exact content a person has trusted: the same
  tighten,  // a workspace file that is not, or no longer, trusted
};

struct Layer {
  Standing standing = Standing::tighten;
  std::vector<Change> changes;
  std::string why_not;  // for `tighten`: why its loosenings do not count
  bool silent = false;  // … and need not be listed (the text that was trusted before it changed)
};

/// Something a file says that does not count.
struct Ignored {
  std::string key;  // "policy.allowed", "agents.entries.main.sandbox.mode"
  std::string value;
  Origin origin;
  std::string reason;
};

/// The reason where trusting the file would not help.
inline constexpr const char* only_users = "this counts only from the user's own settings file";

struct Merged {
  Settings settings;
  std::vector<Ignored> ignored;
};

/// Layers that may only tighten are applied after all others, so that nothing said elsewhere undoes them.
Merged merge(const std::vector<Layer>& layers, std::string_view workspace);

/// The key of a setting as it stands in a file, for all agents or one.
std::string full_key(const Field& field, std::string_view agent);

}  // namespace cordon::config
