#include "audit/abandoned.h"

#include <algorithm>
#include <map>

#include "audit/day_reader.h"
#include "audit/store.h"
#include "audit/verify/line_view.h"

namespace cordon::audit {

namespace {

/// Intents without an end, by request.
class OpenIntents {
 public:
  void look_at(std::string_view line) {
    // Cheap first: most lines of a log end what they began.
    if (!read_members(line, members_)) return;
    const std::string_view kind = value_of(members_, "kind");
    if (kind != "\"intent\"" && kind != "\"outcome\"" && kind != "\"recovery\"") return;
    const std::string request = unescaped(value_of(members_, "request"));
    if (request.empty()) return;
    if (kind == "\"intent\"") {
      open_[request] = std::string(line);
    } else {
      open_.erase(request);
    }
  }
  const std::map<std::string, std::string>& open() const { return open_; }

 private:
  std::map<std::string, std::string> open_;
  std::vector<Member> members_;
};

AuditRecord recovery_of(const std::string& intent) {
  const Json line = parse_json(intent);
  const auto text = [&](const char* key) {
    const Json value = line.value(key, Json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  AuditRecord record;
  record.kind = RecordKind::recovery;
  record.command = text("command");
  record.user = text("user");
  record.status = "unknown";
  record.risk = risk_named(text("risk"));
  record.request = text("request");
  record.rule = text("rule");
  record.approval = text("approval");
  record.agent = text("agent");
  record.session = text("session");
  record.detail = {{"reason", "the process that began it ended without recording an outcome: it may have run"},
                   {"intent", line.value("seq", Json())}};
  return record;
}

Result<void> read_days(const sys::Directory& directory, std::uint64_t from, bool recent, OpenIntents& intents) {
  const auto days = days_among(TRY(directory.list()), ".jsonl");
  // Newest first, back to the day that holds `from`.
  std::vector<std::pair<DayReader, std::uint64_t>> readers;
  for (auto day = days.rbegin(); day != days.rend(); ++day) {
    auto reader = TRY(DayReader::open(directory, *day));
    if (!reader || reader->size() == 0) continue;
    const bool within = recent && readers.size() < 2;
    const std::uint64_t first = TRY(reader->first_seq());
    const std::uint64_t offset = within || first >= from ? 0 : TRY(reader->offset_of_seq(from));
    readers.emplace_back(*std::move(reader), offset);
    if (first <= from && !within) break;
    if (recent && readers.size() == 2 && first <= from) break;
  }
  for (auto reader = readers.rbegin(); reader != readers.rend(); ++reader) {
    CHECK_OK(reader->first.forwards(reader->second, [&](std::string_view line, std::uint64_t) {
      intents.look_at(line);
      return Continue::yes;
    }));
  }
  return {};
}

}  // namespace

Result<std::vector<AuditRecord>> abandoned_runs(const sys::Directory& directory, const RunningFiles& running,
                                                bool machine_restarted) {
  std::uint64_t from = ~std::uint64_t{0};
  std::set<std::string> requests;
  for (const OpenRuns& runs : running.abandoned) {
    if (runs.requests.empty()) continue;
    from = std::min(from, runs.from);
    requests.insert(runs.requests.begin(), runs.requests.end());
  }
  std::vector<AuditRecord> records;
  if (requests.empty() && !machine_restarted) return records;
  OpenIntents intents;
  CHECK_OK(read_days(directory, from, machine_restarted, intents));
  for (const auto& [request, line] : intents.open()) {
    const bool dead = machine_restarted ? !running.alive.contains(request) : requests.contains(request);
    if (dead) records.push_back(recovery_of(line));
  }
  return records;
}

}  // namespace cordon::audit
