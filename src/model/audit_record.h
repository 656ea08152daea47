// What the audit log is told. `guard/` and `approve/` make these; `audit/` writes them. docs/audit-format.md is the
// form on disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/json.h"
#include "model/analysis.h"
#include "model/outcome.h"

namespace cordon {

/// Closed: a verifier refuses a line of any other kind. A new one is a new row of the table in audit_record.cc and of
/// docs/audit-format.md.
enum class RecordKind {
  day_open,            // first line of each day: the tree so far. Written by the log itself
  intent,              // about to run
  outcome,             // how it ended
  refused,             // never ran
  approval_requested,  // waits for a person
  approval_decided,    // approved or rejected
  approval_expired,
  approval_consumed,  // an approval was spent
  approval_drifted,   // what was approved is no longer what would run
  policy_changed,     // allowlist, grants, trust
  config_changed,
  start,  // of a daemon
  stop,
  network,      // one connection through the proxy
  recovery,     // what the log found and repaired. Written by the log itself
  retention,    // which days were deleted. Written by the log itself
  key_rotated,  // the next seals are signed by another key
  gap,          // the clock went back, or records are known to be missing. Written by the log itself
};
const char* name_of(RecordKind kind);
std::optional<RecordKind> record_kind_named(std::string_view name);

struct AuditRecord {
  RecordKind kind = RecordKind::start;
  // The six fields that every line begins with, after its time.
  std::string command;  // any bytes; never cut silently
  std::string user;
  std::string status;  // what became of it: status_of(outcome), or a word of the caller's
  std::string output;
  std::optional<Risk> risk;
  // What ties lines together. Empty: not written.
  std::string request;  // the same for the intent and the outcome of one run
  std::string rule;
  std::optional<Digest> policy;
  std::optional<Digest> plan;
  std::optional<int> exit;
  std::string approval;
  std::string agent;
  std::string session;
  Json detail;  // an object of the kind's own, at most 12 KiB; null: none
};

/// "executed", "failed" (exit code other than 0), "killed", "blocked", "queued" or "broken".
const char* status_of(const Outcome& outcome);

}  // namespace cordon
