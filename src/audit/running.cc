#include "audit/running.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/digest.h"

namespace cordon::audit {

namespace {

constexpr std::string_view folder = "running/";
constexpr std::size_t largest_file = 64 << 20;

/// Lines "+ SEQ HEX" and "- HEX"; a last line that was cut off is not counted.
OpenRuns parse(std::string_view text) {
  OpenRuns runs;
  runs.from = ~std::uint64_t{0};
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const auto space = line.rfind(' ');
    if (space == std::string_view::npos) continue;
    const auto request = from_hex(line.substr(space + 1));
    if (!request) continue;
    if (line[0] == '-') {
      runs.requests.erase(*request);
      continue;
    }
    std::uint64_t seq = 0;
    std::from_chars(line.data() + std::min<std::size_t>(2, space), line.data() + space, seq);
    runs.from = std::min(runs.from, seq);
    runs.requests.insert(*request);
  }
  return runs;
}

}  // namespace

Result<void> Running::create() {
  CHECK_OK(directory_->make_directory("running"));
  name_ = fmt::format("{}-{}", ::getpid(), to_hex(TRY(random_bytes(8))));
  // It gets its name only once it is locked, so that nobody takes it for an orphan.
  const std::string temporary = fmt::format("{}new-{}", folder, name_);
  sys::Fd file = TRY(directory_->open_append(temporary, sys::Create::must));
  CHECK_OK(sys::flock(file, sys::Lock::exclusive, temporary));
  CHECK_OK(directory_->rename(temporary, std::string(folder) + name_));
  file_ = std::move(file);
  return {};
}

Result<void> Running::begin(const std::string& request, std::uint64_t seq) {
  const std::scoped_lock lock(mutex_);
  if (!file_) CHECK_OK(create());
  const std::string line = fmt::format("+ {} {}\n", seq, to_hex(request));
  if (TRY(sys::append_all(*file_, line, name_)) == sys::Space::full) {
    return fail(Fault::unavailable, "the disk is full: nothing new is begun");
  }
  open_.insert(request);
  return {};
}

void Running::end(const std::string& request) {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(request);
  if (!file_ || found == open_.end()) return;
  open_.erase(found);
  // If this is lost, the outcome in the log itself still tells that the run has ended.
  (void)sys::append_all(*file_, fmt::format("- {}\n", to_hex(request)), name_);
}

void Running::close() {
  const std::scoped_lock lock(mutex_);
  if (!file_ || !open_.empty()) return;
  (void)directory_->remove(std::string(folder) + name_);
  file_.reset();
}

Result<RunningFiles> look_for_abandoned(const sys::Directory& directory) {
  RunningFiles found;
  const auto names = TRY(directory.list("running"));
  if (!names) return found;
  for (const std::string& name : *names) {
    if (name.starts_with("new-")) continue;
    const std::string path = std::string(folder) + name;
    auto file = TRY(directory.open_read(path));
    if (!file) continue;
    const bool orphan = TRY(sys::try_flock(*file, path));
    // Another may have looked after it between our opening and our locking it.
    if (orphan && !TRY(directory.has(path))) continue;
    OpenRuns runs = parse(TRY(sys::pread_all(*file, 0, largest_file, path)));
    if (!orphan) {
      found.alive.merge(runs.requests);
      continue;
    }
    runs.name = path;
    runs.held = *std::move(file);
    found.abandoned.push_back(std::move(runs));
  }
  return found;
}

}  // namespace cordon::audit
