#include "guard/guard.h"

#include <filesystem>

#include "config/bind.h"
#include "guard/guard_state.h"
#include "guard/kept.h"
#include "guard/refusal.h"
#include "model/tools.h"
#include "plan/environment.h"
#include "risk/table.h"
#include "sandbox/container/layout.h"
#include "sys/file.h"
#include "sys/liveness.h"

namespace cordon::guard {

namespace {

/// OpenClaw has a name of its own for it; who denies that one means this.
bool denies_code(const ToolSettings& tools) {
  return std::any_of(tools.deny.begin(), tools.deny.end(), [](const Entry& entry) {
    return tools_named(entry.value, Side::deny).contains("code_execution");
  });
}

std::string why_it_loads_code(std::string_view name) {
  const std::string_view what = risk::find_environment(name);
  return what.empty() || what == "harmless" ? "" : "can make programs load or run code, or switch off a protection";
}

}  // namespace

Result<void> check_environment(const Variables& asked) { return plan::check_variables(asked, why_it_loads_code); }

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
  if (state->options.uses_workspace) {
    CHECK_OK(config::BindRules::create(sources.home, {sources.state_dir}, sources.engine_sockets)
                 .check_workspace(sources.workspace));
  }
  CHECK_OK(sys::ensure_private_directory(sources.state_dir));
  CHECK_OK(state->reload());
  return Guard(std::move(state));
}

const Settings& Guard::settings() const { return state_->rules->settings; }
const policy::Allowlist& Guard::allowlist() const { return state_->rules->allowlist; }
const config::Sources& Guard::sources() const { return state_->options.sources; }
Result<approve::Queue*> Guard::queue() { return state_->queue(); }
Result<audit::Log*> Guard::log() { return state_->log(); }
Judgement Guard::judge(const Request& request) const { return state_->judge(request); }

Execution Guard::execute(const Request& request, const Asking& asking, sandbox::Io& io, std::stop_token stop) {
  Execution execution{.judgement = state_->judge(request)};
  plan::Plan plan;
  if (!state_->clear(request, asking, plan, execution, stop)) {
    if (execution.committed) {
      io.output(sandbox::Stream::out, execution.committed->output.out);
      io.output(sandbox::Stream::err, execution.committed->output.err);
    }
    return execution;
  }
  state_->run(plan, execution, State::plain_deed(io, stop));
  return execution;
}

bool Guard::State::clear(const Request& request, const Asking& asking, plan::Plan& plan, Execution& execution,
                         const std::stop_token& stop) {
  const auto broken = [&](const Error& error) {
    execution.report.outcome = Broken{error};
    return false;
  };
  if (auto refused = refusal(request, execution.judgement)) {
    refuse(request, execution, *std::move(refused));
    return false;
  }
  auto frozen = freeze(request, execution.judgement, Entering::yes);
  if (!frozen) return broken(frozen.error());
  plan = *std::move(frozen);
  if (execution.judgement.verdict.action != Action::ask) return true;
  const auto may_run = ask(request, plan, asking, execution, stop);
  if (!may_run) return broken(may_run.error());
  if (!*may_run) note_earnest(execution);
  return *may_run;
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
  rules = TRY(options.kept.rules ? options.kept.rules->read(options.sources) : read_rules(options.sources));
  return {};
}

Result<audit::Log*> Guard::State::log() {
  // One that is shared does not know the secrets of this request.
  if (!log_ && options.secrets.empty()) log_ = options.kept.log;
  if (!log_) {
    const std::string directory = options.sources.state_dir + "/audit";
    CHECK_OK(sys::ensure_private_directory(directory));
    log_ = std::make_shared<audit::Log>(TRY(audit::Log::open(directory, *clock, {.secrets = options.secrets})));
  }
  return log_.get();
}

Result<approve::Queue*> Guard::State::queue() {
  if (!queue_) {
    const ApprovalSettings& approval = rules->settings.approval;
    queue_ = TRY(approve::Queue::open(
        options.sources.state_dir, *clock,
        {.pending = approval.queue_limit.value, .expiry = std::chrono::milliseconds(approval.expiry_ms.value)}));
  }
  return &*queue_;
}

Result<Isolator> Guard::State::isolator(const Request& request) {
  if (options.sandbox) return Isolator{"native", {}};
  const SandboxSettings& sandbox = rules->settings.agent(request.asker.agent).sandbox;
  return choose_isolator(request, sandbox,
                         [this](const std::string& backend) { return this->sandbox(Where::sandbox, backend); });
}

Result<sandbox::Sandbox*> Guard::State::sandbox(Where where, const std::string& backend) {
  if (options.sandbox) return options.sandbox.get();
  const std::string name = where == Where::host ? "host" : backend;
  auto& opened = sandboxes_[name];
  if (!opened && name == "native") opened = options.kept.native;
  if (!opened) opened = TRY(open_backend(name, options.sources));
  return opened.get();
}

Judgement Guard::State::judge(const Request& request) const {
  const config::Sources& sources = options.sources;
  RiskContext place{
      .cwd = request.cwd, .workspace = request.workspace, .home = request.home, .user = request.asker.user};
  place.state = sources.state_dir;
  place.guarded = {sources.state_dir, std::filesystem::path(sources.user_file).parent_path().string(),
                   config::sandbox_md_path(sources), sources.workspace + "/.cordon"};
  Judgement judgement = guard::judge(request.text, {.settings = rules->settings,
                                                    .allowlist = rules->allowlist,
                                                    .place = std::move(place),
                                                    .agent = request.asker.agent,
                                                    .session = request.asker.session,
                                                    .clean_room = request.clean_room,
                                                    .require_approval = request.require_approval,
                                                    .now = clock->now()});
  // Code has no other place than a sandbox, whatever the settings say about commands.
  if (request.snippet) judgement.verdict.where = Where::sandbox;
  return judgement;
}

std::optional<Refused> Guard::State::refusal(const Request& request, const Judgement& judgement) const {
  const Verdict& verdict = judgement.verdict;
  const std::string& agent = request.asker.agent;
  if (!has_tool(rules->settings.agent(agent).tools, "exec")) {
    return Refused{"tools.exec", fmt::format("the tool policy gives agent '{}' no exec", agent)};
  }
  if (request.snippet && denies_code(rules->settings.agent(agent).tools)) {
    return Refused{"tools.code_execution", fmt::format("the tool policy denies agent '{}' the running of code", agent)};
  }
  if (verdict.action == Action::deny) {
    return Refused{verdict.rule, verdict.reason.empty() ? "the rule " + verdict.rule + " says no" : verdict.reason};
  }
  for (const Need& grant : verdict.grants) {
    const std::string& own = options.sources.state_dir;
    if (config::is_within(grant.target, own) || config::is_within(own, grant.target)) {
      return Refused{"guard.own", "Cordon's own state is never opened to a sandbox"};
    }
    if (grant.kind == Need::Kind::host && request.clean_room) {
      return Refused{"network", fmt::format("needs the network ({}), and the clean room has none", grant.target)};
    }
  }
  return std::nullopt;
}

Result<plan::Plan> Guard::State::freeze(const Request& request, const Judgement& judgement, Entering entering) {
  const config::Sources& sources = options.sources;
  const SandboxSettings& sandbox = rules->settings.agent(request.asker.agent).sandbox;
  SessionDirectory directory;
  const Isolator chosen = judgement.verdict.where == Where::host ? Isolator{} : TRY(isolator(request));
  if (!request.snippet) {
    const Sessions sessions(sources.state_dir);
    const std::string key = Sessions::key_of(request, sandbox.scope.value);
    const Session session =
        entering == Entering::yes ? TRY(sessions.enter(key, request, clock->now())) : sessions.look(key, request);
    if (chosen.backend == "docker" && !request.clean_room) {
      const auto* docker = dynamic_cast<sandbox::docker::DockerSandbox*>(TRY(this->sandbox(Where::sandbox, "docker")));
      if (docker != nullptr) CHECK_OK(check_drift(session, sandbox, chosen, *docker));
      if (entering == Entering::yes) CHECK_OK(note_settings(session, sandbox, chosen));
    }
    directory.path = session.directory;
    add_git_identity(request.home, directory);
  }
  const auto binds = config::BindRules::create(sources.home, {sources.state_dir}, sources.engine_sockets);
  plan::Plan frozen = TRY(plan::freeze(request,
                                       {.settings = rules->settings,
                                        .script = judgement.script,
                                        .analysis = judgement.analysis,
                                        .verdict = judgement.verdict,
                                        .policy = rules->policy(),
                                        .session = std::move(directory),
                                        .backend = chosen.backend,
                                        .image = chosen.image,
                                        .may_be_written = [&binds](const std::string& path) -> Result<void> {
                                          TRY(binds.check_source(path, "write access to " + path, {}));
                                          return {};
                                        },
                                        .loads_code = why_it_loads_code},
                                       contents));
  if (request.snippet) CHECK_OK(add_runner(frozen));
  // Before anybody is asked to approve what could not run.
  if (!chosen.backend.empty() && chosen.backend != "native") {
    CHECK_OK(sandbox::container::check_offered(frozen.profile));
  }
  return frozen;
}

Redeemer redeemer_of(const approve::Entry& entry) {
  if (!entry.waiter.empty() && sys::is_alive(entry.waiter)) return Redeemer::asker_waits;
  const auto request = plan::request_of(entry.request.plan);
  if (!request || request->snippet || request->input_given || request->detached || request->asker.uid != ::geteuid())
    return Redeemer::asker_retries;
  return request->asker.surface == "cli" ? Redeemer::this_process : Redeemer::asker_retries;
}

}  // namespace cordon::guard
