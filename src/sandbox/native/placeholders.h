// Protected paths of a workspace: what is there is mounted read-only; what is not there yet is held by an empty
// placeholder, because a mount needs something to stand on. Each is swept by the last run that holds it, or by the next
// start if that run was killed (placeholder_journal.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/outcome.h"
#include "model/profile.h"
#include "sandbox/native/blueprint.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

/// The protection of one workspace for one run; released at the latest when destroyed, so that a run that fails while
/// it is set up leaves nothing behind either.
class PlaceholderHold {
 public:
  /// `state_directory` holds the journal; without one, a protected path that is missing is an error.
  static Result<PlaceholderHold> take(const Workspace& workspace, const std::string& state_directory);
  PlaceholderHold(PlaceholderHold&&) = default;
  PlaceholderHold& operator=(PlaceholderHold&&) = delete;
  ~PlaceholderHold();

  const std::vector<ProtectedPath>& paths() const { return paths_; }

  /// What it holds stays held while that process lives (`sys::liveness_of`): a container that is kept.
  Result<void> also_for(const std::string& mark) const;

  /// After the run: moves away what appeared where nothing may, and sweeps what nobody else holds.
  std::vector<Quarantined> release();
  /// The two halves of it. Sweeping is cheap once the mounts on them are gone.
  std::vector<Quarantined> quarantine();
  void sweep();
  /// Whether there is anything to quarantine: only when everybody who could put something there is gone.
  bool watches() const { return !watched_.empty(); }

 private:
  PlaceholderHold() = default;
  struct Watched {
    std::string path;  // relative; it could not be held because its directory did not exist, or it is a link
    std::string link;  // what the link led to; empty: nothing was there
  };
  std::string workspace_;
  std::string state_directory_;
  std::vector<ProtectedPath> paths_;
  std::string held_as_;  // in the journal; empty: nothing is held
  std::vector<Watched> watched_;
};

/// The same for an overlay of the workspace, where nothing is made on the host: what is missing is made by the sandbox
/// in its own upper layer. What cannot be covered (a link, a path whose directory is missing) is left out.
Result<std::vector<ProtectedPath>> protected_in_overlay(const Workspace& workspace);

/// Sweeps what runs that were killed left behind. Called at start.
void sweep_placeholders(const std::string& state_directory);

}  // namespace cordon::sandbox::native
