// Where the tools work: one workspace with its settings and its state. Found once by whoever starts a server; settings
// are read anew for every call, so that what a person changes counts at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "approve/approver.h"
#include "base/clock.h"
#include "base/result.h"
#include "config/load.h"
#include "guard/guard.h"
#include "model/request.h"

namespace cordon::serve {

/// What a principal may do. Only an approver answers requests and changes the allowlist; an auditor reads everything
/// and runs nothing; an agent runs commands and sees its own.
enum class Role { agent, approver, auditor };
const char* name_of(Role role);

/// Who calls, as the channel knows it; never as the call says.
struct Caller {
  Principal principal;
  Role role = Role::agent;
  approve::Presence presence = approve::Presence::none;  // what an approver's channel has proved
  bool inside_sandbox = false;
  std::string token = {};  // id of the token that it showed, for the record
};

/// Whether the user's own settings name the caller's client as a place where a person approves.
bool is_surface(const Settings& settings, const Caller& caller);

struct PremisesOptions {
  config::Sources sources;
  std::string cwd;  // where a command begins that names no directory
  guard::PreviewMaker make_preview;
  Variables inherited;
  Variables of_host;
  std::function<guard::Alarm(const config::Sources&, std::vector<audit::KnownSecret>)> alarm;
  std::shared_ptr<sandbox::Sandbox> sandbox;  // for tests
  /// Opens guards in place of this, where a server keeps log and sandboxes between calls.
  std::function<Result<guard::Guard>(const Request&)> open_guard;
  std::shared_ptr<guard::RuleBook> rules = {};  // of who answers many calls; without it files are read every time
};

class Premises {
 public:
  /// `clock` must outlive it.
  Premises(PremisesOptions options, const Clock& clock) : options_(std::move(options)), clock_(&clock) {}

  const config::Sources& sources() const { return options_.sources; }
  const Clock& clock() const { return *clock_; }
  /// As they are now.
  Result<std::shared_ptr<const Settings>> settings() const;

  /// A command of this caller. `working_dir` empty: where the server was started; it must lie in the workspace.
  Result<Request> request(const Caller& caller, std::string text, const std::string& working_dir) const;
  /// The guard that answers it. A session that runs on the host needs presence.
  Result<guard::Guard> guard(const Caller& caller, const Request& request) const;
  /// The guard that fits a request that was stored in the queue.
  Result<guard::Guard> guard_for_stored(const Request& request) const;

 private:
  Result<guard::Guard> open(const Request& request) const;
  PremisesOptions options_;
  const Clock* clock_;
};

}  // namespace cordon::serve
