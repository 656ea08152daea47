// The audit log and the allowlist.
#include <filesystem>

#include "audit/query.h"
#include "serve/tools/commands.h"

namespace cordon::serve {

namespace {

std::string audit_directory(const Premises& premises) { return premises.sources().state_dir + "/audit"; }

bool begun(const std::string& directory) {
  std::error_code ignored;
  return std::filesystem::exists(directory, ignored);
}

/// An agent reads its own records: those of others may quote what it must not know.
audit::Filter filter_for(const Caller& caller) {
  audit::Filter filter;
  if (caller.role != Role::agent) return filter;
  filter.user = caller.principal.user;
  filter.agent = caller.principal.agent;
  return filter;
}

Result<Time> moment_of(const std::string& text, Time now) {
  if (const auto ago = parse_duration(text); ago && *ago <= now.time_since_epoch()) return now - *ago;
  if (const auto time = from_rfc3339(text)) return *time;
  return fail(Fault::invalid_input,
              "`since` must be a time (2026-02-25 or 2026-02-25T10:00:00Z) or how long ago (2h), not '{}'", text);
}

Result<void> record_change(const Premises& premises, const Call& call, const std::string& what, Json detail) {
  Request request = TRY(premises.request(call.caller, what, ""));
  guard::Guard guard = TRY(premises.guard_for_stored(request));
  audit::Log* log = TRY(guard.log());
  TRY(log->append({.kind = RecordKind::policy_changed,
                   .command = what,
                   .user = call.caller.principal.user,
                   .status = "changed",
                   .agent = call.caller.principal.agent,
                   .session = call.caller.principal.session,
                   .detail = std::move(detail)}));
  return {};
}

}  // namespace

Result<Json> read_log(const Premises& premises, const Call& call) {
  audit::Filter filter = filter_for(call.caller);
  if (const std::string risk = text_in(call.arguments, "risk_level"); !risk.empty()) filter.risk = risk_named(risk);
  if (const std::string since = text_in(call.arguments, "since"); !since.empty()) {
    filter.since = TRY(moment_of(since, premises.clock().now()));
  }
  filter.command = text_in(call.arguments, "command_pattern");
  const std::string directory = audit_directory(premises);
  if (!begun(directory)) return audit::records_json({});
  const auto limit = static_cast<std::size_t>(number_in(call.arguments, "limit", 50));
  return audit::records_json(TRY(audit::last_lines(directory, filter, limit)));
}

Result<Json> read_stats(const Premises& premises, const Call& call) {
  const std::string period = text_in(call.arguments, "period", "all");
  const Time now = premises.clock().now();
  std::optional<Time> since;
  if (period != "all") since = now - parse_duration(period).value_or(Duration(0));
  const std::string directory = audit_directory(premises);
  if (!begun(directory)) return audit::stats_json({});
  if (call.caller.role != Role::agent) return audit::stats_json(TRY(audit::summarise(directory, since)));
  audit::Filter filter = filter_for(call.caller);
  filter.every_kind = true;
  // Whole days, as for everyone else.
  if (since) filter.since = from_rfc3339(day_of(*since));
  return audit::stats_json(TRY(audit::summarise(directory, filter)));
}

Result<Json> add_to_allowlist(const Premises& premises, const Call& call) {
  const std::string pattern = text_in(call.arguments, "pattern");
  const std::string reason = text_in(call.arguments, "description");
  const approve::Presence presence = call.caller.presence;
  if (call.caller.principal.is_agent || call.caller.inside_sandbox || presence == approve::Presence::none) {
    return fail(Fault::denied, "the allowlist is a person's to widen; ask the user to run: sandbox-allowlist add");
  }
  policy::AllowlistEntry entry{.pattern = pattern,
                               .reason = reason,
                               .added_by = call.caller.principal.user + " (" + approve::name_of(presence) + ")",
                               .added_at = premises.clock().now()};
  entry.auto_approve = flag_in(call.arguments, "auto_approve", true);
  CHECK_OK(record_change(premises, call, "allowlist add: " + pattern,
                         {{"presence", approve::name_of(presence)}, {"reason", reason.substr(0, 1024)}}));
  CHECK_OK(policy::AllowlistStore(premises.sources().state_dir).add(std::move(entry)));
  return Json{{"success", true}, {"pattern", pattern}, {"message", "Pattern added to allowlist"}};
}

Result<Json> remove_from_allowlist(const Premises& premises, const Call& call) {
  const std::string pattern = text_in(call.arguments, "pattern");
  CHECK_OK(record_change(premises, call, "allowlist remove: " + pattern, {}));
  CHECK_OK(policy::AllowlistStore(premises.sources().state_dir).remove(pattern));
  return Json{{"success", true}, {"pattern", pattern}, {"message", "Pattern removed from allowlist"}};
}

Result<Json> test_allowlist(const Premises& premises, const Call& call) {
  const Request request = TRY(premises.request(call.caller, text_in(call.arguments, "command"), ""));
  const guard::Guard guard = TRY(premises.guard(call.caller, request));
  return guard::coverage_json(guard.judge(request), guard.settings(), guard.allowlist(), premises.clock().now());
}

}  // namespace cordon::serve
