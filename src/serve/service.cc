#include "serve/service.h"

#include <pwd.h>
#include <unistd.h>

#include "config/bind.h"
#include "guard/secrets.h"
#include "sandbox/native/native.h"
#include "sys/file.h"

namespace cordon::serve {

namespace {

constexpr std::size_t network_namespaces_ready = 8;
constexpr std::size_t slots_ready = 4;

std::string user_name() {
  const passwd* me = ::getpwuid(::geteuid());
  return me != nullptr ? me->pw_name : std::to_string(::geteuid());
}

}  // namespace

Result<std::unique_ptr<Service>> Service::open(ServiceOptions options, const Clock& clock, std::string& note) {
  std::unique_ptr<Service> service(new Service(std::move(options), clock));
  const std::string& state = service->options_.sources.state_dir;
  CHECK_OK(sys::ensure_private_directory(state));
  CHECK_OK(sys::ensure_private_directory(state + "/sandbox"));
  config::BindRules::remember_for(std::chrono::seconds(1));
  auto native = TRY(sandbox::native::NativeSandbox::open({.state_directory = state + "/sandbox"}));
  // Without it every sandbox is made from the ground up, as it is without a daemon.
  if (const auto warm = native->warm_up({}, {network_namespaces_ready, 0}); warm) {
    native->keep_ready_what_is_used(slots_ready);
  } else {
    note = "sandboxes are not kept ready: " + warm.error().sentence;
  }
  guard::Kept& kept = service->kept_;
  kept.native = std::move(native);
  if (auto runtime = code::Runtime::open()) {
    kept.runtime = std::make_shared<const code::Runtime>(*std::move(runtime));
  } else {
    note = runtime.error().sentence;
  }
  kept.live = std::make_shared<code::LiveSessions>(service->options_.most_sessions, service->options_.idle);
  kept.starting = std::make_shared<std::mutex>();
  kept.rules = std::make_shared<guard::RuleBook>(clock);
  CHECK_OK(service->record(RecordKind::start));
  return service;
}

Service::~Service() {
  // Sessions run in the sandbox that goes with us.
  kept_.live.reset();
  static_cast<void>(record(RecordKind::stop));
}

Result<void> Service::record(RecordKind kind) {
  const auto book = TRY(log());
  TRY(book->append({.kind = kind,
                    .command = "cordon serve",
                    .user = user_name(),
                    .status = kind == RecordKind::start ? "started" : "stopped",
                    .detail = {{"pid", ::getpid()}}}));
  return {};
}

/// A log that failed once stays failed; the next one may find the disk free again.
Result<std::shared_ptr<audit::Log>> Service::log() {
  const std::lock_guard lock(lock_);
  if (log_in_trouble_.exchange(false)) log_.reset();
  if (!log_) {
    const std::string directory = options_.sources.state_dir + "/audit";
    CHECK_OK(sys::ensure_private_directory(directory));
    log_ = std::make_shared<audit::Log>(TRY(audit::Log::open(directory, *clock_, {})));
  }
  return log_;
}

Result<guard::Guard> Service::guard_for(const Request& request) {
  guard::GuardOptions options;
  options.sources = options_.sources;
  options.sources.workspace = request.workspace;
  options.sources.extra_files.clear();
  if (!request.config.empty()) options.sources.extra_files.push_back(request.config);
  options.secrets = guard::secrets_in(request.environment);
  guard::Alarm told = options_.alarm ? options_.alarm(options.sources, options.secrets) : guard::Alarm();
  options.alarm = [this, told = std::move(told)](const guard::Alert& alert) {
    if (alert.kind == guard::Alert::Kind::audit_trouble) log_in_trouble_ = true;
    if (told) told(alert);
  };
  options.make_preview = options_.make_preview;
  options.uses_workspace = !request.snippet || request.snippet->access != WorkspaceAccess::none;
  options.kept = kept_;
  // One that cannot be opened is the guard's to tell.
  if (auto book = log()) options.kept.log = *std::move(book);
  return guard::Guard::open(std::move(options), *clock_);
}

void Service::keep_house() {
  kept_.live->expire(std::chrono::steady_clock::now());
  if (const auto book = log()) static_cast<void>((*book)->checkpoint());
}

}  // namespace cordon::serve
