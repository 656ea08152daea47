// Sandboxes that live on between runs: containers of an engine, one for each session key.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "config/load.h"
#include "guard/backend.h"
#include "guard/session.h"
#include "sandbox/docker/docker.h"

namespace cordon::guard {

/// A living sandbox was made by settings; programs in it live by them. When the settings are others now, nothing runs
/// in it until a person had it made anew.
Result<void> check_drift(const Session& session, const SandboxSettings& settings, const Isolator& isolator,
                         const sandbox::docker::DockerSandbox& docker);
/// What the next check compares with.
Result<void> note_settings(const Session& session, const SandboxSettings& settings, const Isolator& isolator);

/// Session directory → container. Nothing where no engine answers.
std::map<std::string, sandbox::docker::Kept> kept_sandboxes(const config::Sources& sources);
/// Ends it, if there is one. The session's files stay.
Result<void> end_kept(const config::Sources& sources, const std::string& session_directory);

}  // namespace cordon::guard
