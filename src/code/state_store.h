// JavaScript contexts between calls, as files: every step of a session is one, so that it can be gone back to and
// forked. The bytes come from inside a sandbox and are never looked into here, only kept and checked for damage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/file.h"

namespace cordon::code {

/// Where a session stands.
struct StoredState {
  std::uint64_t step = 0;
  std::string bytes;
};

/// Held while a call is under way: two calls of one session come one after the other.
using SessionHold = sys::FileLock;

class StateStore {
 public:
  /// `directory` is made, 0700.
  static Result<StateStore> open(std::string directory);

  Result<SessionHold> hold(const std::string& session) const;
  /// Nothing for a session that has not been used yet.
  Result<std::optional<StoredState>> load(const std::string& session) const;
  /// Becomes step `step`; steps beyond it and the oldest ones go.
  Result<void> save(const std::string& session, std::uint64_t step, std::string_view bytes) const;
  /// The new session starts where the old one stands.
  Result<std::uint64_t> fork(const std::string& from, const std::string& to) const;
  /// Back to that step: what came after it never happened.
  Result<void> roll_back(const std::string& session, std::uint64_t step) const;
  Result<void> remove(const std::string& session) const;
  Result<std::vector<std::uint64_t>> steps(const std::string& session) const;

 private:
  explicit StateStore(std::string directory) : directory_(std::move(directory)) {}
  Result<std::string> folder(const std::string& session) const;
  std::string directory_;
};

/// Letters, digits, `-`, `_`, `.` and `:`, at most 128, not starting with a dot.
Result<void> check_session_name(const std::string& session);

}  // namespace cordon::code
