#include "audit/health.h"

#include "audit/log.h"
#include "audit/store.h"
#include "sys/directory.h"

namespace cordon::audit {

Result<VerifyReport> examine(const VerifyRequest& request) {
  const sys::Directory directory = TRY(sys::Directory::open(request.directory));
  // A large log takes seconds, and writers should not wait for it: only what is not plainly sound is looked at again
  // without a writer in between.
  if (!TRY(directory.has("damaged"))) {
    VerifyReport report = verify_log(request);
    if (report.damage.empty() && !report.open_end) return report;
  }
  const sys::Fd lock = TRY(directory.open_update("lock", sys::Create::if_absent));
  CHECK_OK(sys::flock(lock, sys::Lock::exclusive, directory.path_of("lock")));
  VerifyReport report = verify_log(request);
  // A key or checkpoint that was given may be the wrong one; that is for whoever gave it to judge.
  const bool plain = !request.key && request.against.empty();
  const bool whole = plain && request.from.empty() && request.to.empty();
  if (!report.damage.empty()) {
    if (!plain) return report;
    CHECK_OK(directory.replace("damaged", report.damage.front().text() + "\n", 0600));
  } else if (whole) {
    CHECK_OK(directory.remove("damaged"));
  }
  return report;
}

namespace {

/// The marker goes last: a move that was interrupted is still damage.
std::vector<std::string> names_to_move(const std::vector<std::string>& names) {
  std::vector<std::string> moved;
  for (const std::string& name : names) {
    const bool of_a_day = name.ends_with(".jsonl") || name.ends_with(".seal");
    if (of_a_day || name == "index" || name == "torn" || name == "output" || name == "running" || name == "frontier") {
      moved.push_back(name);
    }
  }
  for (const char* name : {"checkpoint", "key.pub", "key", "damaged"}) moved.emplace_back(name);
  return moved;
}

}  // namespace

Result<std::string> quarantine(const std::string& path, const Clock& clock, const Answer& answer) {
  const sys::Directory directory = TRY(sys::Directory::open(path));
  const std::string place = fmt::format("quarantine/{}", to_rfc3339(clock.now()));
  AuditRecord record;
  record.kind = RecordKind::config_changed;
  record.user = answer.by;
  record.status = "quarantined";
  {
    const sys::Fd lock = TRY(directory.open_update("lock", sys::Create::if_absent));
    CHECK_OK(sys::flock(lock, sys::Lock::exclusive, directory.path_of("lock")));
    if (!TRY(directory.has("damaged"))) {
      return fail(Fault::invalid_input, "the log is not marked as damaged: `cordon audit verify` says what is wrong");
    }
    const auto key = TRY(directory.read("key.pub", 4096));
    const auto checkpoint = TRY(directory.read("checkpoint", 4096));
    record.detail = {{"reason", answer.reason},
                     {"moved_to", place},
                     {"old_key", key ? Json(*key) : Json()},
                     {"old_checkpoint", checkpoint ? Json(*checkpoint) : Json()}};
    CHECK_OK(directory.make_directory("quarantine"));
    CHECK_OK(directory.make_directory(place));
    for (const std::string& name : names_to_move(TRY(directory.list()))) {
      if (TRY(directory.has(name))) CHECK_OK(directory.rename(name, place + "/" + name));
    }
    CHECK_OK(directory.sync());
  }
  Log log = TRY(Log::open(path, clock, {}));
  (void)TRY(log.append(record));
  return directory.path_of(place);
}

}  // namespace cordon::audit
