#include "sandbox/docker/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/docker/streams.h"

namespace cordon::sandbox::docker {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t room = 1000;

/// The answer when its bytes come in pieces of `step`; the sentence of the error otherwise.
std::string read(const std::string& bytes, std::size_t step, bool closed = true) {
  AnswerReader reader(room);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const auto done = reader.feed(std::string_view(bytes).substr(at, step));
    if (!done) return done.error().sentence;
    if (*done) return fmt::format("{} {}|{}", reader.answer().status, reader.answer().body, reader.rest());
  }
  if (!closed) return "more";
  const auto finished = reader.finish();
  if (!finished || !*finished) return "cut";
  return fmt::format("{} {}|", reader.answer().status, reader.answer().body);
}

TEST(AnswerReader, ReadsEveryWayABodyEnds) {
  struct Row {
    const char* bytes;
    const char* expected;
  };
  for (const Row& row : {
           Row{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 hello|"},
           Row{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
               "200 hello|"},
           Row{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n", "200 |"},
           Row{"HTTP/1.0 404 Not Found\r\n\r\nuntil the end", "404 until the end|"},
           Row{"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", "204 |"},
           Row{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", "201 |"},
       }) {
    for (std::size_t step : {1U, 2U, 7U, 1000U}) EXPECT_EQ(read(row.bytes, step), row.expected) << row.bytes << step;
  }
}

TEST(AnswerReader, HandsOverWhatFollowsAnUpgrade) {
  EXPECT_EQ(read("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\n\x01rest", 1000), "101 |\x01rest");
}

TEST(AnswerReader, RefusesWhatTwoReadersCouldReadDifferently) {
  for (const char* bytes : {
           "ICY 200 OK\r\n\r\n",
           "HTTP/1.1 abc\r\n\r\n",
           "HTTP/1.1 999 Odd\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
       }) {
    EXPECT_THAT(read(bytes, 1000), HasSubstr("malformed")) << bytes;
  }
}

TEST(AnswerReader, IsBoundedInEveryPart) {
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'), 1000), HasSubstr("malformed"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", 1000), HasSubstr("too large"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x'), 1000), HasSubstr("too large"));
  std::string chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 1001; ++i) chunks += "1\r\nx\r\n";
  EXPECT_THAT(read(chunks, 1000), HasSubstr("too large"));
  std::string trailers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
  for (int i = 0; i < 100; ++i) trailers += "x: y\r\n";
  EXPECT_THAT(read(trailers, 1000), HasSubstr("malformed"));
}

TEST(AnswerReader, TellsACutAnswerFromAWholeOne) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 1000), "cut");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n", 1000), "cut");
}

TEST(PercentEncoded, LeavesNothingThatCouldEndAQuery) {
  EXPECT_EQ(percent_encoded("a b&c=d/e:\n%é"), "a%20b%26c%3Dd%2Fe%3A%0A%25%C3%A9");
}

std::string frame(char stream, const std::string& bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  std::string head = {stream, 0, 0, 0};
  for (int shift : {24, 16, 8, 0}) head.push_back(static_cast<char>(length >> shift));
  return head + bytes;
}

TEST(FrameReader, TellsStreamsApartHoweverTheyAreCut) {
  const std::string bytes = frame(1, "out") + frame(2, "err") + frame(1, "") + frame(1, std::string(300, 'x'));
  for (std::size_t step : {1U, 3U, 8U, 11U, 1000U}) {
    FrameReader reader;
    std::string out;
    std::string err;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(reader.feed(std::string_view(bytes).substr(at, step), [&](Stream stream, std::string_view part) {
        (stream == Stream::out ? out : err).append(part);
      }));
    }
    EXPECT_EQ(out, "out" + std::string(300, 'x'));
    EXPECT_EQ(err, "err");
  }
}

TEST(FrameReader, RefusesWhatIsNoFrame) {
  FrameReader reader;
  EXPECT_FALSE(reader.feed("not frames at all", [](Stream, std::string_view) {}));
}

}  // namespace
}  // namespace cordon::sandbox::docker
