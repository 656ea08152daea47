// From a plan that may run to its two records.
#include <utility>

#include "guard/contacts.h"
#include "guard/guard_state.h"
#include "guard/refusal.h"
#include "plan/profile.h"
#include "sys/file.h"

namespace cordon::guard {

namespace {

constexpr std::size_t most_recorded_output = 1U << 20;
constexpr std::size_t largest_detail = 8 * 1024;

/// Passes output on and keeps what the log wants of it.
class RecordingIo : public sandbox::Io {
 public:
  RecordingIo(sandbox::Io& caller, Contacts& contacts) : caller_(caller), contacts_(contacts) {}
  void output(sandbox::Stream stream, std::string_view bytes) override {
    kept_.append(bytes.substr(0, most_recorded_output - std::min(most_recorded_output, kept_.size())));
    caller_.output(stream, bytes);
  }
  void started() override { caller_.started(); }
  void left(sys::Fd memory) override { caller_.left(std::move(memory)); }
  std::optional<int> input_descriptor() override { return caller_.input_descriptor(); }
  std::string_view input_text() override { return caller_.input_text(); }
  WindowSize window_size() override { return caller_.window_size(); }
  void contact(const Contact& contact) override {
    contacts_.record(contact);
    caller_.contact(contact);
  }
  std::optional<std::vector<std::string>> network_rules() override { return contacts_.rules(); }
  bool allow_contact(const Contact& contact) override { return caller_.allow_contact(contact); }
  std::string take() { return std::move(kept_); }

 private:
  sandbox::Io& caller_;
  Contacts& contacts_;
  std::string kept_;
};

Json intent_detail(const plan::Plan& plan) {
  Json detail = plan::describe_run(plan);
  if (detail.dump(-1, ' ', false, Json::error_handler_t::replace).size() > largest_detail) {
    for (const char* key : {"files", "runs", "unpinned", "binds", "grants", "environment"})
      detail[key] = "too long to be recorded";
  }
  return detail;
}

/// In a clean room nobody is asked about them, so they are told here.
Json findings_of(const Judgement& judgement) {
  constexpr std::size_t most = 16;
  Json rules = Json::array();
  for (const Finding& finding : judgement.analysis.findings) {
    if (rules.size() < most) rules.push_back(finding.rule);
  }
  return rules;
}

Json outcome_detail(const RunReport& report) {
  Json detail = {{"isolation", {{"backend", report.isolation.backend}, {"level", report.isolation.level}}},
                 {"duration_ms", report.duration.count() / 1000},
                 {"cpu_ms", report.usage.cpu_ms},
                 {"memory_peak_bytes", report.usage.memory_peak_bytes},
                 {"stdout_bytes", report.usage.stdout_bytes},
                 {"stderr_bytes", report.usage.stderr_bytes}};
  if (const auto* killed = std::get_if<Killed>(&report.outcome)) {
    detail["killed_by"] = name_of(killed->why);
    detail["signal"] = killed->signal;
  }
  if (const auto* broken = std::get_if<Broken>(&report.outcome)) detail["error"] = broken->error.sentence;
  if (!report.quarantined.empty()) detail["quarantined"] = report.quarantined.size();
  if (!report.contacts.empty()) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t refused = 0;
    for (const Contact& contact : report.contacts) {
      sent += contact.sent;
      received += contact.received;
      if (contact.stage == Contact::Stage::refused) refused += contact.count;
    }
    detail["network"] = {{"sent_bytes", sent}, {"received_bytes", received}, {"refused", refused}};
  }
  return detail;
}

Json result_of(const RunReport& report) {
  Json result = outcome_detail(report);
  result["status"] = status_of(report.outcome);
  if (const auto* exited = std::get_if<Exited>(&report.outcome)) result["exit_code"] = exited->code;
  return result;
}

}  // namespace

void Guard::State::alarm(Alert::Kind kind, const Request& request, std::string sentence, std::string approval) const {
  if (options.alarm) options.alarm({kind, request.text, std::move(sentence), std::move(approval)});
}

AuditRecord Guard::State::record(RecordKind kind, const Request& request, const Judgement& judgement) const {
  return {.kind = kind,
          .command = request.text,
          .user = request.asker.user,
          .risk = judgement.verdict.risk,
          .rule = judgement.verdict.rule,
          .policy = rules->policy(),
          .agent = request.asker.agent,
          .session = request.asker.session};
}

Result<void> Guard::State::record_entry(RecordKind kind, const approve::Entry& entry, std::string status, Json detail) {
  audit::Log* book = TRY(log());
  TRY(book->append({.kind = kind,
                    .command = entry.request.command,
                    .user = entry.request.asker.user,
                    .status = std::move(status),
                    .risk = entry.request.risk,
                    .plan = entry.request.digest,
                    .approval = entry.id,
                    .agent = entry.request.asker.agent,
                    .session = entry.request.asker.session,
                    .detail = std::move(detail)}));
  return {};
}

Result<void> Guard::State::record_expired() {
  approve::Queue& waiting_line = *TRY(queue());
  for (const approve::Entry& entry : TRY(waiting_line.untold_expired())) {
    CHECK_OK(record_entry(RecordKind::approval_expired, entry, "expired", {{"reason", entry.reason}}));
    CHECK_OK(waiting_line.tell(entry.id));
    previews().let_go(entry.id);
  }
  return {};
}

void Guard::State::refuse(const Request& request, Execution& execution, Refused refused) {
  AuditRecord line = refusal_record(request, execution.judgement, refused, execution.approval);
  line.policy = rules->policy();
  const auto book = log();
  const auto written = book ? (*book)->append(line) : tl::make_unexpected(book.error());
  if (!written) {
    // It is refused all the same; only the record is missing, and that is said.
    execution.alerts.push_back("this refusal could not be recorded: " + written.error().sentence);
    alarm(Alert::Kind::audit_trouble, request, written.error().sentence);
  }
  tell_refusal(options.alarm, request, execution.judgement, refused, execution.approval);
  execution.report.outcome = std::move(refused);
}

Deed Guard::State::plain_deed(sandbox::Io& io, std::stop_token stop) {
  return [&io, stop = std::move(stop)](Place place, Clearance clearance, Contacts& contacts, std::string& output) {
    RecordingIo recording(io, contacts);
    recording.started();
    RunReport report = place.sandbox.run_prepared(std::move(place.prepared), std::move(clearance), recording, stop);
    output = recording.take();
    return report;
  };
}

void Guard::State::run(const plan::Plan& plan, Execution& execution, const Deed& deed) {
  suspect(plan.request, execution);
  run_recorded(plan, execution, deed);
  // Also when nothing ran in the end: the approval is spent, and its entry must say what came of it.
  if (!execution.approval.empty()) {
    const auto* exited = std::get_if<Exited>(&execution.report.outcome);
    if (const auto waiting_line = queue()) {
      static_cast<void>(
          (*waiting_line)
              ->conclude(execution.approval, result_of(execution.report), exited != nullptr && exited->code == 0));
    }
    previews().let_go(execution.approval);  // what it did now is another thing
  }
  keep_house();
}

void Guard::State::suspect(const Request& request, const Execution& execution) const {
  tell_suspicion(options.alarm, request, execution.judgement, execution.approval);
}

void Guard::State::run_recorded(const plan::Plan& plan, Execution& execution, const Deed& deed, RunKind kind) {
  const Request& request = plan.request;
  auto chosen = sandbox(plan.where, plan.profile.backend);
  if (!chosen) {
    execution.report.outcome = Broken{chosen.error()};
    return;
  }
  Place place{**chosen, nullptr};
  // Snippets have places of their own ready.
  if (!request.snippet) place.prepared = place.sandbox.prepare(plan.profile);
  AuditRecord line = record(RecordKind::intent, request, execution.judgement);
  line.plan = plan.digest();
  line.approval = execution.approval;
  line.detail = intent_detail(plan);
  if (request.snippet) line.detail["findings"] = findings_of(execution.judgement);
  if (kind != RunKind::real) line.detail["preview"] = true;
  const auto id = random_bytes(12);
  if (!id) {
    execution.report.outcome = Broken{id.error()};
    return;
  }
  line.request = "run_" + to_hex(*id);
  const auto book = log();
  auto clearance = book ? (*book)->intend(line, plan.profile) : tl::make_unexpected(book.error());
  if (!clearance) {
    alarm(Alert::Kind::audit_trouble, request, clearance.error().sentence);
    if (rules->settings.on_audit_failure.value != OnAuditFailure::go_on) {
      execution.report.outcome =
          Broken{{clearance.error().fault, "not recorded, so not run: " + clearance.error().sentence}};
      return;
    }
    execution.unrecorded = true;
    execution.alerts.push_back("RUN WITHOUT A RECORD (on_audit_failure is \"continue\"): " +
                               clearance.error().sentence);
    clearance = audit::Log::clear_without_record({clearance.error().sentence}, plan.profile);
  }
  Contacts contacts(execution.unrecorded ? nullptr : *book, line, options.sources, plan::granted_rules(plan.grants));
  std::string output;
  execution.report = deed(std::move(place), *std::move(clearance), contacts, output);
  // Let go of last, and in any case before anybody is told: it needs time that the record needs too.
  const auto holding = std::exchange(execution.report.holding, nullptr);
  if (!contacts.trouble().empty()) {
    execution.alerts.push_back("not every connection could be recorded: " + contacts.trouble());
    alarm(Alert::Kind::audit_trouble, request, contacts.trouble());
  }
  if (!execution.unrecorded) {
    line.kind = RecordKind::outcome;
    line.status = status_of(execution.report.outcome);
    if (const auto* exited = std::get_if<Exited>(&execution.report.outcome)) line.exit = exited->code;
    // What only an approver is to see is not in a log that others may be shown.
    if (kind == RunKind::preview_for_approver) {
      line.exit.reset();
      line.detail = Json::object();
    } else {
      line.output = std::move(output);
      line.detail = outcome_detail(execution.report);
    }
    if (kind != RunKind::real) {
      line.detail["preview"] = true;
      line.status = "previewed";
    }
    if (const auto concluded = (*book)->conclude(std::move(line)); !concluded) {
      execution.alerts.push_back("the outcome could not be recorded: " + concluded.error().sentence);
      alarm(Alert::Kind::audit_trouble, request, concluded.error().sentence);
    }
    // A log of our own signs at its end in any case; here that is done while the run's remains are cleared away.
    if (!options.kept.log) static_cast<void>((*book)->checkpoint());
  }
}

Result<Guard::State::Change> Guard::State::intend_change(const plan::Plan& plan, const Execution& execution,
                                                         Json detail) {
  AuditRecord line = record(RecordKind::intent, plan.request, execution.judgement);
  line.plan = plan.digest();
  line.approval = execution.approval;
  line.detail = std::move(detail);
  line.request = "run_" + to_hex(TRY(random_bytes(12)));
  audit::Log* book = TRY(log());
  Clearance clearance = TRY(book->intend(line, plan.profile));
  line.kind = RecordKind::outcome;
  return Change{std::move(line), std::move(clearance)};
}

/// Once a day: what is older than the settings say goes.
void Guard::State::keep_house() {
  contents.remember();
  const std::string stamp = options.sources.state_dir + "/retained";
  const std::string today = day_of(clock->now());
  if (const auto last = sys::read_file_if_exists(stamp, 64); last && *last && **last == today) return;
  if (!log_ || !sys::replace_file_unsynced(stamp, today, 0600)) return;
  static_cast<void>(log_->retain(std::chrono::milliseconds(rules->settings.approval.audit_retention_ms.value)));
}

}  // namespace cordon::guard
