#include "approve/queue.h"

#include <array>

#include "base/text.h"
#include "sys/file.h"
#include "sys/liveness.h"

namespace cordon::approve {

namespace {

constexpr int schema_version = 1;
constexpr const char* schema = R"(
  CREATE TABLE IF NOT EXISTS entries (
    id TEXT PRIMARY KEY, command TEXT NOT NULL, risk TEXT NOT NULL, reasons TEXT NOT NULL,
    working_dir TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, surface TEXT NOT NULL,
    is_agent INTEGER NOT NULL, digest TEXT NOT NULL, plan TEXT NOT NULL,
    state TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    approved_at INTEGER, approved_by TEXT NOT NULL DEFAULT '', notes TEXT NOT NULL DEFAULT '',
    rejected_at INTEGER, rejected_by TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '',
    uses_left INTEGER NOT NULL DEFAULT 0, result TEXT NOT NULL DEFAULT 'null', waiter TEXT NOT NULL DEFAULT '',
    told INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX IF NOT EXISTS entries_by_state ON entries(state, created_at);
  CREATE INDEX IF NOT EXISTS entries_by_digest ON entries(digest, state);
)";

constexpr const char* columns =
    "id, command, risk, reasons, working_dir, user, agent, session, surface, is_agent, digest, plan, state, "
    "created_at, "
    "expires_at, approved_at, approved_by, notes, rejected_at, rejected_by, reason, uses_left, result, waiter";

constexpr std::array state_names = {"pending", "approved", "rejected", "expired", "drifted", "executed", "failed"};

std::int64_t to_number(Time time) { return time.time_since_epoch().count(); }
Time to_time(std::int64_t number) { return Time(Duration(number)); }

Result<Entry> read_entry(const Statement& row) {
  const auto risk = risk_named(row.text(2));
  const auto state = state_named(row.text(12));
  const auto digest = Digest::from_hex(row.text(10));
  Json reasons = parse_json(row.text(3));
  Json plan = parse_json(row.text(11));
  Json result = parse_json(row.text(22));
  if (!risk || !state || !digest || !reasons.is_array() || plan.is_discarded() || result.is_discarded()) {
    return fail(Fault::corrupt, "queue entry {} is damaged", row.text(0));
  }
  Entry entry{.id = row.text(0)};
  entry.request = {.command = row.text(1), .risk = *risk, .digest = *digest, .plan = std::move(plan)};
  for (const Json& reason : reasons)
    entry.request.reasons.push_back(reason.is_string() ? reason.get<std::string>() : "");
  entry.request.asker = {row.text(4), row.text(5), row.text(6), row.text(7), row.text(8), row.number(9) != 0};
  entry.state = *state;
  entry.created_at = to_time(row.number(13));
  entry.expires_at = to_time(row.number(14));
  if (!row.is_null(15)) entry.approved_at = to_time(row.number(15));
  entry.approved_by = row.text(16);
  entry.notes = row.text(17);
  if (!row.is_null(18)) entry.rejected_at = to_time(row.number(18));
  entry.rejected_by = row.text(19);
  entry.reason = row.text(20);
  entry.uses_left = row.number(21);
  entry.result = std::move(result);
  entry.waiter = row.text(23);
  return entry;
}

Result<std::string> new_id() {
  // 32 letters and digits: 12 of them are 60 random bits.
  static constexpr std::string_view alphabet = "abcdefghijkmnpqrstuvwxyz23456789";
  std::string id = "cmd_";
  for (const char byte : TRY(random_bytes(12))) id += alphabet[static_cast<unsigned char>(byte) % alphabet.size()];
  return id;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

const char* name_of(State state) { return state_names[static_cast<std::size_t>(state)]; }

std::optional<State> state_named(std::string_view name) {
  for (std::size_t i = 0; i < state_names.size(); ++i) {
    if (name == state_names[i]) return static_cast<State>(i);
  }
  return std::nullopt;
}

Result<Queue> Queue::open(const std::string& state_dir, const Clock& clock, const QueueLimits& limits) {
  CHECK_OK(sys::ensure_private_directory(state_dir));
  Database database = TRY(Database::open(state_dir + "/queue.sqlite"));
  {
    Statement version = TRY(database.prepare("PRAGMA user_version"));
    TRY(version.step());
    if (version.number(0) > schema_version) {
      return fail(Fault::invalid_input, "{}/queue.sqlite was written by a newer Cordon; upgrade this one", state_dir);
    }
    if (version.number(0) == schema_version) return Queue(std::move(database), clock, limits);
  }
  Transaction transaction = TRY(Transaction::begin(database));
  CHECK_OK(database.execute(schema));
  CHECK_OK(database.execute("PRAGMA user_version = 1"));
  CHECK_OK(transaction.commit());
  return Queue(std::move(database), clock, limits);
}

// Expiry means denial, and it is written down whenever anyone looks.
Result<void> Queue::expire() {
  Statement update =
      TRY(database_.prepare("UPDATE entries SET state = 'expired', reason = CASE state WHEN 'pending' THEN 'nobody "
                            "answered in time' ELSE 'approved, "
                            "but not run in time' END WHERE state IN ('pending', 'approved') AND expires_at <= ?"));
  return update.bind(to_number(clock_->now())).run();
}

Result<std::int64_t> Queue::pending_count() {
  Statement count = TRY(database_.prepare("SELECT count(*) FROM entries WHERE state = 'pending'"));
  TRY(count.step());
  return count.number(0);
}

Result<std::optional<Entry>> Queue::pending_like(const Request& request) {
  const std::string sql = fmt::format(
      "SELECT {} FROM entries WHERE digest = ? AND state = 'pending' AND user = ? AND agent = ? AND session = ?",
      columns);
  Statement select = TRY(database_.prepare(sql.c_str()));
  select.bind(request.digest.hex()).bind(request.asker.user).bind(request.asker.agent).bind(request.asker.session);
  if (!TRY(select.step())) return std::optional<Entry>();
  return std::optional<Entry>(TRY(read_entry(select)));
}

Result<Queue::Submitted> Queue::submit(const Request& request) {
  Transaction transaction = TRY(Transaction::begin(database_));
  CHECK_OK(expire());
  if (auto same = TRY(pending_like(request))) {
    CHECK_OK(transaction.commit());
    return Submitted{*std::move(same), true};
  }
  if (TRY(pending_count()) >= limits_.pending) {
    CHECK_OK(transaction.commit());
    return fail(Fault::conflict, "the approval queue is full ({} pending); answer some, or raise 'Queue limit'",
                limits_.pending);
  }
  Entry entry{.id = TRY(new_id()), .request = request, .created_at = clock_->now()};
  entry.expires_at = entry.created_at + limits_.expiry;
  Json reasons = Json::array();
  for (const std::string& reason : request.reasons) reasons.push_back(reason);
  Statement insert = TRY(
      database_.prepare("INSERT INTO entries (id, command, risk, reasons, working_dir, user, agent, session, surface, "
                        "is_agent, digest, plan, "
                        "state, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)"));
  insert.bind(entry.id).bind(request.command).bind(name_of(request.risk)).bind(dump(reasons));
  insert.bind(request.asker.working_dir).bind(request.asker.user).bind(request.asker.agent);
  insert.bind(request.asker.session).bind(request.asker.surface).bind(std::int64_t{request.asker.is_agent});
  insert.bind(request.digest.hex()).bind(dump(request.plan));
  CHECK_OK(insert.bind(to_number(entry.created_at)).bind(to_number(entry.expires_at)).run());
  CHECK_OK(transaction.commit());
  return Submitted{std::move(entry), false};
}

Result<Entry> Queue::find(std::string_view id) {
  CHECK_OK(expire());
  Statement select = TRY(database_.prepare(fmt::format("SELECT {} FROM entries WHERE id = ?", columns).c_str()));
  if (!TRY(select.bind(id).step())) return fail(Fault::invalid_input, "Command not found in queue");
  return read_entry(select);
}

Result<std::vector<Entry>> Queue::list(std::optional<State> state) {
  CHECK_OK(expire());
  const std::string sql =
      fmt::format("SELECT {} FROM entries {} ORDER BY created_at DESC, id", columns, state ? "WHERE state = ?" : "");
  Statement select = TRY(database_.prepare(sql.c_str()));
  if (state) select.bind(name_of(*state));
  std::vector<Entry> entries;
  while (TRY(select.step())) entries.push_back(TRY(read_entry(select)));
  return entries;
}

Result<Entry> Queue::must_be(std::string_view id, State wanted) {
  Entry entry = TRY(find(id));
  if (entry.state != wanted) return fail(Fault::conflict, "Command is already {}", name_of(entry.state));
  return entry;
}

Result<void> Queue::may_approve(const Entry& entry, const Vote& vote) {
  if (vote.inside_sandbox) return fail(Fault::denied, "approvals never come from inside a sandbox");
  if (vote.from_agent) return fail(Fault::denied, "an agent cannot approve; a person must");
  if (vote.presence == Presence::none) {
    return fail(Fault::denied, "approving needs a person: the passphrase on a terminal, or the approver's token");
  }
  if (entry.request.asker.is_agent && vote.presence == Presence::confirmed) {
    return fail(
        Fault::denied,
        "{} was asked for by an agent, so a y is not enough; set a passphrase (cordon approver init) or give the "
        "approver's token",
        entry.id);
  }
  return {};
}

Result<void> Queue::may_last(const Vote& vote) const {
  if (vote.uses < 1 || vote.uses > 1000) return fail(Fault::invalid_input, "an approval is for 1 to 1000 runs");
  if (vote.lasts && (*vote.lasts <= Duration::zero() || *vote.lasts > limits_.longest_approval)) {
    return fail(Fault::invalid_input, "an approval lasts at most {}", to_text(limits_.longest_approval));
  }
  return {};
}

Result<Entry> Queue::approve(std::string_view id, const Vote& vote) {
  Transaction transaction = TRY(Transaction::begin(database_));
  const auto pending = must_be(id, State::pending);
  if (!pending) {
    CHECK_OK(transaction.commit());  // what expired meanwhile is written down
    return pending;
  }
  CHECK_OK(may_approve(*pending, vote));
  CHECK_OK(may_last(vote));
  // What is committed is spent by being approved: an asker that waits for it must not find anything to run.
  const bool commits = !vote.commit.empty();
  const Json result = commits ? Json{{"committing", vote.commit}, {"committer", sys::own_liveness()}} : Json();
  Statement update =
      TRY(database_.prepare("UPDATE entries SET state = ?, approved_at = ?, approved_by = ?, notes = ?, "
                            "uses_left = ?, result = ?, expires_at = ? "
                            "WHERE id = ? AND state = 'pending'"));
  const Time now = clock_->now();
  update.bind(name_of(commits ? State::executed : State::approved));
  update.bind(to_number(now)).bind(vote.by).bind(vote.notes).bind(commits ? 0 : vote.uses).bind(dump(result));
  CHECK_OK(update.bind(to_number(now + vote.lasts.value_or(limits_.approval_expiry))).bind(id).run());
  Entry entry = TRY(find(id));
  CHECK_OK(transaction.commit());
  return entry;
}

bool is_committing(const Entry& entry) {
  return entry.state == State::executed && entry.result.is_object() && entry.result.contains("committing");
}

Result<Entry> Queue::reject(std::string_view id, std::string_view by, std::string_view reason) {
  Transaction transaction = TRY(Transaction::begin(database_));
  const auto pending = must_be(id, State::pending);
  if (!pending) {
    CHECK_OK(transaction.commit());
    return pending;
  }
  Statement update =
      TRY(database_.prepare("UPDATE entries SET state = 'rejected', rejected_at = ?, rejected_by = ?, reason = ? WHERE "
                            "id = ? AND state = 'pending'"));
  CHECK_OK(update.bind(to_number(clock_->now())).bind(by).bind(reason).bind(id).run());
  Entry entry = TRY(find(id));
  CHECK_OK(transaction.commit());
  return entry;
}

Result<Entry> Queue::redeem(std::string_view id, const Digest& now, const Asker& by, std::string_view difference) {
  Transaction transaction = TRY(Transaction::begin(database_));
  const auto approved = must_be(id, State::approved);
  if (!approved) {
    CHECK_OK(transaction.commit());
    return approved;
  }
  if (approved->request.asker.user != by.user) return fail(Fault::denied, "{} was asked for by another user", id);
  if (!(approved->request.digest == now)) {
    Statement drift = TRY(database_.prepare("UPDATE entries SET state = 'drifted', reason = ? WHERE id = ?"));
    CHECK_OK(drift.bind(fmt::format("changed since the approval: {}", difference)).bind(id).run());
    CHECK_OK(transaction.commit());
    return fail(Fault::conflict, "{}: changed since it was approved ({}); ask again for a new approval", id,
                difference);
  }
  Statement spend =
      TRY(database_.prepare("UPDATE entries SET uses_left = uses_left - 1, state = CASE WHEN uses_left <= 1 THEN "
                            "'executed' ELSE state END WHERE id = "
                            "? AND state = 'approved' AND uses_left > 0"));
  CHECK_OK(spend.bind(id).run());
  if (database_.changes() != 1) return fail(Fault::conflict, "{} was redeemed already", id);
  Entry entry = TRY(find(id));
  CHECK_OK(transaction.commit());
  return entry;
}

Result<std::optional<Entry>> Queue::approved_for(const Digest& digest, const Asker& asker) {
  CHECK_OK(expire());
  const std::string sql = fmt::format(
      "SELECT {} FROM entries WHERE digest = ? AND state = 'approved' AND user = ? AND agent = ? AND session = ? ORDER "
      "BY "
      "created_at LIMIT 1",
      columns);
  Statement select = TRY(database_.prepare(sql.c_str()));
  select.bind(digest.hex()).bind(asker.user).bind(asker.agent).bind(asker.session);
  if (!TRY(select.step())) return std::optional<Entry>();
  return std::optional<Entry>(TRY(read_entry(select)));
}

Result<void> Queue::conclude(std::string_view id, const Json& result, bool succeeded) {
  Statement update =
      TRY(database_.prepare("UPDATE entries SET result = ?, state = CASE WHEN state = 'executed' AND ? = 0 THEN "
                            "'failed' ELSE state END WHERE id = ?"));
  return update.bind(dump(result)).bind(std::int64_t{succeeded}).bind(id).run();
}

Result<void> Queue::set_waiter(std::string_view id, std::string_view waiter) {
  Statement update = TRY(database_.prepare("UPDATE entries SET waiter = ? WHERE id = ?"));
  return update.bind(waiter).bind(id).run();
}

Result<void> Queue::clear_waiter(std::string_view id, std::string_view waiter) {
  Statement update = TRY(database_.prepare("UPDATE entries SET waiter = '' WHERE id = ? AND waiter = ?"));
  return update.bind(id).bind(waiter).run();
}

Result<std::vector<Entry>> Queue::untold_expired() {
  CHECK_OK(expire());
  const std::string sql = fmt::format("SELECT {} FROM entries WHERE state = 'expired' AND told = 0 LIMIT 100", columns);
  Statement select = TRY(database_.prepare(sql.c_str()));
  std::vector<Entry> entries;
  while (TRY(select.step())) entries.push_back(TRY(read_entry(select)));
  return entries;
}

Result<void> Queue::tell(std::string_view id) {
  Statement update = TRY(database_.prepare("UPDATE entries SET told = 1 WHERE id = ?"));
  return update.bind(id).run();
}

Result<std::int64_t> Queue::clear(Duration older_than) {
  CHECK_OK(expire());
  Statement remove =
      TRY(database_.prepare("DELETE FROM entries WHERE state NOT IN ('pending', 'approved') AND created_at <= ?"));
  CHECK_OK(remove.bind(to_number(clock_->now() - older_than)).run());
  return database_.changes();
}

Json to_json(const Entry& entry) {
  const auto time = [](const std::optional<Time>& t) { return t ? Json(to_rfc3339(*t)) : Json(); };
  // Commands and paths may hold bytes that are no text; JSON cannot.
  const auto shown = [](const std::string& t) { return is_utf8(t) ? t : visible(t, Lines::keep); };
  const auto text = [&](const std::string& t) { return t.empty() ? Json() : Json(shown(t)); };
  const Asker& asker = entry.request.asker;
  return {{"id", entry.id},
          {"command", shown(entry.request.command)},
          {"risk_level", name_of(entry.request.risk)},
          {"risk_reasons", entry.request.reasons},
          {"context",
           {{"working_dir", shown(asker.working_dir)},
            {"user", shown(asker.user)},
            {"agent", shown(asker.agent)},
            {"session", shown(asker.session)}}},
          {"status", name_of(entry.state)},
          {"created_at", to_rfc3339(entry.created_at)},
          {"expires_at", to_rfc3339(entry.expires_at)},
          {"approved_at", time(entry.approved_at)},
          {"approved_by", text(entry.approved_by)},
          {"notes", text(entry.notes)},
          {"rejected_at", time(entry.rejected_at)},
          {"rejected_by", text(entry.rejected_by)},
          {"reason", text(entry.reason)},
          {"plan", entry.request.plan},
          {"result", entry.result}};
}

}  // namespace cordon::approve
