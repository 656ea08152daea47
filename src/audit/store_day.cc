// How a day begins and ends.
#include <algorithm>

#include "audit/store.h"

namespace cordon::audit {

namespace {

// A clock that is wrong by decades must not make ten thousand empty days.
constexpr int most_empty_days = 3660;

PreparedLine day_open_line(const Tree& tree) {
  std::string frontier;
  for (const Digest& peak : tree.peaks()) frontier += fmt::format("{}\"{}\"", frontier.empty() ? "" : ",", peak.hex());
  PreparedLine line;
  line.six = R"(,"command":"","user":"cordon","status":"recorded","output":"","risk":"")";
  line.rest = fmt::format(R"(,"kind":"day.open","detail":{{"size":{},"root":"{}","frontier":[{}]}})", tree.size(),
                          tree.root().hex(), frontier);
  return line;
}

}  // namespace

Result<void> Store::roll_to(Time time) {
  std::string target = day_of(time);
  if (tail_.day.empty()) return open_day(target, time);
  if (sealed_) target = std::max(target, next_day(tail_.day));
  const Time last_midnight = *from_rfc3339(tail_.day);
  if (*from_rfc3339(target) - last_midnight > std::chrono::hours(24) * most_empty_days) {
    return fail(Fault::unavailable,
                "the clock says {}, but the audit log's last day is {}: correct the clock, or move the log away",
                target, tail_.day);
  }
  while (tail_.day < target) {
    const std::string day = next_day(tail_.day);
    const Time midnight = *from_rfc3339(day);
    CHECK_OK(open_day(day, day == target ? std::max(time, midnight) : midnight));
  }
  return {};
}

Result<void> Store::open_day(const std::string& day, Time time) {
  // From here until the new frontier is written the old one would mislead; without one, everybody looks at the files.
  frontier_known_.clear();
  CHECK_OK(sys::ftruncate(*frontier_file_, 0, directory_.path_of("frontier")));
  const std::string line = finish_line(day_open_line(tail_.tree), time, tail_.tree.size(), tail_.last_leaf);
  const std::string name = directory_.path_of(day_file(day));
  sys::Fd file = TRY(directory_.open_append(day_file(day), sys::Create::must));
  if (TRY(sys::append_all(file, line + "\n", name)) == sys::Space::full) {
    CHECK_OK(release_reserve());
    CHECK_OK(sys::ftruncate(file, 0, name));
    if (TRY(sys::append_all(file, line + "\n", name)) == sys::Space::full) {
      return fail(Fault::unavailable, "the disk is full: the audit log cannot begin {}", day);
    }
  }
  CHECK_OK(sys::fdatasync(file, name));
  CHECK_OK(directory_.sync());

  const TreeHead end = head_of(tail_.tree);
  if (!tail_.day.empty() && !sealed_) CHECK_OK(write_seal(tail_.day, tail_.day_start, end));
  sealed_ = false;
  tail_.day = day;
  tail_.bytes = line.size() + 1;
  tail_.last_length = line.size() + 1;
  tail_.last_leaf = leaf_hash(line);
  tail_.last_time = time;
  tail_.day_start = end;
  tail_.tree.append(tail_.last_leaf);
  day_file_ = std::move(file);
  return write_frontier();
}

Result<void> Store::write_seal(const std::string& day, const TreeHead& before, const TreeHead& after) {
  CHECK_OK(directory_.replace(seal_file(day), signer_->seal(day, before, after), 0644));
  return directory_.sync();
}

Result<void> Store::sign_tail() {
  const TreeHead head = head_of(tail_.tree);
  CHECK_OK(directory_.replace("checkpoint", signer_->checkpoint(head), 0644));
  signed_ = head;
  signed_at_ = clock_->now();
  return {};
}

}  // namespace cordon::audit
