#include "guard/refusal.h"

namespace cordon::guard {

namespace {

constexpr std::size_t longest_reason = 4096;

}  // namespace

AuditRecord refusal_record(const Request& request, const Judgement& judgement, const Refused& refused,
                           const std::string& approval) {
  return {.kind = RecordKind::refused,
          .command = request.text,
          .user = request.asker.user,
          .status = "blocked",
          .risk = judgement.verdict.risk,
          .rule = refused.rule,
          .approval = approval,
          .agent = request.asker.agent,
          .session = request.asker.session,
          .detail = {{"reason", refused.reason.substr(0, longest_reason)},
                     {"cwd", request.cwd},
                     {"surface", request.asker.surface}}};
}

void tell_refusal(const Alarm& alarm, const Request& request, const Judgement& judgement, const Refused& refused,
                  const std::string& approval) {
  tell_suspicion(alarm, request, judgement, approval);
  // Who said no themselves need not be told.
  if (!alarm || refused.rule == "approval.rejected" || refused.rule == "queue.full") return;
  const bool disallowed = judgement.verdict.risk == Risk::disallowed;
  alarm({disallowed ? Alert::Kind::disallowed : Alert::Kind::blocked, request.text, refused.reason, approval});
}

void tell_suspicion(const Alarm& alarm, const Request& request, const Judgement& judgement,
                    const std::string& approval) {
  if (!alarm) return;
  for (const Finding& finding : judgement.analysis.findings) {
    if (finding.rule.find("exfiltrat") == std::string::npos) continue;
    return alarm({Alert::Kind::exfiltration_suspected, request.text, finding.reason, approval});
  }
}

}  // namespace cordon::guard
