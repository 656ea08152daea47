#include "sandbox/network/message.h"

#include <gtest/gtest.h>

namespace cordon::sandbox::network {
namespace {

using namespace std::string_literals;

TEST(Message, WhatIsWrittenIsRead) {
  const Wish wish{Transport::socks, *parse_endpoint("[fd00::1]:22", std::nullopt), ""};
  const auto question = decode_from_proxy(encode(FromProxy(Question{3, wish})));
  ASSERT_TRUE(question);
  EXPECT_EQ(std::get<Question>(*question).wish.endpoint.text(), "[fd00::1]:22");
  const auto closed = decode_from_proxy(encode(FromProxy(Closed{4, 5, 6})));
  ASSERT_TRUE(closed);
  EXPECT_EQ(std::get<Closed>(*closed).received, 6U);
  Answer answer{7, true, true, "why", "a.test:1", {*Address::parse("10.0.0.1"), *Address::parse("::1")}};
  const auto read = decode_answer(encode(answer));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->named, answer.named);
  const auto terms = decode_terms(encode(Terms{8, 9, 10}));
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->bytes, 9U);
  EXPECT_EQ(terms->milliseconds, 10U);
}

TEST(Message, AProxyThatSaysAnythingElseIsNotBelieved) {
  const std::string rows[] = {
      "",
      "question",
      "question\0"s,
      "question\0"
      "1\0connect\0A.test:443\0\0"s,  // not canonical
      "question\0"
      "1\0connect\0"
      "0x7f.1:80\0\0"s,
      "question\0"
      "1\0connect\0a.test\0\0"s,
      "question\0"
      "1\0gopher\0a.test:443\0\0"s,
      "question\0"
      "-1\0connect\0a.test:443\0\0"s,
      "question\0"
      "1\0connect\0a.test:443\0\0more\0"s,
      "opened\0"
      "1\0not an address\0"s,
      "closed\0"
      "1\0"
      "2\0"s,
      "answer\0"
      "1\0"
      "1\0"
      "1\0\0\0"s,
  };
  for (const std::string& row : rows) EXPECT_FALSE(decode_from_proxy(row)) << row;
  EXPECT_TRUE(
      decode_from_proxy("question\0"
                        "1\0connect\0a.test:443\0\0"s));
}

TEST(Message, ATextCannotStartAnotherField) {
  const auto refusal = decode_from_proxy(encode(FromProxy(Refusal{1, "a\0b"s, "", true})));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(std::get<Refusal>(*refusal).reason, "a");
}

}  // namespace
}  // namespace cordon::sandbox::network
