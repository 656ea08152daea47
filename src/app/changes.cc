#include "app/changes.h"

#include "app/presence.h"
#include "app/surroundings.h"
#include "audit/log.h"
#include "sys/file.h"

namespace cordon::app {

Result<void> record_change(const GlobalOptions& global, RecordKind kind, const std::string& what, const Json& detail) {
  const SystemClock clock;
  const std::string directory = TRY(state_directory(global)) + "/audit";
  CHECK_OK(sys::ensure_private_directory(directory));
  audit::Log log = TRY(audit::Log::open(directory, clock, {}));
  TRY(log.append({.kind = kind,
                  .command = what,
                  .user = TRY(user_name()),
                  .status = "changed",
                  .agent = global.agent,
                  .session = global.session,
                  .detail = detail}));
  return {};
}

}  // namespace cordon::app
