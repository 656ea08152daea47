#include "guard/execution.h"

#include "base/text.h"
#include "guard/contacts.h"

namespace cordon::guard {

namespace {

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;  // clang 16 does not guess it

std::string as_text(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto character = decode_utf8(bytes, at);
    append_utf8(text, character ? character->character : U'\ufffd');
    at += character ? character->length : 1;
  }
  return text;
}

Json exit_code_json(const Outcome& outcome) {
  return std::visit(
      Match{[](const Exited& exited) { return Json(exited.code); },
            [](const Killed& killed) { return Json(killed.why == Why::timeout ? 124 : 128 + killed.signal); },
            [](const auto&) { return Json(); }},
      outcome);
}

Json violations_json(const std::vector<Violation>& violations) {
  Json list = Json::array();
  for (const Violation& violation : violations) {
    list.push_back({{"what", as_text(violation.what)},
                    {"rule", violation.rule},
                    {"allow", violation.allow.empty() ? Json() : Json(violation.allow)},
                    {"count", violation.count}});
  }
  return list;
}

Json quarantined_json(const std::vector<Quarantined>& quarantined) {
  Json list = Json::array();
  for (const Quarantined& one : quarantined) list.push_back({{"path", as_text(one.path)}, {"kept", as_text(one.kept)}});
  return list;
}

Json error_json(const Outcome& outcome) {
  return std::visit(
      Match{[](const Exited&) { return Json(); }, [](const Killed& killed) { return Json(as_text(killed.sentence)); },
            [](const Refused& refused) { return Json(as_text(refused.reason)); }, [](const Waiting&) { return Json(); },
            [](const Broken& broken) { return Json(as_text(broken.error.sentence)); }},
      outcome);
}

}  // namespace

bool Execution::ran() const {
  return std::holds_alternative<Exited>(report.outcome) || std::holds_alternative<Killed>(report.outcome);
}

Json to_json(const Execution& execution, const Output& output) {
  const RunReport& report = execution.report;
  const auto* exited = std::get_if<Exited>(&report.outcome);
  const auto* killed = std::get_if<Killed>(&report.outcome);
  const auto* waiting = std::get_if<Waiting>(&report.outcome);
  Json object = {{"success", exited != nullptr && exited->code == 0},
                 {"command", as_text(execution.judgement.script.text)},
                 {"stdout", as_text(output.out)},
                 {"stderr", as_text(output.err)},
                 {"exit_code", exit_code_json(report.outcome)},
                 {"duration_ms", report.duration.count() / 1000},
                 {"executed", execution.ran()},
                 {"safety", to_json(execution.judgement)},
                 {"queued", waiting != nullptr},
                 {"queue_id", execution.approval.empty() ? Json() : Json(execution.approval)},
                 {"blocked", std::holds_alternative<Refused>(report.outcome)},
                 {"error", error_json(report.outcome)},
                 {"isolation",
                  {{"backend", report.isolation.backend},
                   {"level", report.isolation.level},
                   {"missing", report.isolation.missing}}},
                 {"killed_by", killed != nullptr ? Json(name_of(killed->why)) : Json()},
                 {"truncated", {{"stdout", report.truncated.out}, {"stderr", report.truncated.err}}},
                 {"usage",
                  {{"cpu_ms", report.usage.cpu_ms},
                   {"memory_peak_bytes", report.usage.memory_peak_bytes},
                   {"processes_peak", report.usage.processes_peak}}}};
  if (waiting != nullptr) {
    object["message"] = execution.merged ? "Command is already queued for approval" : "Command queued for approval";
    object["approval_instructions"] = "Run: sandbox-queue approve " + waiting->id;
    object["expires_at"] = to_rfc3339(waiting->expires);
  }
  if (!execution.ran() || execution.committed) object["isolation"] = nullptr;
  if (execution.committed) {
    object["committed"] = execution.committed->preview;
    object["applied"] = execution.committed->applied;
    object["message"] = "Its approver applied exactly what it did in a preview; it was not run again";
  }
  object["grants"] = object["safety"]["grants"];
  object["needs"] = object["safety"]["needs"];
  object["violations"] = violations_json(report.violations);
  object["quarantined"] = quarantined_json(report.quarantined);
  if (!report.contacts.empty()) {
    Json contacts = Json::array();
    for (const Contact& contact : report.contacts) contacts.push_back(to_json(contact));
    object["network"] = {{"contacts", std::move(contacts)}, {"rules_to_allow", rules_to_allow(report.contacts)}};
  }
  if (execution.unrecorded) object["unrecorded"] = true;
  if (!execution.alerts.empty()) object["alerts"] = execution.alerts;
  return object;
}

int exit_code_of(const Execution& execution) {
  return std::visit(
      Match{[](const Exited& exited) { return exited.code; },
            [](const Killed& killed) { return killed.why == Why::timeout ? 124 : 128 + killed.signal; },
            [](const Refused&) { return 126; }, [](const Waiting&) { return 75; }, [](const Broken&) { return 125; }},
      execution.report.outcome);
}

std::string sentence_of(const Execution& execution) {
  return std::visit(
      Match{[](const Exited&) { return std::string(); },
            [](const Killed& killed) { return visible(killed.sentence, Lines::escape); },
            [](const Refused& refused) { return "refused: " + visible(refused.reason, Lines::escape); },
            [&](const Waiting& waiting) {
              return fmt::format("{}as {}; not started. Run: sandbox-queue approve {}",
                                 execution.merged ? "already queued for approval " : "queued for approval ", waiting.id,
                                 waiting.id);
            },
            [](const Broken& broken) { return "could not run it: " + visible(broken.error.sentence, Lines::escape); }},
      execution.report.outcome);
}

}  // namespace cordon::guard
