#include "base/text.h"

#include <gtest/gtest.h>

#include <chrono>

namespace cordon {
namespace {

struct Row {
  std::string_view text;
  std::string_view shown;
};

class Visible : public testing::TestWithParam<Row> {};

TEST_P(Visible, ShowsWhatAReaderWouldMiss) { EXPECT_EQ(visible(GetParam().text, Lines::keep), GetParam().shown); }

INSTANTIATE_TEST_SUITE_P(
    Table, Visible,
    testing::Values(Row{"ls -la\n\tnext", "ls -la\n\tnext"}, Row{"a\x1b[2Jb", "a\\x1b[2Jb"}, Row{"a\rb", "a\\rb"},
                    Row{"a\x7f", "a\\x7f"}, Row{"x\u202Etxt.exe", "x\\u{202e}txt.exe"}, Row{"r\u200Bm", "r\\u{200b}m"},
                    Row{"rm\u00A0-rf", "rm\\u{00a0}-rf"}, Row{"ｒｍ", "\\u{ff52}\\u{ff4d}"},
                    Row{"rm \u2212rf", "rm \\u{2212}rf"},
                    Row{"с\u0430t", "\\u{0441}\\u{0430}t"},                       // Cyrillic es and a before a Latin t
                    Row{"привет, naïve Größe 你好", "привет, naïve Größe 你好"},  // words of other languages are words
                    Row{"caf\xc3", "caf\\xc3"}, Row{"\xed\xa0\x80", "\\xed\\xa0\\x80"}, Row{"\xc0\xaf", "\\xc0\\xaf"},
                    Row{"\U000E0041", "\\u{e0041}"}, Row{"emoji 🎉 ok", "emoji 🎉 ok"}));

TEST(Visible, CanBeForcedOntoOneLine) { EXPECT_EQ(visible("a\n\tb", Lines::escape), "a\\n\\tb"); }

TEST(HiddenCharacters, CostGrowsWithLengthOnly) {
  std::string text;
  while (text.size() < (1U << 20)) text += "\u0441";
  EXPECT_EQ(hidden_characters(text).size(), text.size() / 2);
}

TEST(HiddenCharacters, ALookAlikeInsideARealWordIsNotReported) {
  EXPECT_TRUE(hidden_characters("дело Ελλάδα").empty());
  EXPECT_FALSE(hidden_characters("сurl").empty());
}

TEST(Utf8, EveryScalarValueComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; c += 7) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, c);
    const auto decoded = decode_utf8(text, 0);
    ASSERT_TRUE(decoded) << static_cast<unsigned>(c);
    EXPECT_EQ(decoded->character, c);
    EXPECT_EQ(decoded->length, text.size());
  }
}

TEST(Nearest, FindsTheWordThatWasMeantOrNone) {
  constexpr std::string_view words[] = {"Level", "Allowed Commands", "Network"};
  EXPECT_EQ(nearest("Levle", words), "Level");
  EXPECT_EQ(nearest("network", words), "Network");
  EXPECT_FALSE(nearest("xyzzy", words));
}

}  // namespace
}  // namespace cordon
