#include "guard/loosening.h"

#include <fmt/format.h>

#include "config/bind.h"
#include "config/workspace.h"

namespace cordon::guard {

std::string loosening(const Request& request, const Settings& settings) {
  if (!request.config.empty()) return "--config takes settings from a file that nobody has trusted";
  const Setting<Backend>& backend = settings.agent(request.asker.agent).sandbox.backend;
  if (!request.backend.empty() && backend.value != Backend::automatic && request.backend != name_of(backend.value)) {
    return fmt::format("--backend {} replaces {}, which {} asks for", request.backend, name_of(backend.value),
                       backend.origin.text());
  }
  const SandboxMode mode = settings.agent(request.asker.agent).sandbox.mode.value;
  if (mode == SandboxMode::non_main && is_main_session(request.asker.session, request.asker.agent)) {
    return "--session names the main session, which runs on the host";
  }
  const std::string nearest = config::nearest_workspace(request.cwd);
  const bool above = nearest != request.workspace && config::is_within(nearest, request.workspace);
  return above ? fmt::format("--workspace {} lies above the workspace {}", request.workspace, nearest) : "";
}

}  // namespace cordon::guard
