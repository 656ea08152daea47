#include "guard/guard.h"

#include <filesystem>

#include "config/bind.h"
#include "config/describe.h"
#include "guard/guard_state.h"
#include "model/tools.h"
#include "risk/table.h"
#include "sandbox/host/host.h"
#include "sandbox/native/native.h"
#include "sys/file.h"
#include "sys/liveness.h"

namespace cordon::guard {

namespace {

/// Every setting with where it was said: another file, line or value is another policy.
Digest digest_of(const Settings& settings) {
  Sha256 hash;
  for (const config::Described& row : config::describe(settings)) {
    hash.add_field(row.key).add_field(row.value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return hash.finish();
}

std::string why_it_loads_code(std::string_view name) {
  const std::string_view what = risk::find_environment(name);
  return what.empty() || what == "harmless" ? "" : "can make programs load or run code, or switch off a protection";
}

}  // namespace

const char* name_of(Alert::Kind kind) {
  switch (kind) {
    case Alert::Kind::approval_wanted:
      return "approval_wanted";
    case Alert::Kind::blocked:
      return "blocked";
    case Alert::Kind::disallowed:
      return "disallowed";
    case Alert::Kind::exfiltration_suspected:
      return "exfiltration_suspected";
    case Alert::Kind::queue_full:
      return "queue_full";
    case Alert::Kind::audit_trouble:
      return "audit_trouble";
  }
  return "audit_trouble";
}

Guard::Guard(std::unique_ptr<State> state) : state_(std::move(state)) {}
Guard::Guard(Guard&&) noexcept = default;
Guard& Guard::operator=(Guard&&) noexcept = default;
Guard::~Guard() = default;

Result<Guard> Guard::open(GuardOptions options, const Clock& clock) {
  auto state = std::make_unique<State>(std::move(options), clock);
  const config::Sources& sources = state->options.sources;
  CHECK_OK(config::BindRules::create(sources.home, {sources.state_dir}, sources.engine_sockets)
               .check_workspace(sources.workspace));
  CHECK_OK(sys::ensure_private_directory(sources.state_dir));
  CHECK_OK(state->reload());
  return Guard(std::move(state));
}

const Settings& Guard::settings() const { return state_->settings; }
const policy::Allowlist& Guard::allowlist() const { return state_->allowlist; }
const config::Sources& Guard::sources() const { return state_->options.sources; }
Result<approve::Queue*> Guard::queue() { return state_->queue(); }
Result<audit::Log*> Guard::log() { return state_->log(); }
Judgement Guard::judge(const Request& request) const { return state_->judge(request); }

Execution Guard::execute(const Request& request, const Asking& asking, sandbox::Io& io, std::stop_token stop) {
  Execution execution{.judgement = state_->judge(request)};
  const auto broken = [&](const Error& error) {
    execution.report.outcome = Broken{error};
    return std::move(execution);
  };
  if (auto refused = state_->refusal(request, execution.judgement)) {
    state_->refuse(request, execution, *std::move(refused));
    return execution;
  }
  auto plan = state_->freeze(request, execution.judgement, State::Entering::yes);
  if (!plan) return broken(plan.error());
  if (execution.judgement.verdict.action == Action::ask) {
    const auto may_run = state_->ask(request, *plan, asking, execution, stop);
    if (!may_run) return broken(may_run.error());
    if (!*may_run) {
      state_->note_earnest(execution);
      return execution;
    }
  }
  state_->run(*plan, execution, io, stop);
  return execution;
}

Execution Guard::rehearse(const Request& request, Json& description) {
  Execution execution{.judgement = state_->judge(request)};
  if (auto refused = state_->refusal(request, execution.judgement)) {
    execution.report.outcome = *std::move(refused);
    return execution;
  }
  const auto plan = state_->freeze(request, execution.judgement, State::Entering::only_looking);
  if (plan) {
    description = plan::to_json(*plan);
    description.erase("request");
    execution.report.outcome = Exited{0};
  } else {
    execution.report.outcome = Broken{plan.error()};
  }
  return execution;
}

Result<void> Guard::State::reload() {
  config::Loaded loaded = TRY(config::load(options.sources));
  settings = std::move(loaded.settings);
  policy = digest_of(settings);
  allowlist = TRY(policy::AllowlistStore(options.sources.state_dir).read());
  return {};
}

Result<audit::Log*> Guard::State::log() {
  if (!log_) {
    const std::string directory = options.sources.state_dir + "/audit";
    CHECK_OK(sys::ensure_private_directory(directory));
    log_ = TRY(audit::Log::open(directory, *clock, {.secrets = options.secrets}));
  }
  return &*log_;
}

Result<approve::Queue*> Guard::State::queue() {
  if (!queue_) {
    const ApprovalSettings& approval = settings.approval;
    queue_ = TRY(approve::Queue::open(
        options.sources.state_dir, *clock,
        {.pending = approval.queue_limit.value, .expiry = std::chrono::milliseconds(approval.expiry_ms.value)}));
  }
  return &*queue_;
}

Result<sandbox::Sandbox*> Guard::State::sandbox(Where where) {
  if (options.sandbox) return options.sandbox.get();
  if (where == Where::host) {
    if (!host_) host_ = std::make_shared<sandbox::host::HostBackend>();
    return host_.get();
  }
  if (!sandbox_) {
    const std::string directory = options.sources.state_dir + "/sandbox";
    CHECK_OK(sys::ensure_private_directory(directory));
    sandbox_ = TRY(sandbox::native::NativeSandbox::open({.state_directory = directory}));
  }
  return sandbox_.get();
}

Judgement Guard::State::judge(const Request& request) const {
  const config::Sources& sources = options.sources;
  RiskContext place{
      .cwd = request.cwd, .workspace = request.workspace, .home = request.home, .user = request.asker.user};
  place.state = sources.state_dir;
  place.guarded = {sources.state_dir, std::filesystem::path(sources.user_file).parent_path().string(),
                   config::sandbox_md_path(sources), sources.workspace + "/.cordon"};
  return guard::judge(request.text, {.settings = settings,
                                     .allowlist = allowlist,
                                     .place = std::move(place),
                                     .agent = request.asker.agent,
                                     .session = request.asker.session,
                                     .clean_room = request.clean_room,
                                     .require_approval = request.require_approval,
                                     .now = clock->now()});
}

std::optional<Refused> Guard::State::refusal(const Request& request, const Judgement& judgement) const {
  const Verdict& verdict = judgement.verdict;
  const std::string& agent = request.asker.agent;
  if (!has_tool(settings.agent(agent).tools, "exec")) {
    return Refused{"tools.exec", fmt::format("the tool policy gives agent '{}' no exec", agent)};
  }
  if (verdict.action == Action::deny) {
    return Refused{verdict.rule, verdict.reason.empty() ? "the rule " + verdict.rule + " says no" : verdict.reason};
  }
  for (const Need& grant : verdict.grants) {
    const std::string& own = options.sources.state_dir;
    if (config::is_within(grant.target, own) || config::is_within(own, grant.target)) {
      return Refused{"guard.own", "Cordon's own state is never opened to a sandbox"};
    }
    if (grant.kind == Need::Kind::host) {
      return Refused{"network",
                     fmt::format("needs the network ({}), and a sandbox has none in this version", grant.target)};
    }
  }
  return std::nullopt;
}

Result<plan::Plan> Guard::State::freeze(const Request& request, const Judgement& judgement, Entering entering) {
  const config::Sources& sources = options.sources;
  const SandboxSettings& sandbox = settings.agent(request.asker.agent).sandbox;
  const Sessions sessions(sources.state_dir);
  const std::string key = Sessions::key_of(request, sandbox.scope.value);
  const Session session =
      entering == Entering::yes ? TRY(sessions.enter(key, request, clock->now())) : sessions.look(key, request);
  SessionDirectory directory{.path = session.directory};
  add_git_identity(request.home, directory);
  const auto rules = config::BindRules::create(sources.home, {sources.state_dir}, sources.engine_sockets);
  return plan::freeze(request,
                      {.settings = settings,
                       .script = judgement.script,
                       .analysis = judgement.analysis,
                       .verdict = judgement.verdict,
                       .policy = policy,
                       .session = std::move(directory),
                       .may_be_written = [&rules](const std::string& path) -> Result<void> {
                         TRY(rules.check_source(path, "write access to " + path, {}));
                         return {};
                       },
                       .loads_code = why_it_loads_code},
                      contents);
}

Redeemer redeemer_of(const approve::Entry& entry) {
  if (!entry.waiter.empty() && sys::is_alive(entry.waiter)) return Redeemer::asker_waits;
  const auto request = plan::request_of(entry.request.plan);
  if (!request || request->input_given || request->detached || request->asker.uid != ::geteuid())
    return Redeemer::asker_retries;
  return request->asker.surface == "cli" ? Redeemer::this_process : Redeemer::asker_retries;
}

}  // namespace cordon::guard
