// Code on the same way as a command: judged by what one would type to run it, recorded with its text and hash, run in a
// room of its own.
#include <csignal>

#include "base/text.h"
#include "code/engine_session.h"
#include "guard/guard_state.h"

namespace cordon::guard {

namespace {

constexpr std::uint64_t default_timeout_ms = 30'000;

code::CodeRequest code_request_of(const Request& request, const CodeStreams& streams) {
  const Snippet& snippet = *request.snippet;
  code::CodeRequest made{.language = snippet.language,
                         .code = snippet.code,
                         .timeout_ms = request.wall_ms.value_or(default_timeout_ms),
                         .max_output = snippet.output_bytes,
                         .arguments = snippet.arguments,
                         .files = snippet.files,
                         .input = streams.input,
                         .input_descriptor = streams.input_descriptor};
  // In a workspace files stay where they were made.
  if (snippet.access != WorkspaceAccess::none) made.max_artifacts = 0;
  return made;
}

Result<void> check_session(const Snippet& snippet, const code::Language& language, bool has_live) {
  const bool javascript = language.engine == code::Engine::javascript;
  if (!javascript && (!snippet.fork_of.empty() || snippet.step)) {
    return fail(Fault::invalid_input, "only sessions of JavaScript can be forked and taken back");
  }
  if (snippet.session.empty()) {
    if (snippet.fork_of.empty() && !snippet.step) return {};
    return fail(Fault::invalid_input, "say which session is to begin or to be taken back: --session NAME");
  }
  CHECK_OK(code::check_session_name(snippet.session));
  if (language.engine == code::Engine::program) {
    return fail(Fault::invalid_input, "{} has no sessions; there are some for JavaScript, TypeScript and Python",
                language.title);
  }
  if (!javascript && !has_live) {
    return fail(Fault::unavailable, "a session of {} lives in the daemon, and none is running; start it: cordon serve",
                language.title);
  }
  return {};
}

Result<const code::Language*> check(const Request& request, const code::CodeRequest& code, bool has_live) {
  const code::Language* language = TRY(code::check(code));
  CHECK_OK(check_session(*request.snippet, *language, has_live));
  if (request.snippet->access != WorkspaceAccess::none && language->engine == code::Engine::javascript) {
    return fail(Fault::invalid_input, "{} knows no files, so a workspace is of no use to it", language->title);
  }
  return language;
}

RunReport report_of(const code::CodeResult& result) {
  RunReport report{.isolation = result.isolation,
                   .usage = result.usage,
                   .truncated = result.truncated,
                   .duration = std::chrono::milliseconds(result.execution_ms),
                   .violations = result.violations};
  if (result.unrun) {
    report.outcome = *result.unrun;
  } else if (result.killed_by) {
    const int signal = result.exit_code > 128 ? result.exit_code - 128 : SIGKILL;
    report.outcome = Killed{signal, *result.killed_by, result.error.value_or("")};
  } else if (result.exit_code < 0) {
    report.outcome = Broken{{Fault::unavailable, result.error.value_or("")}};
  } else {
    report.outcome = Exited{result.exit_code};
  }
  return report;
}

/// For what was refused, waits or broke before there was a result.
code::CodeResult result_of(const Execution& execution) {
  const Outcome& outcome = execution.report.outcome;
  std::string sentence;
  if (const auto* refused = std::get_if<Refused>(&outcome)) sentence = refused->reason;
  if (const auto* broken = std::get_if<Broken>(&outcome)) sentence = broken->error.sentence;
  if (std::holds_alternative<Waiting>(outcome)) sentence = sentence_of(execution);
  code::CodeResult result = code::refused({Fault::denied, sentence});
  result.unrun = outcome;
  return result;
}

}  // namespace

CodeExecution Guard::run_code(Request request, const Asking& asking, const CodeStreams& streams, std::stop_token stop) {
  CodeExecution answer;
  Execution& execution = answer.execution;
  const code::CodeRequest code = code_request_of(request, streams);
  const auto language = check(request, code, state_->options.kept.live != nullptr);
  if (!language) {
    answer.result = code::refused(language.error());
    execution.report.outcome = Broken{language.error()};
    return answer;
  }
  request.snippet->language = (*language)->name;
  request.text = code::command_for(**language, code.code, code.arguments);
  request.clean_room = request.snippet->access == WorkspaceAccess::none;
  // What a compiled program does is not judged: a person is to say whether it may have the workspace.
  if (!request.clean_room && !(*language)->compile.empty()) request.require_approval = true;
  execution.judgement = state_->judge(request);
  plan::Plan plan;
  if (!state_->clear(request, asking, plan, execution, stop)) {
    answer.result = result_of(execution);
    return answer;
  }
  bool done = false;
  state_->run(plan, execution, [&](const Place& place, Clearance clearance, Contacts&, std::string& output) {
    done = true;
    answer.result = state_->run_snippet(plan, code, std::move(clearance), {place.sandbox, streams.sink, stop});
    output = answer.result.output;
    if (!answer.result.errors.empty()) output += (output.empty() ? "" : "\n") + answer.result.errors;
    return report_of(answer.result);
  });
  if (!done) answer.result = result_of(execution);
  return answer;
}

Result<std::shared_ptr<const code::Runtime>> Guard::State::runtime() {
  if (!runtime_) runtime_ = options.kept.runtime;
  if (!runtime_) runtime_ = std::make_shared<const code::Runtime>(TRY(code::Runtime::open()));
  return runtime_;
}

Result<void> Guard::State::add_runner(plan::Plan& plan) {
  const Snippet& snippet = *plan.request.snippet;
  const code::Language& language = *TRY(code::check(code_request_of(plan.request, {})));
  const auto runner = TRY(runtime());
  const bool lives = !snippet.session.empty() && language.engine == code::Engine::python;
  plan.profile = lives ? runner->profile_for_session(language, std::move(plan.profile))
                       : runner->profile_for(language, code_request_of(plan.request, {}), std::move(plan.profile));
  return {};
}

code::CodeResult Guard::State::run_snippet(const plan::Plan& plan, const code::CodeRequest& code, Clearance clearance,
                                           code::RunContext context) {
  const Snippet& snippet = *plan.request.snippet;
  const code::Language& language = *code::language_named(code.language);
  const auto runner = runtime();
  if (!runner) return code::refused(runner.error());
  if (snippet.session.empty()) return (*runner)->run(language, code, std::move(clearance), std::move(context));
  if (language.engine == code::Engine::python) return call_live_session(plan, code, std::move(clearance), context);
  // By agent: what one has in a session is none of another's.
  const std::string owner = sha256(plan.request.asker.agent).hex().substr(0, 16);
  auto store = code::StateStore::open(options.sources.state_dir + "/code/" + owner);
  if (!store) return code::refused(store.error());
  return code::run_in_session(**runner, *store, {snippet.session, snippet.fork_of, snippet.step}, language, code,
                              std::move(clearance), std::move(context));
}

code::CodeResult Guard::State::call_live_session(const plan::Plan& plan, const code::CodeRequest& code,
                                                 Clearance clearance, const code::RunContext& context) {
  const Snippet& snippet = *plan.request.snippet;
  const std::string key = plan.request.asker.agent + '\n' + snippet.session;
  std::shared_ptr<code::LiveSession> session;
  {
    const std::lock_guard one_at_a_time(*options.kept.starting);
    session = options.kept.live->find(key);
    // A session is started by its first call's clearance; the later ones each have a record of their own.
    if (!session) {
      auto started =
          code::LiveSession::start(*code::language_named(code.language), std::move(clearance), context.sandbox);
      if (!started) return code::refused(started.error());
      auto added = options.kept.live->add(key, *std::move(started));
      if (!added) return code::refused(added.error());
      session = *std::move(added);
    }
  }
  code::CodeResult result = session->call(code, context.sink, context.stop);
  if (result.session) result.session->id = snippet.session;
  return result;
}

int exit_code_of(const CodeExecution& execution) {
  const auto* broken = std::get_if<Broken>(&execution.execution.report.outcome);
  if (broken != nullptr && broken->error.fault == Fault::invalid_input) return 1;
  if (!execution.execution.ran() || execution.result.killed_by == Why::timeout) {
    return exit_code_of(execution.execution);
  }
  return execution.result.exit_code;
}

Json to_json(const CodeExecution& execution) {
  const Execution& whole = execution.execution;
  Json object = code::to_json(execution.result);
  const auto* waiting = std::get_if<Waiting>(&whole.report.outcome);
  object["executed"] = whole.ran();
  object["queued"] = waiting != nullptr;
  object["queue_id"] = whole.approval.empty() ? Json() : Json(whole.approval);
  object["blocked"] = std::holds_alternative<Refused>(whole.report.outcome);
  object["risk_level"] = name_of(whole.judgement.verdict.risk);
  object["risk_reasons"] = Json::array();
  for (const std::string& reason : reasons_of(whole.judgement)) {
    object["risk_reasons"].push_back(visible(reason, Lines::escape));
  }
  if (waiting != nullptr) {
    object["message"] = "Code queued for approval";
    object["approval_instructions"] = "Run: sandbox-queue approve " + waiting->id;
  }
  if (whole.unrecorded) object["unrecorded"] = true;
  if (!whole.alerts.empty()) object["alerts"] = whole.alerts;
  return object;
}

}  // namespace cordon::guard
