// For the few that speak TLS: the library, set up before anything else asks for it.
#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstdint>

namespace cordon::sys {

/// No configuration file: it could name code to load, by a variable of the environment even. Certificates may be signed
/// with these digests and no others.
inline bool set_up_openssl() {
  constexpr std::uint64_t plain = OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
                                  OPENSSL_INIT_NO_ADD_ALL_DIGESTS | OPENSSL_INIT_NO_ATEXIT;
  if (OPENSSL_init_crypto(plain, nullptr) != 1) return false;
  return EVP_add_digest(EVP_sha256()) == 1 && EVP_add_digest(EVP_sha384()) == 1 && EVP_add_digest(EVP_sha512()) == 1;
}

}  // namespace cordon::sys
