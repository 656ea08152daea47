#include "model/audit_record.h"

#include <array>

namespace cordon {

namespace {

struct Row {
  RecordKind kind;
  const char* name;
};
constexpr std::array rows = {
    Row{RecordKind::day_open, "day.open"},
    Row{RecordKind::intent, "intent"},
    Row{RecordKind::outcome, "outcome"},
    Row{RecordKind::refused, "refused"},
    Row{RecordKind::approval_requested, "approval.requested"},
    Row{RecordKind::approval_decided, "approval.decided"},
    Row{RecordKind::approval_expired, "approval.expired"},
    Row{RecordKind::approval_consumed, "approval.consumed"},
    Row{RecordKind::approval_drifted, "approval.drifted"},
    Row{RecordKind::policy_changed, "policy.changed"},
    Row{RecordKind::config_changed, "config.changed"},
    Row{RecordKind::start, "start"},
    Row{RecordKind::stop, "stop"},
    Row{RecordKind::network, "network"},
    Row{RecordKind::recovery, "recovery"},
    Row{RecordKind::retention, "retention"},
    Row{RecordKind::key_rotated, "key.rotated"},
    Row{RecordKind::gap, "gap"},
};

struct StatusOf {
  const char* operator()(const Exited& exited) const { return exited.code == 0 ? "executed" : "failed"; }
  const char* operator()(const Killed&) const { return "killed"; }
  const char* operator()(const Refused&) const { return "blocked"; }
  const char* operator()(const Waiting&) const { return "queued"; }
  const char* operator()(const Broken&) const { return "broken"; }
};

}  // namespace

const char* name_of(RecordKind kind) { return rows.at(static_cast<std::size_t>(kind)).name; }

std::optional<RecordKind> record_kind_named(std::string_view name) {
  for (const Row& row : rows) {
    if (name == row.name) return row.kind;
  }
  return std::nullopt;
}

const char* status_of(const Outcome& outcome) { return std::visit(StatusOf{}, outcome); }

}  // namespace cordon
