// Whom a run reaches for: into the log, one line when a server is reached and one when it is left; and the rules for
// its proxy as they are now, so that a change counts for the next connection.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/log.h"
#include "base/json.h"
#include "config/load.h"
#include "model/audit_record.h"
#include "model/outcome.h"

namespace cordon::guard {

class Contacts {
 public:
  /// `line` is what every record begins with; without a log nothing is recorded.
  Contacts(audit::Log* log, AuditRecord line, config::Sources sources, std::vector<std::string> granted);

  void record(const Contact& contact);
  /// Settings that cannot be read open nothing.
  std::vector<std::string> rules();
  /// What could not be recorded; empty: everything was.
  const std::string& trouble() const { return trouble_; }

 private:
  std::string stamp() const;

  audit::Log* log_;
  AuditRecord line_;
  config::Sources sources_;
  std::vector<std::string> granted_;
  std::string read_at_;  // the stamp of the settings that `rules_` are from
  std::vector<std::string> rules_;
  std::set<std::string> refused_;
  std::string trouble_;
};

/// Ready-made lines for the Network section: what would have allowed everything that was refused.
std::vector<std::string> rules_to_allow(const std::vector<Contact>& contacts);
Json to_json(const Contact& contact);

}  // namespace cordon::guard
