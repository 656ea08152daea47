// Bearer tokens: who may use the tools over HTTP, as what, where and until when. Only hashes are kept, in one file of
// the state directory, which no sandbox sees.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/result.h"
#include "serve/premises.h"
#include "sys/file_mark.h"

namespace cordon::serve {

struct Token {
  std::string id;  // "tok_…", part of the token itself
  Role role = Role::agent;
  std::string agent = "main";
  std::string session;
  std::string workspace;
  Time created_at{};
  std::optional<Time> expires_at;
  std::optional<Time> revoked_at;
  std::string salt;
  Digest hash;

  const char* state(Time now) const;  // "valid", "expired" or "revoked"
};

/// As a list shows it: everything but salt and hash.
Json to_json(const Token& token, Time now);

/// The id that a token names; nothing when it is not written as ours are.
std::optional<std::string> id_in(std::string_view secret);

class TokenStore {
 public:
  /// `clock` must outlive it.
  TokenStore(std::string state_dir, const Clock& clock) : state_dir_(std::move(state_dir)), clock_(&clock) {}

  /// What is to be known of it comes in `token`; returns the token's text, which is never seen again.
  Result<std::string> create(Token token) const;
  Result<std::vector<Token>> list() const;
  Result<Token> revoke(std::string_view id) const;

 private:
  Result<void> write(const std::vector<Token>& tokens) const;
  std::string path() const { return state_dir_ + "/tokens.json"; }
  std::string state_dir_;
  const Clock* clock_;
};

/// Answers who shows a token, for a server that is asked often: the file is read again when it has changed.
class TokenCheck {
 public:
  TokenCheck(std::string state_dir, const Clock& clock)
      : path_(state_dir + "/tokens.json"), store_(std::move(state_dir), clock), clock_(&clock) {}

  /// The token's owner. Unknown, expired and revoked tokens are all denied, with one sentence for all three.
  Result<Token> owner_of(std::string_view secret);
  /// Whether a token that was shown earlier still counts. Not when that cannot be told.
  bool still_counts(std::string_view id);

 private:
  Result<void> refresh();
  std::string path_;
  TokenStore store_;
  const Clock* clock_;
  std::mutex lock_;
  std::optional<sys::FileMark> seen_;  // when it was read; nothing: it must be read
  std::vector<Token> tokens_;
};

}  // namespace cordon::serve
