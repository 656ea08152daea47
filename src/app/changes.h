// Changes of who may do what are recorded like runs are: no record, no change.
#pragma once

#include <string>

#include "app/command_line.h"
#include "base/json.h"
#include "base/result.h"
#include "model/audit_record.h"

namespace cordon::app {

/// Call it before the change. `what` is the sentence of the log line, e.g. "allowlist add: cargo build".
Result<void> record_change(const GlobalOptions& global, RecordKind kind, const std::string& what, const Json& detail);

}  // namespace cordon::app
