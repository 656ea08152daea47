// A person's answer to a queue entry, and what follows from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/entry_text.h"
#include "app/presence.h"
#include "approve/queue.h"
#include "base/clock.h"
#include "guard/guard.h"
#include "sandbox/preview/store.h"

namespace cordon::app {

struct ApproveOptions {
  std::string by;  // empty: the user
  std::string notes;
  std::string until;  // a time
  std::string lasts;  // a duration
  std::int64_t uses = 1;
  bool no_run = false;
  bool commit = false;  // apply the preview instead of running the command
  PresenceOptions presence;
};

Result<approve::Queue> open_queue(const GlobalOptions& global, const Clock& clock);

/// The guard that fits the stored request: its workspace and settings, this state directory.
Result<guard::Guard> guard_of(const GlobalOptions& global, const approve::Entry& entry, const Clock& clock);

/// What would be different if it ran now. What cannot even be looked at is a difference too.
std::vector<std::string> drift_of(guard::Guard& guard, const approve::Entry& entry);

/// Shows the entry where a person is asked, proves presence, approves, and runs it where that is this process's part.
Result<int> approve_entry(const GlobalOptions& global, const ApproveOptions& options, const approve::Entry& entry,
                          const Clock& clock);
Result<int> reject_entry(const GlobalOptions& global, const approve::Entry& entry, const std::string& by,
                         const std::string& reason, const Clock& clock);

/// The preview that an entry carries, or what there is to say instead.
EntryPreview preview_for(const GlobalOptions& global, const approve::Entry& entry, const Clock& clock);
/// Makes it as the process that was started for that; standard input is what it was handed.
Result<int> make_preview(const GlobalOptions& global, const approve::Entry& entry, const Clock& clock);
/// Tries out what waits, where nothing of it stays, and shows what it did; the entry keeps it.
Result<int> preview_entry(const GlobalOptions& global, const approve::Entry& entry, const Clock& clock);
/// Whether the caller may see what only an approver is to see: a person at a terminal, or the approver's token. Seeing
/// is not approving: nobody is asked for a passphrase.
bool may_look(const GlobalOptions& global, const PresenceOptions& presence);
/// Prints how a commit ended; its exit code.
int say_committed(const GlobalOptions& global, const guard::Committed& committed);

/// Queue entries may hold any bytes.
std::string to_json_text(const Json& json);

}  // namespace cordon::app
