// The files of the log and the only code that writes them. Every change is made under one lock, so that processes that
// know nothing of each other can share a log.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/line.h"
#include "audit/note.h"
#include "audit/tail.h"
#include "base/clock.h"
#include "base/result.h"
#include "sys/directory.h"

namespace cordon::audit {

struct StoreOptions {
  std::uint64_t reserve_bytes = 16 << 20;                // kept free for the last records of a full disk
  std::uint64_t checkpoint_every = 1000;                 // records
  Duration checkpoint_after = std::chrono::seconds(10);  // when there is news
};

/// Whether a record must be written even into the reserve of a full disk: what has begun is always told to its end.
enum class Priority { ordinary, last_words };

struct PendingLine {
  const PreparedLine* line;
  Priority priority;
  Result<std::uint64_t> seq = fail(Fault::internal, "not written");
};

class Store {
 public:
  /// Makes the log when there is none, checks its tail, quarantines a torn last line.
  static Result<Store> open(const std::string& directory, const Clock& clock, StoreOptions options);

  /// Each line is durable when its `seq` holds a number. A failed write or sync is final: this and every later call
  /// fails. `Fault::corrupt`: damage was found. `Fault::unavailable`: it could not be written.
  void append(std::span<PendingLine* const> lines);
  /// Signs the log as it is now, if there is anything unsigned.
  Result<void> checkpoint();

  const sys::Directory& directory() const { return directory_; }
  const Signer& signer() const { return *signer_; }
  const std::string& hmac_key() const { return hmac_key_; }
  /// As of the last call.
  const Tail& tail() const { return tail_; }
  /// Why nothing more will be written by this process, if that is so.
  const std::optional<Error>& poison() const { return poison_; }
  /// The machine was started anew since the last line: nothing that was running then still runs.
  bool machine_restarted() const { return machine_restarted_; }

 private:
  class Locked;
  Store(sys::Directory directory, sys::Fd lock, const Clock& clock, StoreOptions options)
      : directory_(std::move(directory)), lock_(std::move(lock)), clock_(&clock), options_(options) {}

  Result<void> make_keys();
  Result<void> stop_if_damaged() const;
  /// Brings tail_ up to what other processes wrote.
  Result<void> refresh();
  Result<void> load_first();
  Result<void> load(std::string_view frontier);
  Result<void> load_from_hint(const Tail& hint);
  Result<void> rebuild(std::vector<std::string> days);
  Result<void> rebuild_from(const std::string& day);
  Result<void> drop_unborn_day(const std::string& day);
  Result<void> replay();
  Result<void> replay_line(std::string_view line);
  Result<void> quarantine_torn(std::uint64_t end);
  Result<void> read_checkpoint();
  Result<void> compare_with_checkpoint();
  Result<void> find_unnoted_torn();
  Result<void> seal_day_before();
  Result<void> write_frontier();

  Result<void> roll_to(Time time);
  Result<void> open_day(const std::string& day, Time time);
  Result<void> write_seal(const std::string& day, const TreeHead& before, const TreeHead& after);
  Result<void> sign_tail();

  Result<void> write(std::span<PendingLine* const> lines);
  Result<void> write_batch(std::span<PendingLine* const> lines, Priority least);
  Result<sys::Space> write_bytes(std::string_view bytes);
  void note_clock(Time now);
  void note(AuditRecord record);
  Result<void> take_reserve();
  Result<void> release_reserve();
  tl::unexpected<Error> damaged(const std::string& what);

  sys::Directory directory_;
  sys::Fd lock_;
  std::optional<Signer> signer_;  // read or made under the lock, before anything else
  const Clock* clock_;
  StoreOptions options_;
  std::string hmac_key_;
  std::string boot_ = sys::boot_id();
  std::optional<sys::Fd> frontier_file_;
  std::string frontier_known_;  // what the frontier file held when tail_ was right
  std::optional<sys::Fd> day_file_;
  Tail tail_;
  TreeHead signed_;
  Time signed_at_{};
  bool clock_behind_ = false;
  bool sealed_ = false;  // tail_.day has its seal: nothing more may be added to it
  bool reserve_ = false;
  bool machine_restarted_ = false;
  std::vector<PreparedLine> notes_;        // of the log about itself, written before the next line
  std::vector<std::string> torn_unnoted_;  // names in torn/ that become final once noted
  std::optional<Error> poison_;
};

std::string day_file(const std::string& day);
std::string seal_file(const std::string& day);
/// Of all names in a directory, the days that have a file with this ending; sorted.
std::vector<std::string> days_among(const std::vector<std::string>& names, std::string_view ending);

}  // namespace cordon::audit
