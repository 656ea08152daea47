#include "app/guard_for.h"

#include <cstdlib>

#include "app/alarm.h"
#include "app/preview_maker.h"
#include "app/world.h"
#include "guard/loosening.h"
#include "guard/secrets.h"

namespace cordon::app {

namespace {

std::vector<audit::KnownSecret> secrets_of(const Request& request) {
  std::vector<audit::KnownSecret> secrets = guard::secrets_in(request.environment);
  for (const char* name : {"CORDON_APPROVER_TOKEN"}) {
    if (const char* value = std::getenv(name)) secrets.push_back({name, value});
  }
  return secrets;
}

Result<guard::GuardOptions> options_for(const GlobalOptions& global, const Request& request) {
  GlobalOptions exact = global;
  exact.workspace = request.workspace;
  exact.config = request.config;
  guard::GuardOptions options;
  options.sources = TRY(sources_of(exact, request.cwd));
  options.secrets = secrets_of(request);
  options.uses_workspace = !request.snippet || request.snippet->access != WorkspaceAccess::none;
  options.alarm = alarm_for(options.sources, options.secrets);
  options.make_preview = preview_maker(options.sources.state_dir);
  return options;
}

}  // namespace

Result<guard::Guard> guard_for(const GlobalOptions& global, const Request& request, const PresenceOptions& presence,
                               const Clock& clock) {
  auto guard = TRY(guard::Guard::open(TRY(options_for(global, request)), clock));
  if (const std::string why = guard::loosening(request, guard.settings()); !why.empty()) {
    TRY(prove_presence(global, presence, why + ". Is that what you want?"));
  }
  return guard;
}

Result<guard::Guard> guard_for_stored(const GlobalOptions& global, const Request& request, const Clock& clock) {
  return guard::Guard::open(TRY(options_for(global, request)), clock);
}

}  // namespace cordon::app
