// Secrets are replaced before a record is built, hashed or written: the log must not become the place to steal them
// from.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "audit/pattern.h"
#include "base/result.h"

namespace cordon::audit {

struct KnownSecret {
  std::string name;   // e.g. the environment variable's
  std::string value;  // shorter than 8 bytes is not looked for: it would hit ordinary words
};
struct SecretPattern {
  std::string name;
  std::string expression;  // see pattern.h
};

/// Replaces each secret by ‹redacted:KIND:hmac-TAG›. The tag is an HMAC with a key of this installation: equal secrets
/// have equal tags, and a tag tells nothing to who has not the key. Time is linear in the text.
class Redactor {
 public:
  static Result<Redactor> create(std::string hmac_key, std::vector<KnownSecret> known,
                                 const std::vector<SecretPattern>& patterns);

  std::string redact(std::string_view text) const;
  /// What a secret of this kind is replaced by; answers "was this key ever used?" by searching the log for it.
  std::string replacement(std::string_view kind, std::string_view secret) const;
  /// The tag alone, whatever the kind.
  std::string tag(std::string_view secret) const;

 private:
  struct Named {
    std::string name;
    Pattern pattern;
  };
  Redactor() = default;
  std::string replace_known(std::string_view text) const;
  std::string replace_shapes(std::string_view text) const;
  std::string replace_pattern(std::string_view text, const Named& named) const;

  std::string hmac_key_;
  std::unordered_map<std::string, std::vector<KnownSecret>> known_;  // by their first eight bytes, the longest first
  std::vector<Named> patterns_;
};

}  // namespace cordon::audit
