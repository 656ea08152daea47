// The parts of `cordon audit`, one file for each kind of work; audit.cc puts them on the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "app/command_line.h"
#include "app/presence.h"
#include "app/terminal.h"
#include "audit/query.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "model/analysis.h"

namespace cordon::app {

/// Where the log is: in the state directory, which no sandbox sees.
Result<std::string> audit_directory(const GlobalOptions& global);

struct AuditFilterOptions {
  std::string risk_level;
  std::string status;
  std::string since;
  std::string until;
  std::string command_pattern;
  std::string user;
  bool all = false;

  void add_to(Verb verb);
  Result<audit::Filter> filter(Time now) const;
};

/// A time, a day, or how long ago.
Result<Time> moment_of(const std::string& option, const std::string& text, Time now);

struct AuditLogOptions {
  AuditFilterOptions filter;
  std::uint64_t last = 20;
  bool jsonl = false;
};
Result<int> audit_log(const GlobalOptions& global, const AuditLogOptions& options);

struct AuditShowOptions {
  std::uint64_t seq = 0;
  bool raw = false;
  bool output = false;
};
Result<int> audit_show(const GlobalOptions& global, const AuditShowOptions& options);

struct AuditFindOptions {
  std::string secret;
};
Result<int> audit_find(const GlobalOptions& global, const AuditFindOptions& options);

Result<int> audit_stats(const GlobalOptions& global, const std::string& period);

struct AuditExportOptions {
  AuditFilterOptions filter;
  std::string format = "json";
  std::string output;
  bool force = false;
};
Result<int> audit_export(const GlobalOptions& global, const AuditExportOptions& options);

struct AuditVerifyOptions {
  std::string key;
  std::string from;
  std::string to;
  std::vector<std::string> against;
};
Result<int> audit_verify(const GlobalOptions& global, const AuditVerifyOptions& options);
Result<int> audit_prove(const GlobalOptions& global, std::uint64_t seq);
Result<int> audit_checkpoint(const GlobalOptions& global);

struct AuditRetainOptions {
  std::uint64_t days = 0;  // 0: as the settings say
  bool dry_run = false;
  PresenceOptions presence;
};
Result<int> audit_retain(const GlobalOptions& global, const AuditRetainOptions& options);

struct AuditEraseOptions {
  std::uint64_t seq = 0;
  std::string reason;
  PresenceOptions presence;
};
Result<int> audit_erase(const GlobalOptions& global, const AuditEraseOptions& options);

struct AuditQuarantineOptions {
  std::string reason;
  PresenceOptions presence;
};
Result<int> audit_quarantine(const GlobalOptions& global, const AuditQuarantineOptions& options);

Style style_of_risk(std::string_view risk);
/// "12,345".
std::string grouped(std::uint64_t number);
/// As JSON for a program; on a terminal with everything but ASCII escaped, since a log quotes strangers.
void print_json(const Json& json);
/// Says on stderr that damage is known: what is read then may not be what was written.
Result<void> warn_of_damage(const std::string& directory);

}  // namespace cordon::app
