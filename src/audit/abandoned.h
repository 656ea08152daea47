// Runs that began and whose end nobody recorded.
#pragma once

#include <vector>

#include "audit/running.h"
#include "model/audit_record.h"

namespace cordon::audit {

/// A recovery record for each intent of a dead process that has neither outcome nor recovery. After a restart of the
/// machine every process is dead whose file is not held, so the last two days are searched too.
Result<std::vector<AuditRecord>> abandoned_runs(const sys::Directory& directory, const RunningFiles& running,
                                                bool machine_restarted);

}  // namespace cordon::audit
