// SHA-256 for programs that are small on purpose: pid 1 of a sandbox, which has no library to ask, and sandbox-exec,
// for which a library's first use would be the longest step. Checked against OpenSSL's in small_sha256_test.cc.
#pragma once

#include <cstdint>

namespace cordon {

class SmallSha256 {
 public:
  static constexpr unsigned digest_bytes = 32;

  void add(const unsigned char* bytes, unsigned long count) {
    total_ += count;
    for (; count > 0; --count) {
      block_[used_++] = *bytes++;
      if (used_ == sizeof block_) mix();
    }
  }

  void finish(unsigned char (&digest)[digest_bytes]) {
    const std::uint64_t bits = total_ * 8;
    const unsigned char one = 0x80;
    const unsigned char zero = 0;
    add(&one, 1);
    while (used_ != 56) add(&zero, 1);
    for (int shift = 56; shift >= 0; shift -= 8) block_[used_++] = static_cast<unsigned char>(bits >> shift);
    mix();
    for (unsigned i = 0; i < digest_bytes; ++i) {
      digest[i] = static_cast<unsigned char>(state_[i / 4] >> (24 - 8 * (i % 4)));
    }
  }

 private:
  static constexpr std::uint32_t round_constants[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

  static constexpr std::uint32_t turned(std::uint32_t word, int by) { return word >> by | word << (32 - by); }

  void mix() {
    std::uint32_t words[64];
    for (int i = 0; i < 16; ++i) {
      words[i] = static_cast<std::uint32_t>(block_[4 * i]) << 24 | static_cast<std::uint32_t>(block_[4 * i + 1]) << 16 |
                 static_cast<std::uint32_t>(block_[4 * i + 2]) << 8 | block_[4 * i + 3];
    }
    for (int i = 16; i < 64; ++i) {
      const std::uint32_t early = words[i - 15];
      const std::uint32_t late = words[i - 2];
      words[i] = words[i - 16] + (turned(early, 7) ^ turned(early, 18) ^ early >> 3) + words[i - 7] +
                 (turned(late, 17) ^ turned(late, 19) ^ late >> 10);
    }
    std::uint32_t v[8];
    for (int i = 0; i < 8; ++i) v[i] = state_[i];
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t first = v[7] + (turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25)) +
                                  ((v[4] & v[5]) ^ (~v[4] & v[6])) + round_constants[i] + words[i];
      const std::uint32_t second =
          (turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      for (int k = 7; k > 0; --k) v[k] = v[k - 1];
      v[4] += first;
      v[0] = first + second;
    }
    for (int i = 0; i < 8; ++i) state_[i] += v[i];
    used_ = 0;
  }

  std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char block_[64] = {};
  unsigned long used_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace cordon
