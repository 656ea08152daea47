#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/digest.h"
#include "base/small_sha256.h"

namespace cordon {
namespace {

Digest small(std::string_view text, std::size_t piece) {
  SmallSha256 hash;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::string_view part = text.substr(at, piece);
    hash.add(reinterpret_cast<const unsigned char*>(part.data()), part.size());
  }
  unsigned char digest[SmallSha256::digest_bytes];
  hash.finish(digest);
  Digest::Bytes bytes;
  std::memcpy(bytes.data(), digest, sizeof digest);
  return Digest(bytes);
}

TEST(SmallSha256, AgreesWithOpenSslAtEveryLengthAroundTheBlocks) {
  std::string text;
  for (int length = 0; length < 300; ++length) {
    ASSERT_EQ(small(text, 1000).hex(), sha256(text).hex()) << length;
    ASSERT_EQ(small(text, 7).hex(), sha256(text).hex()) << length;
    text.push_back(static_cast<char>(length * 37 + 11));
  }
}

TEST(SmallSha256, AgreesWithOpenSslOnALongText) {
  const std::string text(3'000'000, 'x');
  EXPECT_EQ(small(text, 65536).hex(), sha256(text).hex());
}

}  // namespace
}  // namespace cordon
