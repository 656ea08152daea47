// The audit log. No record, no run: only this class makes a Clearance, and only after the record of what will run is on
// disk. One Log may be used by many threads; many processes may have one open on the same directory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "audit/redactor.h"
#include "audit/store.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/audit_record.h"
#include "model/clearance.h"

namespace cordon::audit {

struct LogOptions {
  StoreOptions store;
  std::vector<KnownSecret> secrets;
  std::vector<SecretPattern> patterns;
};

/// Must be named to run something without a record. Only the setting `on_audit_failure: "continue"` leads here, and who
/// uses it must say so loudly.
struct AllowUnrecordedRun {
  std::string reason;
};

/// Every call fails the same way. `Fault::corrupt`: damage was found and nothing is written until it has been answered.
/// `Fault::unavailable`: a write or sync failed (final for this Log), or the disk is full (intents are refused,
/// outcomes still go into the reserve). `Fault::invalid_input`: this record cannot be written; others can.
class Log {
 public:
  /// Makes the log if there is none; repairs a torn last line; closes what a process that died had begun.
  /// `clock` must outlive the log.
  static Result<Log> open(const std::string& directory, const Clock& clock, LogOptions options);
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  /// Signs what is not signed yet, as far as that still can be done.
  ~Log();

  /// The record is durable when this returns a Clearance. Its kind and status are set here: intent, "started".
  Result<Clearance> intend(AuditRecord record, Profile profile);
  /// Says how what was intended under `record.request` has ended. `record.output` is the whole output: an excerpt
  /// stands in the line, the rest in an erasable file beside the log.
  Result<std::uint64_t> conclude(AuditRecord record);
  /// Any other record. The kinds that the log writes itself, and intent, are refused.
  Result<std::uint64_t> append(const AuditRecord& record);

  Result<void> checkpoint();
  /// Deletes the contents of days before `keep` ago, after writing a notice. Seals stay. Returns the deleted days.
  Result<std::vector<std::string>> retain(Duration keep);
  /// The same on behalf of a person, whom the notice names.
  Result<std::vector<std::string>> retain(Duration keep, const std::string& by);
  /// Removes the texts that record `seq` committed to (its output, its command), after writing who wanted it and why.
  /// Every proof stays. False when there is nothing to erase.
  Result<bool> erase(std::uint64_t seq, const std::string& by, const std::string& reason);
  /// The newest signed state, to be kept elsewhere: see VerifyRequest::against.
  Result<std::string> signed_checkpoint();
  /// A proof that record `seq` is in the log, which check_proof() and any C2SP tlog-proof reader can check.
  Result<std::string> prove(std::uint64_t seq);

  /// The key with which others verify this log: name+id+base64.
  std::string verifier_key() const;
  const Redactor& redactor() const;
  const std::string& directory() const;

  static Clearance clear_without_record(const AllowUnrecordedRun& allowed, Profile profile);

 private:
  struct State;
  explicit Log(std::unique_ptr<State> state);
  Result<std::uint64_t> write(const AuditRecord& record, Priority priority);
  Result<void> close_abandoned();
  std::unique_ptr<State> state_;
};

}  // namespace cordon::audit
