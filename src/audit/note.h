// Signed notes and checkpoints as C2SP describes them (signed-note, tlog-checkpoint), from the signer's side. The
// reader's side is verify/note.h and shares nothing with this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/tree.h"
#include "base/digest.h"
#include "base/result.h"

namespace cordon::audit {

struct TreeHead {
  std::uint64_t size = 0;
  Digest root = sha256("");
  bool operator==(const TreeHead&) const = default;
};
inline TreeHead head_of(const Tree& tree) { return {tree.size(), tree.root()}; }

/// The key of one log, and the name under which it signs.
class Signer {
 public:
  static Result<Signer> generate();
  /// Reads what text() gave.
  static Result<Signer> from_text(std::string_view text);
  /// "PRIVATE+KEY+<name>+<id>+<base64>": the whole secret.
  std::string text() const;
  /// "<name>+<id>+<base64>": what a verifier needs.
  std::string verifier_key() const;
  const std::string& name() const { return name_; }

  std::string checkpoint(const TreeHead& head) const;
  /// The end of one day: `before` is the tree with which the day began.
  std::string seal(const std::string& day, const TreeHead& before, const TreeHead& after) const;
  /// What checkpoint() or seal() signed; nothing for anything that this key did not sign.
  std::optional<TreeHead> read(std::string_view note) const;

 private:
  Signer(std::string name, SigningKey key);
  std::string sign(const std::string& text) const;
  std::string name_;
  SigningKey key_;
  std::string public_key_;
  std::string id_;  // four bytes that tell keys of one name apart
};

}  // namespace cordon::audit
