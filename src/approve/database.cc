#include "approve/database.h"

#include <sqlite3.h>
#include <sys/stat.h>

namespace cordon::approve {

Statement::Statement(sqlite3_stmt* statement, const Database& database) : statement_(statement), database_(&database) {}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(std::string_view text) {
  bind_failed_ |= sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT,
                                      SQLITE_UTF8) != SQLITE_OK;
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  bind_failed_ |= sqlite3_bind_int64(statement_.get(), ++bound_, number) != SQLITE_OK;
  return *this;
}

Statement& Statement::bind_null() {
  bind_failed_ |= sqlite3_bind_null(statement_.get(), ++bound_) != SQLITE_OK;
  return *this;
}

Result<bool> Statement::step() {
  if (bind_failed_) return tl::make_unexpected(database_->error("bind a value"));
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::make_unexpected(database_->error("read or write"));
}

Result<void> Statement::run() {
  TRY(step());
  return {};
}

std::string Statement::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_.get(), column);
  const auto length = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes == nullptr ? "" : std::string(reinterpret_cast<const char*>(bytes), length);
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

Database::Database(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<Database> Database::open(const std::string& path) {
  sqlite3* raw = nullptr;
  const mode_t before = ::umask(0077);
  const int code =
      sqlite3_open_v2(path.c_str(), &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, nullptr);
  ::umask(before);
  Database database(raw, path);
  if (code != SQLITE_OK) return tl::make_unexpected(database.error("open"));
  sqlite3_busy_timeout(raw, 10'000);
  sqlite3_extended_result_codes(raw, 1);
  CHECK_OK(database.execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;"));
  return database;
}

Result<Statement> Database::prepare(const char* sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) {
    return tl::make_unexpected(error("prepare a statement"));
  }
  return Statement(statement, *this);
}

Result<void> Database::execute(const char* sql) const {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return tl::make_unexpected(error("use"));
  }
  return {};
}

std::int64_t Database::changes() const { return sqlite3_changes64(database_.get()); }

Error Database::error(const char* doing) const {
  const int code = sqlite3_extended_errcode(database_.get()) & 0xff;
  const Fault fault = code == SQLITE_CORRUPT || code == SQLITE_NOTADB  ? Fault::corrupt
                      : code == SQLITE_CANTOPEN || code == SQLITE_PERM ? Fault::denied
                                                                       : Fault::unavailable;
  return {fault, fmt::format("cannot {} the queue {}: {}", doing, path_, sqlite3_errmsg(database_.get()))};
}

Result<Transaction> Transaction::begin(const Database& database) {
  CHECK_OK(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

Result<void> Transaction::commit() { return std::exchange(database_, nullptr)->execute("COMMIT"); }

}  // namespace cordon::approve
