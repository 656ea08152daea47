// Deleting what is old without losing the proof: seals stay, and a signed notice says what is gone.
#include <algorithm>

#include "audit/log.h"
#include "audit/log_state.h"

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

Result<std::vector<std::string>> Log::retain(Duration keep) {
  if (keep < std::chrono::hours(24)) return fail(Fault::invalid_input, "the audit log is kept for a day at least");
  const sys::Directory& directory = state_->store.directory();
  const std::string oldest_kept = day_of(state_->clock.now() - keep);
  std::vector<std::string> deleted;
  for (const std::string& day : days_among(TRY(directory.list()), ".jsonl")) {
    // A day without its seal still grows, or its proof would be lost with it.
    if (day < oldest_kept && TRY(directory.has(seal_file(day)))) deleted.push_back(day);
  }
  for (std::size_t begin = 0; begin < deleted.size(); begin += files_per_notice) {
    const std::size_t end = std::min(deleted.size(), begin + files_per_notice);
    Json files = Json::array();
    for (std::size_t i = begin; i < end; ++i) files.push_back(TRY(entry_of(directory, deleted[i])));
    AuditRecord notice;
    notice.kind = RecordKind::retention;
    notice.user = "cordon";
    notice.status = "deleted";
    notice.detail = {{"through", deleted[end - 1]}, {"files", std::move(files)}};
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

}  // namespace cordon::audit
