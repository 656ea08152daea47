#include "policy/placement.h"

namespace cordon::policy {

Placement placement_of(const Settings& settings, std::string_view agent, std::string_view session) {
  const Setting<SandboxMode>& mode = settings.agent(agent).sandbox.mode;
  switch (mode.value) {
    case SandboxMode::off:
      return {Where::host, "sandbox mode is off", mode.origin};
    case SandboxMode::non_main:
      if (is_main_session(session, agent)) return {Where::host, "main session exempted", mode.origin};
      break;
    case SandboxMode::all:
      break;
  }
  return {Where::sandbox, "", mode.origin};
}

}  // namespace cordon::policy
