#include "sandbox/network/socks.h"

#include <gtest/gtest.h>

namespace cordon::sandbox::network {
namespace {

using namespace std::string_literals;

std::string asked(const std::string& bytes) {
  const auto request = read_socks_request(bytes);
  if (!request) return "malformed";
  if (!*request) return "more";
  const SocksRequest& made = (*request)->value;
  return made.endpoint ? made.endpoint->text() : "reply " + std::to_string(static_cast<int>(made.reply));
}

TEST(Socks, OnlyWithoutAuthentication) {
  EXPECT_TRUE((*read_socks_greeting("\x05\x01\x00"s))->value);
  EXPECT_TRUE((*read_socks_greeting("\x05\x03\x02\x01\x00"s))->value);
  EXPECT_FALSE((*read_socks_greeting("\x05\x01\x02"s))->value);
  EXPECT_FALSE((*read_socks_greeting("\x05\x00"s))->value);
  EXPECT_FALSE(*read_socks_greeting("\x05\x02\x00"s));
  EXPECT_FALSE(read_socks_greeting("\x04\x01\x00\x50"s));
}

TEST(Socks, ConnectIsUnderstoodInAllFormsOfAddress) {
  EXPECT_EQ(asked("\x05\x01\x00\x03\x06"
                  "A.test\x01\xbb"s),
            "a.test:443");
  EXPECT_EQ(asked("\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"s), "127.0.0.1:80");
  EXPECT_EQ(asked("\x05\x01\x00\x04"s + std::string(15, '\0') + "\x01\x00\x50"s), "[::1]:80");
  EXPECT_EQ(asked("\x05\x01\x00\x04"s + std::string(10, '\0') + "\xff\xff\x7f\x00\x00\x01\x00\x50"s), "127.0.0.1:80");
  EXPECT_EQ(asked("\x05\x01\x00\x03\x0a"
                  "2130706433\x00\x50"s),
            "127.0.0.1:80");
  const std::string whole =
      "\x05\x01\x00\x03\x06"
      "a.test\x01\xbb"s;
  for (std::size_t cut = 0; cut < whole.size(); ++cut) EXPECT_EQ(asked(whole.substr(0, cut)), "more") << cut;
}

TEST(Socks, EverythingElseIsRefused) {
  EXPECT_EQ(asked("\x05\x02\x00\x03\x06"
                  "a.test\x01\xbb"s),
            "reply 7");  // BIND
  EXPECT_EQ(asked("\x05\x03\x00\x03\x06"
                  "a.test\x01\xbb"s),
            "reply 7");  // UDP ASSOCIATE
  EXPECT_EQ(asked("\x05\xf0\x00\x03\x06"
                  "a.test\x01\xbb"s),
            "reply 7");  // Tor's RESOLVE
  EXPECT_EQ(asked("\x05\x01\x00\x02\x06"
                  "a.test\x01\xbb"s),
            "reply 8");
  EXPECT_EQ(asked("\x05\x01\x00\x03\x00\x01\xbb"s), "reply 2");
  EXPECT_EQ(asked("\x05\x01\x00\x03\x07"
                  "a.te\0st\x01\xbb"s),
            "reply 2");
  EXPECT_EQ(asked("\x05\x01\x00\x03\x06"
                  "a.test\x00\x00"s),
            "reply 2");
  EXPECT_EQ(asked("\x05\x01\x01\x03\x06"
                  "a.test\x01\xbb"s),
            "malformed");
  EXPECT_EQ(asked("\x04\x01\x00\x03\x06"
                  "a.test\x01\xbb"s),
            "malformed");
}

}  // namespace
}  // namespace cordon::sandbox::network
