// Doing for real what a command did in a preview: exactly that, or nothing.
//
// New content is first written to a directory of its own in the workspace (`.cordon-commit-ID`). Every change is then
// one rename: into its place, or the old one's and the new one's places exchanged. What was replaced or deleted stays
// in that directory until everything is done, so that from any moment both the old and the new tree can be had. A
// journal in the state directory says what is under way.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/clearance.h"
#include "sandbox/preview/store.h"

namespace cordon::sandbox::preview {

struct CommitReport {
  enum class End {
    applied,
    conflicts,    // the workspace is not what it was: nothing was applied
    rolled_back,  // something came in between while it was being applied, and all was undone
  };
  End end = End::conflicts;
  std::vector<std::string> conflicts;  // one sentence each
  std::vector<std::string> left_out;   // what is never committed, each with the reason
  std::size_t applied = 0;
  bool resumed = false;
};

/// What must never be changed by a commit, as it is now; relative to the workspace.
using ProtectedPaths = std::vector<std::string>;

/// Applies a kept preview, or goes on with a commit of it that was cut off. When all is done the preview is gone.
Result<CommitReport> commit(Clearance clearance, const Store& store, const Preview& preview,
                            const ProtectedPaths& protected_paths);

/// Undoes a commit that was cut off. True: there was one.
Result<bool> roll_back(Clearance clearance, const Store& store, const Preview& preview);
bool is_half_committed(const Store& store, const Preview& preview);

/// What stands in the way now: one sentence for each path that is not what it was.
Result<std::vector<std::string>> conflicts_of(const Preview& preview);

}  // namespace cordon::sandbox::preview
