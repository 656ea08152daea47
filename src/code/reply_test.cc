#include "code/reply.h"

#include <gtest/gtest.h>

namespace cordon::code {
namespace {

using wire::Tag;

const std::string token = "0123456789abcdef0123456789abcdef";

std::string records() {
  std::string bytes = token;
  wire::append(bytes, Tag::value, "42");
  wire::append(bytes, Tag::status, "0");
  wire::append(bytes, Tag::artifact, std::string("a.txt\0hello", 11));
  wire::append(bytes, Tag::done, {});
  return bytes;
}

struct Read {
  std::string raw;
  Reply reply;
};

Read read_in_pieces(const std::string& bytes, std::size_t piece, std::size_t limit = 1 << 20) {
  ReplyReader reader(token, limit, ReplyReader::Start::at_once);
  Read read;
  auto raw = [&](std::string_view part) { read.raw.append(part); };
  for (std::size_t at = 0; at < bytes.size(); at += piece) reader.feed(std::string_view(bytes).substr(at, piece), raw);
  reader.finish(raw);
  read.reply = reader.reply();
  return read;
}

TEST(Reply, IsTheSameInPiecesOfAnySize) {
  const std::string output = "some output 0123456789abcde 012301230123";
  for (std::size_t piece = 1; piece < 100; ++piece) {
    const Read read = read_in_pieces(output + records(), piece);
    EXPECT_EQ(read.raw, output);
    EXPECT_EQ(read.reply.value, "42");
    EXPECT_EQ(read.reply.status, 0);
    ASSERT_EQ(read.reply.artifacts.size(), 1u);
    EXPECT_EQ(read.reply.artifacts[0].content, "hello");
    EXPECT_TRUE(read.reply.done);
  }
}

TEST(Reply, KeepsOutputThatLooksLikeTheStartOfTheTokenUntilItIsKnown) {
  const Read read = read_in_pieces("end " + token.substr(0, 31), 7);
  EXPECT_EQ(read.raw, "end " + token.substr(0, 31));
  EXPECT_FALSE(read.reply.done);
}

TEST(Reply, DropsTheReadyByteOnly) {
  ReplyReader reader(token, 100, ReplyReader::Start::with_ready_byte);
  std::string raw;
  reader.feed("RReady", [&](std::string_view part) { raw.append(part); });
  EXPECT_EQ(raw, "Ready");
}

TEST(Reply, GivesUpOnARecordThatClaimsToBeLongerThanAllowed) {
  std::string bytes = token;
  bytes += 'A';
  bytes += "\xff\xff\xff\x7f";
  bytes += std::string(5000, 'x');
  const Read read = read_in_pieces(bytes, 1000, 4096);
  EXPECT_FALSE(read.reply.done);
  EXPECT_TRUE(read.reply.artifacts.empty());
}

TEST(Reply, CountsAllRecordsTogether) {
  std::string bytes = token;
  for (int i = 0; i < 100; ++i)
    wire::append(bytes, Tag::artifact, "name" + std::string(1, '\0') + std::string(1000, 'x'));
  wire::append(bytes, Tag::done, {});
  const Read read = read_in_pieces(bytes, 4096, 10'000);
  EXPECT_FALSE(read.reply.done);
  EXPECT_LE(read.reply.artifacts.size(), 10u);
}

TEST(Reply, MakesNamesOfArtifactsVisible) {
  std::string bytes = token;
  wire::append(bytes, Tag::artifact, std::string("a\x1b[2J\nb\0x", 9));
  wire::append(bytes, Tag::done, {});
  const Read read = read_in_pieces(bytes, 64);
  ASSERT_EQ(read.reply.artifacts.size(), 1u);
  EXPECT_EQ(read.reply.artifacts[0].path.find('\x1b'), std::string::npos);
  EXPECT_EQ(read.reply.artifacts[0].path.find('\n'), std::string::npos);
}

TEST(Reply, IgnoresWhatItDoesNotKnowAndNumbersThatAreNone) {
  std::string bytes = token;
  wire::append(bytes, static_cast<Tag>('?'), "x");
  wire::append(bytes, Tag::status, "12x");
  wire::append(bytes, Tag::error_line, "99999999999999999999");
  wire::append(bytes, Tag::done, {});
  const Read read = read_in_pieces(bytes, 3);
  EXPECT_TRUE(read.reply.done);
  EXPECT_FALSE(read.reply.status);
  EXPECT_FALSE(read.reply.error_line);
}

TEST(Mime, IsWhatTheContentIsRatherThanWhatTheNameSays) {
  EXPECT_EQ(mime_of("x.bin", "\x89PNG\r\n\x1a\nrest"), "image/png");
  EXPECT_EQ(mime_of("x.png", "<script>"), "text/plain");
  EXPECT_EQ(mime_of("x.csv", "a,b"), "text/csv");
  EXPECT_EQ(mime_of("x", std::string_view("\0\1", 2)), "application/octet-stream");
}

}  // namespace
}  // namespace cordon::code
