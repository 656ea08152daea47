// Deleting what is old without losing the proof: seals stay, and a signed notice says what is gone.
#include <algorithm>

#include "audit/log.h"
#include "audit/log_state.h"
#include "audit/query.h"
#include "audit/retention.h"

namespace cordon::audit {

namespace {

// With this many a notice stays within a record's limit for its detail.
constexpr std::size_t files_per_notice = 40;

Result<Json> entry_of(const sys::Directory& directory, const std::string& day) {
  const std::string name = day_file(day);
  const auto file = TRY(directory.open_read(name));
  if (!file) return Json();
  const std::uint64_t size = TRY(sys::size_of(*file, name));
  Sha256 hash;
  for (std::uint64_t at = 0; at < size;) {
    const std::string chunk = TRY(sys::pread_all(*file, at, 1 << 20, name));
    if (chunk.empty()) break;
    hash.add(chunk);
    at += chunk.size();
  }
  return Json{{"file", name}, {"bytes", size}, {"sha256", hash.finish().hex()}};
}

Result<void> remove_folder(const sys::Directory& directory, const std::string& folder) {
  const auto names = TRY(directory.list(folder));
  if (!names) return {};
  for (const std::string& name : *names) CHECK_OK(directory.remove(folder + "/" + name));
  return directory.remove_directory(folder);
}

}  // namespace

Result<std::vector<DueDay>> days_due(const sys::Directory& directory, Duration keep, Time now) {
  if (keep < std::chrono::hours(24)) return fail(Fault::invalid_input, "the audit log is kept for a day at least");
  const std::string oldest_kept = day_of(now - keep);
  std::vector<DueDay> due;
  for (const std::string& day : days_among(TRY(directory.list()), ".jsonl")) {
    // A day without its seal still grows, or its proof would be lost with it.
    if (day >= oldest_kept || !TRY(directory.has(seal_file(day)))) continue;
    const auto file = TRY(directory.open_read(day_file(day)));
    if (file) due.push_back({day, TRY(sys::size_of(*file, day))});
  }
  return due;
}

Result<std::vector<std::string>> Log::retain(Duration keep) { return retain(keep, "cordon"); }

Result<std::vector<std::string>> Log::retain(Duration keep, const std::string& by) {
  const sys::Directory& directory = state_->store.directory();
  std::vector<std::string> deleted;
  Json files = Json::array();
  for (const DueDay& due : TRY(days_due(directory, keep, state_->clock.now()))) {
    Json entry = TRY(entry_of(directory, due.day));
    if (entry.is_null()) continue;  // another process was faster
    files.push_back(std::move(entry));
    deleted.push_back(due.day);
  }
  for (std::size_t begin = 0; begin < deleted.size(); begin += files_per_notice) {
    const std::size_t end = std::min(deleted.size(), begin + files_per_notice);
    AuditRecord notice;
    notice.kind = RecordKind::retention;
    notice.user = by;
    notice.status = "deleted";
    notice.detail = {{"through", deleted[end - 1]}, {"files", Json::array()}};
    for (std::size_t i = begin; i < end; ++i) notice.detail["files"].push_back(files[i]);
    (void)TRY(write(notice, Priority::ordinary));
  }
  if (deleted.empty()) return deleted;
  // Signed before anything goes: an unsigned notice excuses nothing.
  CHECK_OK(checkpoint());
  for (const std::string& day : deleted) {
    CHECK_OK(directory.remove(day_file(day)));
    CHECK_OK(directory.remove("index/" + day));
    CHECK_OK(remove_folder(directory, "output/" + day));
  }
  CHECK_OK(directory.sync());
  return deleted;
}

Result<bool> Log::erase(std::uint64_t seq, const std::string& by, const std::string& reason) {
  const auto line = TRY(record_line(directory(), seq));
  if (!line) return fail(Fault::invalid_input, "there is no record {}", seq);
  const Json record = Json::parse(*line, nullptr, false);
  Json erased = Json::array();
  for (const char* key : {"output_commit", "command_commit"}) {
    if (TRY(has_text(directory(), record, key))) erased.push_back(record[key]);
  }
  if (erased.empty()) return false;
  // Told before it is done: who reads the log must know why a committed text is not there.
  AuditRecord notice;
  notice.kind = RecordKind::retention;
  notice.user = by;
  notice.status = "erased";
  notice.detail = {{"record", seq}, {"commits", erased}, {"reason", reason}};
  (void)TRY(write(notice, Priority::ordinary));
  for (const char* key : {"output_commit", "command_commit"}) (void)TRY(erase_text(directory(), record, key));
  return true;
}

}  // namespace cordon::audit
