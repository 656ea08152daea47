#include "serve/premises.h"

#include <algorithm>
#include <filesystem>

#include "config/bind.h"
#include "guard/secrets.h"

namespace cordon::serve {

namespace {

namespace fs = std::filesystem;

Result<std::string> real_directory(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return fail(Fault::invalid_input, "working_dir {}: {}", path, error.message());
  if (!fs::is_directory(real, error)) return fail(Fault::invalid_input, "working_dir {} is no directory", path);
  return real.string();
}

}  // namespace

const char* name_of(Role role) {
  switch (role) {
    case Role::agent:
      return "agent";
    case Role::approver:
      return "approver";
    case Role::auditor:
      return "auditor";
  }
  return "agent";
}

bool is_surface(const Settings& settings, const Caller& caller) {
  return std::ranges::any_of(settings.approval.surfaces,
                             [&](const Entry& entry) { return entry.value == caller.principal.agent; });
}

Result<std::shared_ptr<const Settings>> Premises::settings() const {
  if (!options_.rules) {
    return std::make_shared<const Settings>(TRY(config::load(options_.sources)).settings);
  }
  const auto rules = TRY(options_.rules->read(options_.sources));
  return std::shared_ptr<const Settings>(rules, &rules->settings);
}

Result<Request> Premises::request(const Caller& caller, std::string text, const std::string& working_dir) const {
  Request request;
  request.text = std::move(text);
  request.asker = caller.principal;
  request.workspace = options_.sources.workspace;
  request.home = options_.sources.home;
  if (!options_.sources.extra_files.empty()) request.config = options_.sources.extra_files.front();
  request.inherited = options_.inherited;
  request.of_host = options_.of_host;
  request.cwd = options_.cwd;
  if (working_dir.empty()) return request;
  const bool absolute = working_dir.starts_with('/');
  request.cwd = TRY(real_directory(absolute ? working_dir : options_.cwd + "/" + working_dir));
  if (!config::is_within(request.cwd, request.workspace)) {
    return fail(Fault::invalid_input, "working_dir {} lies outside the workspace {}; name a directory in it",
                request.cwd, request.workspace);
  }
  return request;
}

Result<guard::Guard> Premises::open(const Request& request) const {
  if (options_.open_guard) return options_.open_guard(request);
  guard::GuardOptions options;
  options.sources = options_.sources;
  options.make_preview = options_.make_preview;
  options.sources.workspace = request.workspace;
  options.sources.extra_files.clear();
  if (!request.config.empty()) options.sources.extra_files.push_back(request.config);
  options.secrets = guard::secrets_in(request.environment);
  if (options_.alarm) options.alarm = options_.alarm(options.sources, options.secrets);
  options.sandbox = options_.sandbox;
  options.kept.rules = options_.rules;
  return guard::Guard::open(std::move(options), *clock_);
}

Result<guard::Guard> Premises::guard(const Caller& caller, const Request& request) const {
  guard::Guard guard = TRY(open(request));
  const SandboxMode mode = guard.settings().agent(request.asker.agent).sandbox.mode.value;
  const bool on_host = mode == SandboxMode::non_main && is_main_session(request.asker.session, request.asker.agent);
  if (on_host && caller.presence == approve::Presence::none) {
    return fail(Fault::denied,
                "the session '{}' runs on the host, which needs a person's presence; use another session",
                request.asker.session);
  }
  return guard;
}

Result<guard::Guard> Premises::guard_for_stored(const Request& request) const { return open(request); }

}  // namespace cordon::serve
