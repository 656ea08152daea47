// What a refusal leaves behind, wherever it was said: a line in the log, and notice to a person.
#pragma once

#include "guard/guard.h"

namespace cordon::guard {

/// What the rules are, as one digest: another file, line or value is another policy.
Digest policy_digest(const Settings& settings);

/// Whether these variables may be given to a run by name.
Result<void> check_environment(const Variables& asked);

/// The line of the log. `approval`: of the entry that was asked about, if there is one.
AuditRecord refusal_record(const Request& request, const Judgement& judgement, const Refused& refused,
                           const std::string& approval);
/// Tells it to whom it may concern.
void tell_refusal(const Alarm& alarm, const Request& request, const Judgement& judgement, const Refused& refused,
                  const std::string& approval);
/// Tells when the command looks as if it carried secrets out.
void tell_suspicion(const Alarm& alarm, const Request& request, const Judgement& judgement,
                    const std::string& approval);

}  // namespace cordon::guard
