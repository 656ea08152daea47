// How a writer finds out where the log ends, and what it does about an end that was cut off.
#include <algorithm>

#include "audit/day_open.h"
#include "audit/store.h"
#include "base/json.h"

namespace cordon::audit {

namespace {

constexpr std::size_t chunk_size = 1 << 20;
constexpr std::size_t frontier_limit = 16 << 10;

}  // namespace

Result<void> Store::load_first() {
  frontier_file_ = TRY(directory_.open_update("frontier", sys::Create::if_absent));
  CHECK_OK(read_checkpoint());
  const std::string frontier = TRY(sys::pread_all(*frontier_file_, 0, frontier_limit, directory_.path_of("frontier")));
  CHECK_OK(load(frontier));
  CHECK_OK(compare_with_checkpoint());
  CHECK_OK(find_unnoted_torn());
  return {};
}

Result<void> Store::refresh() {
  // Others may have found damage, or answered it by moving the log away, since this process looked.
  CHECK_OK(stop_if_damaged());
  if (!TRY(directory_.is("frontier", *frontier_file_))) {
    return fail(Fault::unavailable, "the audit log in {} was replaced by a new one: start again", directory_.path());
  }
  const std::string name = directory_.path_of("frontier");
  const std::string frontier = TRY(sys::pread_all(*frontier_file_, 0, frontier_limit, name));
  const bool same = !frontier_known_.empty() && std::string_view(frontier).starts_with(frontier_known_) && day_file_;
  if (same && TRY(sys::size_of(*day_file_, tail_.day)) == tail_.bytes) return {};
  return load(frontier);
}

Result<void> Store::load(std::string_view frontier) {
  const auto hint = parse_frontier(frontier);
  if (hint) {
    CHECK_OK(load_from_hint(*hint));
  } else {
    const auto names = TRY(directory_.list());
    const auto days = days_among(names, ".jsonl");
    if (days.empty() && (signed_.size > 0 || !days_among(names, ".seal").empty())) {
      return damaged("there is no day file");
    }
    CHECK_OK(rebuild(days));
    CHECK_OK(seal_day_before());
  }
  if (tail_.day.empty()) return {};
  sealed_ = TRY(directory_.has(seal_file(tail_.day)));
  if (hint && hint->bytes == tail_.bytes && hint->boot == boot_) {
    frontier_known_ = frontier_text(tail_);
    return {};
  }
  return write_frontier();
}

Result<void> Store::load_from_hint(const Tail& hint) {
  const std::string name = day_file(hint.day);
  if (!TRY(directory_.has(name))) return damaged(fmt::format("{} is missing", name));
  sys::Fd file = TRY(directory_.open_append(name, sys::Create::if_absent));
  if (TRY(sys::size_of(file, name)) < hint.bytes) {
    return damaged(fmt::format("{} was cut: byte {} is its last known end", name, hint.bytes));
  }
  const std::uint64_t begin = hint.bytes - hint.last_length;
  const std::string last = TRY(sys::pread_all(file, begin, hint.last_length, name));
  if (!last.ends_with('\n') || leaf_hash(std::string_view(last).substr(0, last.size() - 1)) != hint.last_leaf) {
    return damaged(fmt::format("{}: the line at byte {} was changed", name, begin));
  }
  machine_restarted_ = machine_restarted_ || hint.boot != boot_;
  day_file_ = std::move(file);
  tail_ = hint;
  return replay();
}

Result<void> Store::rebuild(std::vector<std::string> days) {
  machine_restarted_ = true;  // not known, so assumed
  while (!days.empty()) {
    const std::string& day = days.back();
    day_file_ = TRY(directory_.open_append(day_file(day), sys::Create::if_absent));
    const std::string start = TRY(sys::pread_all(*day_file_, 0, line_limit + 1, day));
    if (start.find('\n') != std::string::npos) return rebuild_from(day);
    // The day's first line never became whole, so nothing was ever written to it.
    CHECK_OK(drop_unborn_day(day));
    days.pop_back();
  }
  day_file_.reset();
  tail_ = Tail{};
  return {};
}

Result<void> Store::rebuild_from(const std::string& day) {
  const std::string start = TRY(sys::pread_all(*day_file_, 0, line_limit + 1, day));
  const std::string line = start.substr(0, start.find('\n'));
  const auto ends = line_ends(line);
  const auto tree = parse_day_open(line);
  if (!ends || !tree || ends->seq != tree->size())
    return damaged(fmt::format("{}, line 1 is no day.open", day_file(day)));
  const std::string before = day_of(*from_rfc3339(day) - std::chrono::hours(24));
  if (const auto seal = TRY(directory_.read(seal_file(before), 4096))) {
    if (signer_->read(*seal) != head_of(*tree)) {
      return damaged(fmt::format("{}, line 1 does not continue {}", day_file(day), seal_file(before)));
    }
  }
  tail_ = Tail{};
  tail_.day = day;
  tail_.last_leaf = ends->prev;
  tail_.last_time = *from_rfc3339(day);
  tail_.day_start = head_of(*tree);
  tail_.tree = *tree;
  return replay();
}

Result<void> Store::drop_unborn_day(const std::string& day) {
  // A day gets its first line before the day before gets its seal, and before anything in it is signed.
  const std::string before = day_of(*from_rfc3339(day) - std::chrono::hours(24));
  const bool follows = TRY(directory_.has(day_file(before)));
  if (TRY(directory_.has(seal_file(before))) || (!follows && signed_.size > 0)) {
    return damaged(fmt::format("{} has no first line", day_file(day)));
  }
  tail_ = Tail{};
  tail_.day = day;
  CHECK_OK(quarantine_torn(TRY(sys::size_of(*day_file_, day))));
  CHECK_OK(directory_.remove(day_file(day)));
  return directory_.sync();
}

/// Reads what stands after tail_.bytes.
Result<void> Store::replay() {
  const std::string name = day_file(tail_.day);
  const std::uint64_t size = TRY(sys::size_of(*day_file_, name));
  while (tail_.bytes < size) {
    const std::string chunk = TRY(sys::pread_all(*day_file_, tail_.bytes, chunk_size, name));
    std::string_view rest = chunk;
    for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      const std::string_view line = rest.substr(0, end);
      const bool last = tail_.bytes + end + 1 == size;
      const bool whole = !last || Json::accept(line);
      const Result<void> fits = whole ? replay_line(line) : fail(Fault::corrupt, "it is no JSON");
      if (!fits && last) return quarantine_torn(size);
      if (!fits) return damaged(fmt::format("{}: the line at byte {}: {}", name, tail_.bytes, fits.error().sentence));
      rest.remove_prefix(end + 1);
    }
    if (rest.size() == chunk.size()) return quarantine_torn(size);
  }
  return {};
}

Result<void> Store::replay_line(std::string_view line) {
  const auto ends = line_ends(line);
  if (!ends) return fail(Fault::corrupt, "it is no record");
  if (ends->seq != tail_.tree.size())
    return fail(Fault::corrupt, "its number is {}, not {}", ends->seq, tail_.tree.size());
  if (ends->prev != tail_.last_leaf) return fail(Fault::corrupt, "it does not follow the line before");
  if (ends->time < tail_.last_time || day_of(ends->time) != tail_.day) return fail(Fault::corrupt, "its time is wrong");
  Tail next = tail_;
  next.last_leaf = leaf_hash(line);
  next.tree.append(next.last_leaf);
  next.last_time = ends->time;
  next.last_length = line.size() + 1;
  next.bytes += next.last_length;
  if (next.tree.size() == signed_.size && next.tree.root() != signed_.root) {
    return fail(Fault::corrupt, "the log up to here is not what was signed");
  }
  tail_ = std::move(next);
  return {};
}

Result<void> Store::quarantine_torn(std::uint64_t end) {
  const std::string day = day_file(tail_.day);
  if (tail_.tree.size() < signed_.size && tail_.bytes > 0) {
    return damaged(fmt::format("{}: the line at byte {} was signed and is no longer there", day, tail_.bytes));
  }
  const std::string bytes = TRY(sys::pread_all(*day_file_, tail_.bytes, end - tail_.bytes, day));
  CHECK_OK(directory_.make_directory("torn"));
  std::string name = fmt::format("{}.{}", tail_.day, tail_.bytes);
  for (int copy = 2; TRY(directory_.has("torn/" + name)) || TRY(directory_.has("torn/" + name + ".new")); ++copy) {
    name = fmt::format("{}.{}.{}", tail_.day, tail_.bytes, copy);
  }
  CHECK_OK(directory_.replace("torn/" + name + ".new", bytes, 0600));
  CHECK_OK(directory_.sync());
  CHECK_OK(sys::ftruncate(*day_file_, tail_.bytes, day));
  CHECK_OK(sys::fdatasync(*day_file_, day));
  return find_unnoted_torn();
}

Result<void> Store::find_unnoted_torn() {
  const auto names = TRY(directory_.list("torn"));
  if (!names) return {};
  for (const std::string& file : *names) {
    if (!file.ends_with(".new")) continue;
    const std::string name = file.substr(0, file.size() - 4);
    if (std::find(torn_unnoted_.begin(), torn_unnoted_.end(), name) != torn_unnoted_.end()) continue;
    const auto opened = TRY(directory_.open_read("torn/" + file));
    if (!opened) continue;
    const std::uint64_t size = TRY(sys::size_of(*opened, file));
    const std::string bytes = TRY(sys::pread_all(*opened, 0, size, file));
    AuditRecord record;
    record.kind = RecordKind::recovery;
    record.status = "repaired";
    record.detail = {{"reason", "the last line was cut off; its bytes were moved away"},
                     {"file", "torn/" + name},
                     {"bytes", size},
                     {"sha256", sha256(bytes).hex()}};
    note(std::move(record));
    torn_unnoted_.push_back(name);
  }
  return {};
}

Result<void> Store::read_checkpoint() {
  auto note = TRY(directory_.read("checkpoint", 4096));
  if (!note) {
    const auto names = TRY(directory_.list());
    if (!days_among(names, ".jsonl").empty() || !days_among(names, ".seal").empty()) {
      return damaged("its checkpoint is missing");
    }
    note = signer_->checkpoint({});
    CHECK_OK(directory_.replace("checkpoint", *note, 0644));
    CHECK_OK(directory_.sync());
  }
  const auto head = signer_->read(*note);
  if (!head) return damaged("its checkpoint was not signed by its key");
  signed_ = *head;
  signed_at_ = clock_->now();
  return {};
}

Result<void> Store::compare_with_checkpoint() {
  const TreeHead head = head_of(tail_.tree);
  if (head.size < signed_.size) {
    return damaged(
        fmt::format("{} of {} signed records are missing at its end", signed_.size - head.size, signed_.size));
  }
  if (head.size == signed_.size && head.root != signed_.root) return damaged("it is not what its checkpoint signed");
  return {};
}

/// A writer that died between opening a day and sealing the one before leaves this to the next.
Result<void> Store::seal_day_before() {
  if (tail_.day.empty()) return {};
  const std::string before = day_of(*from_rfc3339(tail_.day) - std::chrono::hours(24));
  const auto file = TRY(directory_.open_read(day_file(before)));
  if (!file || TRY(directory_.has(seal_file(before)))) return {};
  const std::string start = TRY(sys::pread_all(*file, 0, line_limit + 1, before));
  const auto tree = parse_day_open(std::string_view(start).substr(0, start.find('\n')));
  if (!tree) return damaged(fmt::format("{}, line 1 is no day.open", day_file(before)));
  return write_seal(before, head_of(*tree), tail_.day_start);
}

}  // namespace cordon::audit
