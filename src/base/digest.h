// Cryptographic values: SHA-256, HMAC-SHA-256, Ed25519. OpenSSL (hashes) and libsodium (the rest) stay behind
// this header.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon {

/// A SHA-256 value. Compared in constant time, so it may also be an authentication tag.
class Digest {
 public:
  using Bytes = std::array<std::uint8_t, 32>;

  Digest() : bytes_{} {}
  explicit Digest(const Bytes& bytes) : bytes_(bytes) {}
  /// Exactly 64 hexadecimal digits, lower case.
  static std::optional<Digest> from_hex(std::string_view hex);

  const Bytes& bytes() const { return bytes_; }
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  std::string hex() const;
  bool operator==(const Digest& other) const;

 private:
  Bytes bytes_;
};

Digest sha256(std::string_view bytes);
/// The hash of the pieces one after the other. Allocates nothing: made for millions of short values.
Digest sha256_of(std::initializer_list<std::string_view> pieces);
Digest hmac_sha256(std::string_view key, std::string_view bytes);

/// A slow, memory-hard hash for what a person can remember: about 0.1 s and 32 MiB per try.
Result<Digest> scrypt(std::string_view passphrase, std::string_view salt);

/// Hashes what comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  Sha256& add(std::string_view bytes);
  /// Adds the length first, so that ("ab","c") and ("a","bc") differ.
  Sha256& add_field(std::string_view bytes);
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

using Signature = std::array<std::uint8_t, 64>;

class PublicKey {
 public:
  using Bytes = std::array<std::uint8_t, 32>;
  explicit PublicKey(const Bytes& bytes) : bytes_(bytes) {}

  const Bytes& bytes() const { return bytes_; }
  bool verify(std::string_view message, const Signature& signature) const;
  bool operator==(const PublicKey&) const = default;

 private:
  Bytes bytes_;
};

/// An Ed25519 private key. Its seed is wiped when it goes.
class SigningKey {
 public:
  using Seed = std::array<std::uint8_t, 32>;

  static Result<SigningKey> generate();
  static SigningKey from_seed(const Seed& seed);
  SigningKey(SigningKey&&) noexcept = default;
  SigningKey& operator=(SigningKey&&) noexcept = default;
  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;
  ~SigningKey();

  const Seed& seed() const { return seed_; }
  PublicKey public_key() const;
  Signature sign(std::string_view message) const;

 private:
  explicit SigningKey(const Seed& seed) : seed_(seed) {}
  Seed seed_;
};

/// Bytes nobody can predict; fails only when the machine has no randomness.
Result<std::string> random_bytes(std::size_t count);

std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view hex);
std::string to_base64(std::string_view bytes);
/// Standard alphabet with padding; anything else, blanks too, is refused.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace cordon
