#include "base/digest.h"

#include <gtest/gtest.h>

namespace cordon {
namespace {

TEST(Digest, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // RFC 4231, test case 2.
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?").hex(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Digest, ReadsBackItsOwnHexAndNothingElse) {
  const Digest digest = sha256("abc");
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_FALSE(Digest::from_hex(digest.hex().substr(1)));
  EXPECT_FALSE(Digest::from_hex("BA" + digest.hex().substr(2)));
  EXPECT_FALSE(Digest::from_hex(digest.hex() + "00"));
}

TEST(Sha256, FieldsKeepTheirBorders) {
  EXPECT_NE(Sha256().add_field("ab").add_field("c").finish(), Sha256().add_field("a").add_field("bc").finish());
  EXPECT_EQ(Sha256().add("ab").add("c").finish(), sha256("abc"));
}

TEST(SigningKey, AgreesWithRfc8032) {
  const auto seed_bytes = from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
  SigningKey::Seed seed;
  std::copy(seed_bytes->begin(), seed_bytes->end(), seed.begin());
  const SigningKey key = SigningKey::from_seed(seed);
  const Signature signature = key.sign("\x72");
  EXPECT_EQ(to_hex({reinterpret_cast<const char*>(signature.data()), signature.size()}),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
  EXPECT_TRUE(key.public_key().verify("\x72", signature));
  EXPECT_FALSE(key.public_key().verify("\x73", signature));
}

TEST(SigningKey, AnotherKeyDoesNotVerify) {
  const SigningKey mine = *SigningKey::generate();
  const SigningKey other = *SigningKey::generate();
  EXPECT_FALSE(other.public_key().verify("message", mine.sign("message")));
}

TEST(Base64, EveryLengthComesBack) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64, IsWhatTheStandardGives) {
  for (const auto& [bytes, text] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd", "//79"}}) {
    EXPECT_EQ(to_base64(bytes), text);
  }
}

TEST(Base64, RefusesWhatIsNotCanonical) {
  for (const char* text : {"QQ", "QQ=", "QQ=A", "QR==", "QQ==\n", "Q Q=", "====", "QUI=QUI="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

}  // namespace
TEST(Digest, OfPiecesIsThatOfTheWhole) {
  EXPECT_EQ(sha256_of({"a", "", "bc"}), sha256("abc"));
  EXPECT_EQ(sha256_of({}), sha256(""));
}

}  // namespace cordon
