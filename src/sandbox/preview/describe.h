// A list of changes as interfaces give it and as a person reads it. Deletions come first: they are what cannot be had
// back.
#pragma once

#include <string>

#include "base/json.h"
#include "sandbox/preview/store.h"

namespace cordon::sandbox::preview {

constexpr std::size_t most_listed = 2000;

/// [{path, change, bytes, diff, …}], at most `most_listed` of them.
Json changes_json(const ChangeList& list);

struct Counts {
  std::size_t added = 0;
  std::size_t modified = 0;
  std::size_t deleted = 0;
  std::size_t left_out = 0;
};
Counts count(const ChangeList& list);
/// "2 deleted, 1 modified, 3 added", or "no changes".
std::string summary(const ChangeList& list);

enum class Detail { names, diffs };
/// Every hidden character made visible; what is not shown is said.
std::string text_of(const ChangeList& list, Detail detail);
/// The whole of it: command, how it ended, output, changes.
std::string text_of(const Preview& preview, Detail detail);

/// What list and show give: everything but the plan, and with `Detail::diffs` output and changes.
Json summary_json(const Preview& preview, Detail detail);

}  // namespace cordon::sandbox::preview
