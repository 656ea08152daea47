#include "serve/tools/commands.h"

#include "config/bind.h"
#include "guard/explain.h"
#include "guard/secrets.h"
#include "serve/tools/progress.h"

namespace cordon::serve {

Result<Json> check_command(const Premises& premises, const Call& call) {
  Request request = TRY(premises.request(call.caller, text_in(call.arguments, "command"), ""));
  const Json context = call.arguments.value("context", Json::object());
  // Only supposed: it need not exist, and nothing runs there.
  if (const std::string directory = text_in(context, "working_dir"); !directory.empty()) {
    request.cwd = config::normal_path(directory.starts_with('/') ? directory : request.cwd + "/" + directory);
  }
  request.asker.user = text_in(context, "user", request.asker.user);
  const guard::Guard guard = TRY(premises.guard(call.caller, request));
  return guard::to_json(guard.judge(request));
}

namespace {

Result<Request> request_of(const Premises& premises, const Call& call) {
  const Json& given = call.arguments;
  Request request = TRY(premises.request(call.caller, text_in(given, "command"), text_in(given, "working_dir")));
  request.require_approval = flag_in(given, "require_approval", false);
  if (given.contains("timeout")) request.wall_ms = static_cast<std::uint64_t>(number_in(given, "timeout", 0));
  const Json variables = given.value("env", Json::object());
  for (const auto& [name, value] : variables.items()) {
    request.environment.emplace_back(name, value.get<std::string>());
  }
  return request;
}

class PassedOutput : public code::Sink {
 public:
  explicit PassedOutput(const Call& call) : call_(call) {}
  void output(sandbox::Stream stream, std::string_view bytes) override { call_.output(stream, bytes); }

 private:
  const Call& call_;
};

}  // namespace

Result<Json> execute_command(const Premises& premises, const Call& call) {
  const Request request = TRY(request_of(premises, call));
  guard::Guard guard = TRY(premises.guard(call.caller, request));
  if (flag_in(call.arguments, "dry_run", guard.settings().approval.dry_run.value)) {
    return guard::to_json(guard.preview(request, {.keep = flag_in(call.arguments, "keep", false)}, call.stop));
  }
  ReportingIo io(call);
  guard::Asking asking;
  asking.approval = text_in(call.arguments, "approval");
  asking.wait = call.wait;
  if (call.arguments.contains("wait")) asking.wait = std::chrono::milliseconds(number_in(call.arguments, "wait", 0));
  asking.waiting = [&io](const approve::Entry& entry) { io.waits_for(entry.id); };
  const guard::Execution execution = guard.execute(request, asking, io, call.stop);
  return guard::to_json(execution, {io.out, io.err});
}

Result<Json> run_snippet(const Premises& premises, const Call& call) {
  const Json& given = call.arguments;
  Request request = TRY(premises.request(call.caller, "", ""));
  Snippet snippet{.language = text_in(given, "language"), .code = text_in(given, "code")};
  snippet.session = text_in(given, "session");
  snippet.output_bytes =
      static_cast<std::uint64_t>(number_in(given, "maxOutputSize", static_cast<std::int64_t>(snippet.output_bytes)));
  request.snippet = std::move(snippet);
  if (given.contains("timeout")) request.wall_ms = static_cast<std::uint64_t>(number_in(given, "timeout", 0));
  guard::Guard guard = TRY(premises.guard(call.caller, request));
  // It reports that it runs; what the code prints comes with the answer, and before it to who wants it at once.
  ReportingIo io(call);
  io.started();
  guard::Asking asking;
  asking.wait = call.wait;
  PassedOutput sink(call);
  guard::CodeStreams streams;
  if (call.output) streams.sink = &sink;
  return guard::to_json(guard.run_code(std::move(request), asking, streams, call.stop));
}

Result<Json> explain_settings(const Premises& premises, const Call& call) {
  const Principal& asker = call.caller.principal;
  Request request = TRY(premises.request(call.caller, text_in(call.arguments, "command"), ""));
  guard::Guard guard = TRY(premises.guard_for_stored(request));
  std::vector<guard::Session> seen = TRY(guard::Sessions(premises.sources().state_dir).list());
  // Other agents' sessions are none of its business.
  if (call.caller.role == Role::agent) {
    std::erase_if(seen, [&](const guard::Session& session) { return session.agent != asker.agent; });
  }
  guard::Explanation explanation =
      guard::explain(guard.settings(), asker.agent, text_in(call.arguments, "session", asker.session), seen);
  if (!request.text.empty()) explanation.command = guard.rehearse(request, explanation.plan).judgement;
  return guard::to_json(explanation);
}

}  // namespace cordon::serve
