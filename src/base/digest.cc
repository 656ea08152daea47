#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace cordon {

namespace {

const unsigned char* as_bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// Out of memory inside a hash leaves nothing sensible to return, and a wrong digest would be worse than none.
void must(bool happened) {
  if (!happened) std::abort();
}

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using KeyHandle = std::unique_ptr<EVP_PKEY, FreeKey>;
using ContextHandle = std::unique_ptr<EVP_MD_CTX, FreeContext>;

// Before anything else asks for it. No configuration file: it could name code to load, by a variable of the environment
// even. No tables of names that nobody here looks up, no tidying at the end: each would cost every command.
const bool library_ready = OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
                                                   OPENSSL_INIT_NO_ADD_ALL_DIGESTS | OPENSSL_INIT_NO_ATEXIT,
                                               nullptr) == 1;

// Fetched once: an implicit fetch per hash costs more than hashing a short line.
const EVP_MD* sha256_method() {
  static const EVP_MD* const method = library_ready ? EVP_MD_fetch(nullptr, "SHA256", nullptr) : nullptr;
  return method;
}

// The kernel's own, without a generator of the library's in between, whose first seed costs as much as a signature.
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
  return CRYPTO_memcmp(bytes_.data(), other.bytes_.data(), bytes_.size()) == 0;
}

Digest sha256(std::string_view bytes) { return Sha256().add(bytes).finish(); }

Digest sha256_of(std::initializer_list<std::string_view> pieces) {
  static thread_local const ContextHandle context(EVP_MD_CTX_new());
  must(context && EVP_DigestInit_ex(context.get(), sha256_method(), nullptr) == 1);
  for (const std::string_view piece : pieces) {
    must(EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1);
  }
  Digest::Bytes out;
  unsigned int length = 0;
  must(EVP_DigestFinal_ex(context.get(), out.data(), &length) == 1);
  return Digest(out);
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  Digest::Bytes out;
  unsigned int length = 0;
  must(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), as_bytes(bytes), bytes.size(), out.data(),
            &length) != nullptr);
  return Digest(out);
}

Result<Digest> scrypt(std::string_view passphrase, std::string_view salt) {
  constexpr std::uint64_t cost = 1U << 15, block_size = 8, parallel = 1, memory_limit = 64U << 20;
  Digest::Bytes out;
  if (EVP_PBE_scrypt(passphrase.data(), passphrase.size(), as_bytes(salt), salt.size(), cost, block_size, parallel,
                     memory_limit, out.data(), out.size()) != 1) {
    return fail(Fault::unavailable, "cannot hash the passphrase: too little memory");
  }
  return Digest(out);
}

struct Sha256::State {
  ContextHandle context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  must(state_->context && EVP_DigestInit_ex(state_->context.get(), sha256_method(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::add(std::string_view bytes) {
  must(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
  return *this;
}

Sha256& Sha256::add_field(std::string_view bytes) {
  std::array<char, 8> length;
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>(bytes.size() >> (8 * i));
  return add({length.data(), length.size()}).add(bytes);
}

Digest Sha256::finish() {
  Digest::Bytes out;
  unsigned int length = 0;
  must(EVP_DigestFinal_ex(state_->context.get(), out.data(), &length) == 1);
  return Digest(out);
}

bool PublicKey::verify(std::string_view message, const Signature& signature) const {
  const KeyHandle key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_.data(), bytes_.size()));
  const ContextHandle context(EVP_MD_CTX_new());
  if (!key || !context) return false;
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) return false;
  return EVP_DigestVerify(context.get(), signature.data(), signature.size(), as_bytes(message), message.size()) == 1;
}

Result<SigningKey> SigningKey::generate() {
  Seed seed;
  CHECK_OK(fill_randomly(seed.data(), seed.size()));
  return SigningKey(seed);
}

SigningKey SigningKey::from_seed(const Seed& seed) { return SigningKey(seed); }

SigningKey::~SigningKey() { OPENSSL_cleanse(seed_.data(), seed_.size()); }

PublicKey SigningKey::public_key() const {
  const KeyHandle key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed_.data(), seed_.size()));
  PublicKey::Bytes bytes;
  std::size_t length = bytes.size();
  must(key && EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &length) == 1);
  return PublicKey(bytes);
}

Signature SigningKey::sign(std::string_view message) const {
  const KeyHandle key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed_.data(), seed_.size()));
  const ContextHandle context(EVP_MD_CTX_new());
  Signature signature;
  std::size_t length = signature.size();
  must(key && context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  must(EVP_DigestSign(context.get(), signature.data(), &length, as_bytes(message), message.size()) == 1);
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
