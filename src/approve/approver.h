// Who may loosen limits: the holder of a passphrase typed on a terminal, or of a token for set-up scripts and services.
// Only hashes are kept. One file in the state directory, which no sandbox sees.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/result.h"

namespace cordon::approve {

/// How sure we are that a person wants this.
enum class Presence {
  none,
  confirmed,   // y typed on a terminal; enough for a person's own request, not for an agent's
  passphrase,  // typed on a terminal
  token,       // of `cordon approver init --unattended`
  surface,     // answered in a client that the user's own settings name as a place to approve
};
const char* name_of(Presence presence);

struct Approver {
  enum class Kind { passphrase, token };
  Kind kind = Kind::passphrase;
  std::string salt;
  Digest hash;

  Result<bool> accepts(std::string_view secret) const;
};

class ApproverStore {
 public:
  explicit ApproverStore(std::string state_dir) : state_dir_(std::move(state_dir)) {}

  /// Nothing when no approver was ever set. A file that cannot be read is an error, never "none".
  Result<std::optional<Approver>> read() const;
  Result<void> set_passphrase(std::string_view passphrase) const;
  /// The only time the token is seen.
  Result<std::string> make_token() const;

 private:
  Result<void> write(const Approver& approver) const;
  std::string path() const { return state_dir_ + "/approver.json"; }
  std::string state_dir_;
};

}  // namespace cordon::approve
