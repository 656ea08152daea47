#include "base/digest.h"

// The plain functions, which newer headers advise against: asking for an algorithm by name, at a program's first hash,
// costs more than all the hashes of a command.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <sodium.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace cordon {

namespace {

const unsigned char* as_bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// A wrong digest would be worse than none.
void must(bool happened) {
  if (!happened) std::abort();
}

// The kernel's own, without a generator of a library's in between.
Result<void> fill_randomly(void* into, std::size_t count) {
  auto* next = static_cast<char*>(into);
  while (count > 0) {
    const ssize_t got = ::getrandom(next, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(Fault::unavailable, "the system gives no random bytes");
    next += got;
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

// A table, because a log of a million lines has a hundred million such digits.
constexpr std::array<std::int8_t, 256> hex_values = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < 10; ++i) values['0' + i] = static_cast<std::int8_t>(i);
  for (std::size_t i = 0; i < 6; ++i) values['a' + i] = static_cast<std::int8_t>(10 + i);
  return values;
}();
int hex_digit(char c) { return hex_values[static_cast<unsigned char>(c)]; }

}  // namespace

std::optional<Digest> Digest::from_hex(std::string_view hex) {
  Bytes value;
  if (hex.size() != 2 * value.size()) return std::nullopt;
  int all = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const int high = hex_digit(hex[2 * i]);
    const int low = hex_digit(hex[2 * i + 1]);
    all |= high | low;
    value[i] = static_cast<std::uint8_t>((static_cast<unsigned>(high) << 4U) | static_cast<unsigned>(low));
  }
  if (all < 0) return std::nullopt;
  return Digest(value);
}

std::string Digest::hex() const { return to_hex(view()); }

bool Digest::operator==(const Digest& other) const {
  return sodium_memcmp(bytes_.data(), other.bytes_.data(), bytes_.size()) == 0;
}

Digest sha256(std::string_view bytes) { return sha256_of({bytes}); }

Digest sha256_of(std::initializer_list<std::string_view> pieces) {
  SHA256_CTX context;
  must(SHA256_Init(&context) == 1);
  for (const std::string_view piece : pieces) must(SHA256_Update(&context, piece.data(), piece.size()) == 1);
  Digest::Bytes out;
  must(SHA256_Final(out.data(), &context) == 1);
  return Digest(out);
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  crypto_auth_hmacsha256_state state;
  must(crypto_auth_hmacsha256_init(&state, as_bytes(key), key.size()) == 0);
  must(crypto_auth_hmacsha256_update(&state, as_bytes(bytes), bytes.size()) == 0);
  Digest::Bytes out;
  must(crypto_auth_hmacsha256_final(&state, out.data()) == 0);
  return Digest(out);
}

Result<Digest> scrypt(std::string_view passphrase, std::string_view salt) {
  constexpr std::uint64_t cost = 1U << 15;
  constexpr std::uint32_t block_size = 8, parallel = 1;
  Digest::Bytes out;
  if (crypto_pwhash_scryptsalsa208sha256_ll(as_bytes(passphrase), passphrase.size(), as_bytes(salt), salt.size(), cost,
                                            block_size, parallel, out.data(), out.size()) != 0) {
    return fail(Fault::unavailable, "cannot hash the passphrase: too little memory");
  }
  return Digest(out);
}

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { must(SHA256_Init(&state_->context) == 1); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::add(std::string_view bytes) {
  must(SHA256_Update(&state_->context, bytes.data(), bytes.size()) == 1);
  return *this;
}

Sha256& Sha256::add_field(std::string_view bytes) {
  std::array<char, 8> length;
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>(bytes.size() >> (8 * i));
  return add({length.data(), length.size()}).add(bytes);
}

Digest Sha256::finish() {
  Digest::Bytes out;
  must(SHA256_Final(out.data(), &state_->context) == 1);
  return Digest(out);
}

bool PublicKey::verify(std::string_view message, const Signature& signature) const {
  return crypto_sign_verify_detached(signature.data(), as_bytes(message), message.size(), bytes_.data()) == 0;
}

Result<SigningKey> SigningKey::generate() {
  Seed seed;
  CHECK_OK(fill_randomly(seed.data(), seed.size()));
  return SigningKey(seed);
}

SigningKey SigningKey::from_seed(const Seed& seed) { return SigningKey(seed); }

SigningKey::~SigningKey() { sodium_memzero(seed_.data(), seed_.size()); }

namespace {

/// The seed with its public half, as libsodium wants it; wiped when it goes.
struct KeyPair {
  PublicKey::Bytes public_half;
  std::array<std::uint8_t, crypto_sign_SECRETKEYBYTES> secret;

  explicit KeyPair(const SigningKey::Seed& seed) {
    must(crypto_sign_seed_keypair(public_half.data(), secret.data(), seed.data()) == 0);
  }
  ~KeyPair() { sodium_memzero(secret.data(), secret.size()); }
  KeyPair(const KeyPair&) = delete;
  KeyPair& operator=(const KeyPair&) = delete;
};

}  // namespace

PublicKey SigningKey::public_key() const { return PublicKey(KeyPair(seed_).public_half); }

Signature SigningKey::sign(std::string_view message) const {
  const KeyPair pair(seed_);
  Signature signature;
  must(crypto_sign_detached(signature.data(), nullptr, as_bytes(message), message.size(), pair.secret.data()) == 0);
  return signature;
}

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  CHECK_OK(fill_randomly(bytes.data(), count));
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_digit(hex[i]);
    const int low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace cordon
