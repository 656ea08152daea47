#include <gtest/gtest.h>

#include "serve/http/door.h"
#include "serve/http/quota.h"
#include "serve/http/reader.h"
#include "serve/http/tool_call.h"

namespace cordon::serve::http {
namespace {

using Step = RequestReader::Step;

TEST(RequestReader, ReadsTheSameHoweverTheBytesCome) {
  const std::string text = "POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /next HTTP/1.1\r\n";
  for (std::size_t piece = 1; piece < 90; ++piece) {
    RequestReader reader({});
    std::string inbox;
    std::size_t at = 0;
    Step step = reader.step(inbox);
    while (step != Step::whole) {
      ASSERT_NE(step, Step::broken) << piece;
      if (step == Step::more) {
        ASSERT_LT(at, text.size());
        inbox += text.substr(at, piece);
        at += piece;
      }
      step = reader.step(inbox);
    }
    const Request request = reader.take();
    EXPECT_EQ(request.head.path + "?" + request.head.query, "/a?b");
    EXPECT_EQ(request.body, "abc");
    EXPECT_TRUE(inbox.empty() || std::string("GET /next").starts_with(inbox.substr(0, 9))) << inbox;
  }
}

TEST(RequestReader, CountsAHeadThatComesInPieces) {
  RequestReader reader({.head_bytes = 100, .body_bytes = 10});
  std::string inbox = "GET / HTTP/1.1\r\nHost: x\r\n";
  Step step = reader.step(inbox);
  for (int i = 0; i < 20 && step == Step::more; ++i) {
    inbox += "X: 1234\r\n";
    step = reader.step(inbox);
  }
  ASSERT_EQ(step, Step::broken);
  EXPECT_EQ(reader.refusal().status, 431U);
}

TEST(SplitHost, TakesNamesAndPortsAndNothingElse) {
  EXPECT_EQ(split_host("LocalHost:80")->host, "localhost");
  EXPECT_EQ(split_host("[::1]:80")->port, 80);
  EXPECT_EQ(split_host("[::1]")->host, "::1");
  for (const char* wrong : {"", ":80", "a:", "a:b", "a:70000", "a b", "[::1", "[::1]x", "a@b", "a/b", "a:1:2"}) {
    EXPECT_FALSE(split_host(wrong)) << wrong;
  }
}

TEST(Quota, GivesBackWithTime) {
  Quota quota({.per_second = 10, .calls_at_once = 1});
  const Quota::Moment start{};
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(quota.ask("a", start));
  EXPECT_EQ(quota.ask("a", start), 1U);
  EXPECT_FALSE(quota.ask("b", start));
  EXPECT_FALSE(quota.ask("a", start + std::chrono::milliseconds(150)));
  EXPECT_TRUE(quota.ask("a", start + std::chrono::milliseconds(150)));
  auto call = quota.begin_call("a");
  EXPECT_TRUE(call);
  EXPECT_FALSE(quota.begin_call("a"));
  EXPECT_TRUE(quota.begin_call("b"));
  call.reset();
  EXPECT_TRUE(quota.begin_call("a"));
}

TEST(TextPieces, KeepsACharacterTogether) {
  TextPieces pieces;
  EXPECT_EQ(pieces.add("a\xe2\x82"), "a");
  EXPECT_EQ(pieces.add("\xac z"), "\xe2\x82\xac z");
  EXPECT_EQ(pieces.add("\xff"), "");
  EXPECT_EQ(pieces.rest(), "\xff");
}

TEST(SseEvent, NeverLetsDataBeginALineOfItsOwn) {
  EXPECT_EQ(sse_event("e", "a\nevent: x\r\n\rb", "7"), "event: e\nid: 7\ndata: a\ndata: event: x\ndata: \ndata: b\n\n");
}

}  // namespace
}  // namespace cordon::serve::http
