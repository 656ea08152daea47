// SQLite behind two small owners. Many processes share one file: write-ahead log, full synchronisation, a busy wait.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cordon::approve {

class Database;

/// A prepared statement. Bind in order, then step through the rows.
class Statement {
 public:
  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);
  Statement& bind_null();

  /// True while there is a row to read.
  Result<bool> step();
  /// For statements without rows.
  Result<void> run();
  std::string text(int column) const;
  std::int64_t number(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, const Database& database);
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const Database* database_;
  int bound_ = 0;
  bool bind_failed_ = false;
};

class Database {
 public:
  static Result<Database> open(const std::string& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  Result<Statement> prepare(const char* sql) const;
  Result<void> execute(const char* sql) const;
  std::int64_t changes() const;
  Error error(const char* doing) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database, std::string path);
  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

/// Everything between its making and commit() happens together or not at all. Takes the write lock at once, so that
/// what was read inside it is still true when it is written.
class Transaction {
 public:
  static Result<Transaction> begin(const Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(const Database& database) : database_(&database) {}
  const Database* database_;
};

}  // namespace cordon::approve
