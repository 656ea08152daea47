// C2SP signed notes and checkpoints, from the reader's side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"

namespace cordon::audit {

/// "<name>+<id>+<base64>": under which name and with which key a log signs.
class VerifierKey {
 public:
  static Result<VerifierKey> parse(std::string_view text);
  const std::string& name() const { return name_; }
  const std::string& id() const { return id_; }
  bool verify(std::string_view text, const Signature& signature) const { return key_.verify(text, signature); }
  bool operator==(const VerifierKey&) const = default;

 private:
  VerifierKey(std::string name, std::string id, PublicKey key)
      : name_(std::move(name)), id_(std::move(id)), key_(key) {}
  std::string name_;
  std::string id_;
  PublicKey key_;
};

struct SignedHead {
  std::uint64_t size = 0;
  Digest root;
  std::vector<std::string> extensions;  // the lines after the root
};

/// The tree head that `note` signs; the error's sentence says what is wrong with it.
Result<SignedHead> open_note(std::string_view note, const VerifierKey& key);

struct SealedDay {
  std::uint64_t before_size = 0;
  Digest before_root;
  std::uint64_t size = 0;
  Digest root;
};
Result<SealedDay> open_seal(std::string_view note, const VerifierKey& key, std::string_view day);

}  // namespace cordon::audit
