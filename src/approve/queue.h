// Requests that wait for a person. A vote is on the digest of a frozen plan; an approval is redeemed once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "approve/approver.h"
#include "approve/database.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/result.h"
#include "model/analysis.h"

namespace cordon::approve {

enum class State { pending, approved, rejected, expired, drifted, executed, failed };
const char* name_of(State state);
std::optional<State> state_named(std::string_view name);

/// Who asked, from where.
struct Asker {
  std::string working_dir;
  std::string user;
  std::string agent;
  std::string session;
  std::string surface;    // "cli", "hook", "mcp", "http"
  bool is_agent = false;  // then only passphrase or token may approve
  bool operator==(const Asker&) const = default;
};

struct Request {
  std::string command;
  Risk risk = Risk::dangerous;
  std::vector<std::string> reasons;
  Asker asker;
  Digest digest;  // of the plan
  Json plan;      // what the approver sees of it
};

struct Entry {
  std::string id;
  Request request;
  State state = State::pending;
  Time created_at{};
  Time expires_at{};  // of the request while pending; of the approval once approved
  std::optional<Time> approved_at;
  std::string approved_by;
  std::string notes;
  std::optional<Time> rejected_at;
  std::string rejected_by;
  std::string reason;
  std::int64_t uses_left = 0;
  Json result;
  std::string waiter;  // liveness mark of the asker that waits for the answer and then runs it itself
};

/// A person's answer.
struct Vote {
  std::string by;
  std::string notes;
  Presence presence = Presence::none;
  bool inside_sandbox = false;
  bool from_agent = false;
  std::int64_t uses = 1;          // wider grants: n times …
  std::optional<Duration> lasts;  // … until
  /// The changes of this preview are to be applied by who votes; nothing is left for anybody to run.
  std::string commit;
};

/// Whether its approver is applying a preview in place of a run, and has not said yet how that ended.
bool is_committing(const Entry& entry);

struct QueueLimits {
  std::int64_t pending = 1000;
  Duration expiry = std::chrono::minutes(15);          // pending → expired
  Duration approval_expiry = std::chrono::minutes(5);  // approved, never redeemed → expired
  Duration longest_approval = std::chrono::days(30);   // of the wider grants
};

class Queue {
 public:
  static Result<Queue> open(const std::string& state_dir, const Clock& clock, const QueueLimits& limits);

  /// A new entry, or the pending one with the same digest and asker.
  struct Submitted {
    Entry entry;
    bool merged = false;
  };
  Result<Submitted> submit(const Request& request);

  Result<Entry> find(std::string_view id);
  Result<std::vector<Entry>> list(std::optional<State> state);

  /// Whether this vote could approve the entry: presence, and never the agent's own channel.
  static Result<void> may_approve(const Entry& entry, const Vote& vote);
  /// Whether a grant so wide can be given at all.
  Result<void> may_last(const Vote& vote) const;
  /// One answer wins: the second is told what the first said.
  Result<Entry> approve(std::string_view id, const Vote& vote);
  Result<Entry> reject(std::string_view id, std::string_view by, std::string_view reason);

  /// Spends one use. `now` is the digest of the plan frozen again: another one means that something changed since the
  /// vote, and the entry is drifted for good; `difference` says what.
  Result<Entry> redeem(std::string_view id, const Digest& now, const Asker& by, std::string_view difference);
  /// An approved entry for this very plan and asker, for a retry that does not name one.
  Result<std::optional<Entry>> approved_for(const Digest& digest, const Asker& asker);
  Result<void> conclude(std::string_view id, const Json& result, bool succeeded);
  /// The asker stays and runs it itself when the answer comes.
  Result<void> set_waiter(std::string_view id, std::string_view waiter);
  /// It stays no longer. Another asker that waits for the same answer is left alone.
  Result<void> clear_waiter(std::string_view id, std::string_view waiter);

  /// Entries whose expiry has not been written to the audit log yet; asking again returns them again until `tell`.
  Result<std::vector<Entry>> untold_expired();
  Result<void> tell(std::string_view id);

  /// Never removes pending or approved entries.
  Result<std::int64_t> clear(Duration older_than);

 private:
  Queue(Database database, const Clock& clock, const QueueLimits& limits)
      : database_(std::move(database)), clock_(&clock), limits_(limits) {}
  Result<void> expire();
  Result<std::int64_t> pending_count();
  Result<std::optional<Entry>> pending_like(const Request& request);
  Result<Entry> must_be(std::string_view id, State wanted);

  Database database_;
  const Clock* clock_;
  QueueLimits limits_;
};

/// The entry as every interface shows it.
Json to_json(const Entry& entry);

}  // namespace cordon::approve
