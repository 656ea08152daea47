#include "audit/store.h"

#include <algorithm>

#include "sys/file.h"

namespace cordon::audit {

using sys::Space;

std::string day_file(const std::string& day) { return day + ".jsonl"; }
std::string seal_file(const std::string& day) { return day + ".seal"; }

std::vector<std::string> days_among(const std::vector<std::string>& names, std::string_view ending) {
  std::vector<std::string> days;
  for (const std::string& name : names) {
    if (!name.ends_with(ending)) continue;
    std::string day = name.substr(0, name.size() - ending.size());
    if (is_day(day)) days.push_back(std::move(day));
  }
  return days;
}

/// The lock, given back at the end of the scope.
class Store::Locked {
 public:
  static Result<Locked> take(const Store& store) {
    CHECK_OK(sys::flock(store.lock_, sys::Lock::exclusive, store.directory_.path_of("lock")));
    return Locked(store.lock_);
  }
  Locked(Locked&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  Locked& operator=(Locked&&) = delete;
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() {
    if (file_ != nullptr) (void)sys::unlock(*file_, "lock");
  }

 private:
  explicit Locked(const sys::Fd& file) : file_(&file) {}
  const sys::Fd* file_;
};

Result<Store> Store::open(const std::string& path, const Clock& clock, StoreOptions options) {
  CHECK_OK(sys::ensure_private_directory(path));
  sys::Directory directory = TRY(sys::Directory::open(path));
  sys::Fd lock = TRY(directory.open_update("lock", sys::Create::if_absent));
  Store store(std::move(directory), std::move(lock), clock, options);
  {
    const Locked locked = TRY(Locked::take(store));
    CHECK_OK(store.make_keys());
    CHECK_OK(store.load_first());
  }
  if (!store.notes_.empty()) store.append({});
  if (store.poison_) return tl::make_unexpected(*store.poison_);
  return store;
}

Result<void> Store::make_keys() {
  CHECK_OK(stop_if_damaged());
  if (const auto text = TRY(directory_.read("key", 4096))) {
    signer_ = TRY(Signer::from_text(*text));
  } else {
    const auto names = TRY(directory_.list());
    const bool used = !days_among(names, ".jsonl").empty() || !days_among(names, ".seal").empty();
    if (used || TRY(directory_.has("checkpoint"))) return damaged("its signing key is missing");
    signer_ = TRY(Signer::generate());
    CHECK_OK(directory_.replace("key", signer_->text(), 0600));
  }
  if (!TRY(directory_.has("key.pub"))) CHECK_OK(directory_.replace("key.pub", signer_->verifier_key(), 0644));
  if (const auto text = TRY(directory_.read("redaction.key", 4096)); text && text->size() == 65) {
    hmac_key_ = text->substr(0, 64);
    return {};
  }
  hmac_key_ = to_hex(TRY(random_bytes(32)));
  return directory_.replace("redaction.key", hmac_key_ + "\n", 0600);
}

namespace {

tl::unexpected<Error> damage_of(const sys::Directory& directory, std::string_view what) {
  return fail(Fault::corrupt,
              "the audit log in {} is damaged: {}. Nothing runs until it is answered: see `cordon audit verify`",
              directory.path(), what);
}

}  // namespace

Result<void> Store::stop_if_damaged() const {
  const auto marker = TRY(directory_.read("damaged", 1 << 16));
  if (marker) return damage_of(directory_, marker->substr(0, marker->find('\n')));
  return {};
}

tl::unexpected<Error> Store::damaged(const std::string& what) {
  // Others must not run on what this process has found out. If even this cannot be written, this process still stops.
  (void)directory_.replace("damaged", what + "\n", 0600);
  return damage_of(directory_, what);
}

void Store::append(std::span<PendingLine* const> lines) {
  const auto written = [&]() -> Result<void> {
    if (poison_) return tl::make_unexpected(*poison_);
    const Locked locked = TRY(Locked::take(*this));
    CHECK_OK(refresh());
    return write(lines);
  }();
  if (written) return;
  poison_ = written.error();
  for (PendingLine* line : lines) {
    if (!line->seq) line->seq = tl::make_unexpected(*poison_);
  }
}

Result<void> Store::checkpoint() {
  if (poison_) return tl::make_unexpected(*poison_);
  const Locked locked = TRY(Locked::take(*this));
  CHECK_OK(refresh());
  if (tail_.tree.size() <= signed_.size) return {};
  return sign_tail();
}

Result<void> Store::write(std::span<PendingLine* const> lines) {
  const Time now = clock_->now();
  note_clock(now);
  CHECK_OK(roll_to(std::max(now, tail_.last_time)));
  CHECK_OK(take_reserve());
  CHECK_OK(write_batch(lines, reserve_ ? Priority::ordinary : Priority::last_words));
  const bool due = tail_.tree.size() - signed_.size >= options_.checkpoint_every ||
                   now - signed_at_ >= options_.checkpoint_after || signed_.size < tail_.day_start.size;
  if (due && tail_.tree.size() > signed_.size) return sign_tail();
  return {};
}

namespace {

struct Built {
  std::string bytes;
  Tail tail;
  std::vector<std::pair<PendingLine*, std::uint64_t>> numbered;
};

void add_line(Built& built, const std::string& line, Time time) {
  built.tail.last_leaf = leaf_hash(line);
  built.tail.tree.append(built.tail.last_leaf);
  built.tail.last_time = time;
  built.tail.last_length = line.size() + 1;
  built.bytes += line;
  built.bytes += '\n';
}

Built build(const Tail& tail, std::span<const PreparedLine> notes, std::span<PendingLine* const> lines, Time time,
            Priority least) {
  Built built{{}, tail, {}};
  for (const PreparedLine& note : notes) {
    add_line(built, finish_line(note, time, built.tail.tree.size(), built.tail.last_leaf), time);
  }
  for (PendingLine* pending : lines) {
    if (pending->priority < least) {
      pending->seq = fail(Fault::unavailable, "the disk is full: the audit log takes no new work until there is space");
      continue;
    }
    const std::uint64_t seq = built.tail.tree.size();
    const std::string line = finish_line(*pending->line, time, seq, built.tail.last_leaf);
    if (line.size() > line_limit) {
      pending->seq = fail(Fault::invalid_input, "an audit record of {} bytes is too long", line.size());
      continue;
    }
    add_line(built, line, time);
    built.numbered.emplace_back(pending, seq);
  }
  built.tail.bytes += built.bytes.size();
  return built;
}

}  // namespace

Result<void> Store::write_batch(std::span<PendingLine* const> lines, Priority least) {
  const Time time = std::max(clock_->now(), tail_.last_time);
  // Midnight may have passed since the day was opened; the line still belongs to the day whose file it is in.
  const Time end_of_day = *from_rfc3339(tail_.day) + std::chrono::hours(24) - Duration(1);
  Built built = build(tail_, notes_, lines, std::min(time, end_of_day), least);
  if (built.bytes.empty()) return {};
  const std::string name = directory_.path_of(day_file(tail_.day));
  if (TRY(sys::append_all(*day_file_, built.bytes, name)) == Space::full) {
    // Nothing of this batch was promised to anyone: take it back, and tell the end of what has begun from the reserve.
    CHECK_OK(sys::ftruncate(*day_file_, tail_.bytes, name));
    if (!reserve_) return fail(Fault::unavailable, "the disk is full: the audit log cannot be written");
    CHECK_OK(release_reserve());
    return write_batch(lines, Priority::last_words);
  }
  CHECK_OK(sys::fdatasync(*day_file_, name));
  tail_ = std::move(built.tail);
  notes_.clear();
  for (const auto& [pending, seq] : built.numbered) pending->seq = seq;
  // Losing either of these costs time at the next start, no record.
  (void)write_frontier();
  for (const std::string& torn : torn_unnoted_) (void)directory_.rename("torn/" + torn + ".new", "torn/" + torn);
  torn_unnoted_.clear();
  return {};
}

Result<void> Store::write_frontier() {
  tail_.boot = boot_;
  std::string text = frontier_text(tail_);
  frontier_known_.clear();
  CHECK_OK(sys::pwrite_all(*frontier_file_, text, 0, directory_.path_of("frontier")));
  frontier_known_ = std::move(text);
  return {};
}

void Store::note(AuditRecord record) {
  static const auto nothing_secret = Redactor::create("", {}, {});
  record.user = "cordon";
  // Made by ourselves of short parts: it cannot be refused.
  if (auto line = prepare_line(record, *nothing_secret)) notes_.push_back(*std::move(line));
}

void Store::note_clock(Time now) {
  const bool behind = now + std::chrono::seconds(60) < tail_.last_time;
  if (behind && !clock_behind_) {
    AuditRecord record;
    record.kind = RecordKind::gap;
    record.status = "clock";
    record.detail = {{"reason", "the clock went back; times stand still until it has caught up"},
                     {"clock", to_rfc3339(now)}};
    note(std::move(record));
  }
  clock_behind_ = behind;
}

Result<void> Store::take_reserve() {
  reserve_ = options_.reserve_bytes == 0 || TRY(directory_.has("reserve"));
  if (reserve_) return {};
  const sys::Fd file = TRY(directory_.open_update("reserve", sys::Create::if_absent));
  reserve_ = TRY(sys::fallocate(file, options_.reserve_bytes, directory_.path_of("reserve"))) == Space::enough;
  if (!reserve_) return directory_.remove("reserve");
  return {};
}

Result<void> Store::release_reserve() {
  reserve_ = false;
  return directory_.remove("reserve");
}

}  // namespace cordon::audit
