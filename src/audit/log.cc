#include "audit/log.h"

#include "audit/abandoned.h"
#include "audit/log_state.h"

namespace cordon::audit {

namespace {

bool written_by_the_log(RecordKind kind) {
  return kind == RecordKind::day_open || kind == RecordKind::intent || kind == RecordKind::recovery ||
         kind == RecordKind::retention || kind == RecordKind::gap;
}

}  // namespace

Log::Log(std::unique_ptr<State> state) : state_(std::move(state)) {}
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;

Log::~Log() {
  if (!state_) return;
  (void)checkpoint();
  state_->running.close();
}

Result<Log> Log::open(const std::string& directory, const Clock& clock, LogOptions options) {
  Store store = TRY(Store::open(directory, clock, options.store));
  Redactor redactor = TRY(Redactor::create(store.hmac_key(), std::move(options.secrets), options.patterns));
  Log log(std::make_unique<State>(std::move(store), std::move(redactor), clock));
  CHECK_OK(log.close_abandoned());
  return log;
}

Result<std::uint64_t> Log::write(const AuditRecord& record, Priority priority) {
  const PreparedLine line = TRY(prepare_line(record, state_->redactor));
  CHECK_OK(state_->keep_blobs(line.blobs));
  PendingLine pending{&line, priority};
  state_->commit(pending);
  return pending.seq;
}

Result<Clearance> Log::intend(AuditRecord record, Profile profile) {
  if (record.request.empty()) return fail(Fault::invalid_input, "an intent needs a request id");
  record.kind = RecordKind::intent;
  record.status = "started";
  if (!state_->broken) CHECK_OK(state_->running.begin(record.request, state_->seen));
  const auto seq = write(record, Priority::ordinary);
  if (!seq) {
    // After a failed sync the intent may be in the file all the same. Then it stays open, and the next writer closes
    // it.
    if (!state_->broken) state_->running.end(record.request);
    return tl::make_unexpected(seq.error());
  }
  return Clearance(std::move(profile), *seq);
}

Result<std::uint64_t> Log::conclude(AuditRecord record) {
  record.kind = RecordKind::outcome;
  const std::uint64_t seq = TRY(write(record, Priority::last_words));
  state_->running.end(record.request);
  return seq;
}

Result<std::uint64_t> Log::append(const AuditRecord& record) {
  if (written_by_the_log(record.kind) || record.kind == RecordKind::outcome) {
    return fail(Fault::invalid_input, "records of kind {} are not written this way", name_of(record.kind));
  }
  return write(record, Priority::ordinary);
}

Result<void> Log::checkpoint() {
  return state_->alone([&] { return state_->store.checkpoint(); });
}

Result<std::string> Log::signed_checkpoint() {
  CHECK_OK(checkpoint());
  const auto note = TRY(state_->store.directory().read("checkpoint", 4096));
  if (!note) return fail(Fault::corrupt, "the log has no checkpoint: run `cordon audit verify`");
  return *note;
}

std::string Log::verifier_key() const { return state_->store.signer().verifier_key(); }
const Redactor& Log::redactor() const { return state_->redactor; }
const std::string& Log::directory() const { return state_->store.directory().path(); }

Clearance Log::clear_without_record(const AllowUnrecordedRun&, Profile profile) {
  return Clearance(std::move(profile), Clearance::no_record);
}

Result<void> Log::close_abandoned() {
  const sys::Directory& directory = state_->store.directory();
  const RunningFiles running = TRY(look_for_abandoned(directory));
  const bool restarted = state_->store.machine_restarted();
  if (running.abandoned.empty() && !restarted) return {};
  for (const AuditRecord& record : TRY(abandoned_runs(directory, running, restarted))) {
    (void)TRY(write(record, Priority::last_words));
  }
  for (const OpenRuns& runs : running.abandoned) CHECK_OK(directory.remove(runs.name));
  return {};
}

}  // namespace cordon::audit
