#include "sandbox/preview/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace cordon::sandbox::preview {
namespace {

std::string numbered(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += std::to_string(i) + "\n";
  return text;
}

/// What `patch` would do, for hunks as we print them.
std::string patched(const std::string& before, const std::string& diff) {
  std::vector<std::string> lines;
  std::istringstream in(before);
  for (std::string line; std::getline(in, line);) lines.push_back(line + (in.eof() ? "" : "\n"));
  std::string result;
  std::size_t at = 0;
  std::istringstream hunks(diff);
  std::string last;
  for (std::string line; std::getline(hunks, line);) {
    if (line.starts_with("@@ -")) {
      std::size_t from = std::stoul(line.substr(4));
      const bool is_empty = line.substr(4, line.find(' ', 4) - 4).ends_with(",0");
      from = is_empty ? from : from - 1;
      while (at < from) result += lines.at(at++);
    } else if (line.starts_with("\\")) {
      if (last.starts_with("+") || last.starts_with(" ")) result.pop_back();
    } else if (line.starts_with(" ")) {
      EXPECT_EQ(lines.at(at).substr(0, line.size() - 1), line.substr(1));
      result += line.substr(1) + "\n";
      ++at;
    } else if (line.starts_with("-")) {
      EXPECT_EQ(lines.at(at).substr(0, line.size() - 1), line.substr(1));
      ++at;
    } else {
      result += line.substr(1) + "\n";
    }
    last = line;
  }
  while (at < lines.size()) result += lines[at++];
  return result;
}

std::string diff_text(const std::string& before, const std::string& after) {
  const auto difference = diff(before, after, {});
  EXPECT_TRUE(difference && !difference->cut);
  return difference ? difference->text : "";
}

TEST(Diff, ShowsOneChangedLineWithThreeAround) {
  std::string after = numbered(0, 20);
  after.replace(after.find("10\n"), 3, "ten\n");
  EXPECT_EQ(diff_text(numbered(0, 20), after), "@@ -8,7 +8,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n");
}

TEST(Diff, SaysWhereTheLastLineHasNoEnd) {
  EXPECT_EQ(diff_text("a\n", "a"), "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
}

TEST(Diff, EmptyTextsAreNumberedFromZero) {
  EXPECT_EQ(diff_text("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(diff_text("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
  EXPECT_EQ(diff_text("", ""), "");
}

TEST(Diff, TellsFarChangesApart) {
  std::string after = numbered(0, 100);
  after.replace(after.find("10\n"), 3, "ten\n");
  after.erase(after.find("90\n"), 3);
  const std::string text = diff_text(numbered(0, 100), after);
  EXPECT_THAT(text, ::testing::HasSubstr("@@ -8,7 +8,7 @@"));
  EXPECT_THAT(text, ::testing::HasSubstr("@@ -88,7 +88,6 @@"));
}

TEST(Diff, AppliedToTheOldTextItGivesTheNew) {
  std::mt19937 random(4711);
  for (int round = 0; round < 500; ++round) {
    std::string before;
    std::string after;
    const int kinds = 2 + static_cast<int>(random() % 6);
    for (auto i = random() % 40; i > 0; --i) before += std::to_string(random() % kinds) + "\n";
    for (auto i = random() % 40; i > 0; --i) after += std::to_string(random() % kinds) + "\n";
    if (random() % 4 == 0 && !before.empty()) before.pop_back();
    if (random() % 4 == 0 && !after.empty()) after.pop_back();
    EXPECT_EQ(patched(before, diff_text(before, after)), after) << round;
  }
}

TEST(Diff, GivesUpOnTextsWithNothingInCommonAndStaysTrue) {
  const std::string before = numbered(0, 5000);
  const std::string after = numbered(100000, 105000);
  const auto difference = diff(before, after, {.output_bytes = 1U << 20, .edits = 50});
  ASSERT_TRUE(difference && !difference->cut);
  EXPECT_EQ(patched(before, difference->text), after);
}

TEST(Diff, IsCutAtItsLimitAndSaysSo) {
  const auto difference = diff("", numbered(0, 50000), {.output_bytes = 1000});
  ASSERT_TRUE(difference);
  EXPECT_TRUE(difference->cut);
  EXPECT_LE(difference->text.size(), 1000U);
}

TEST(Diff, BinaryAndLargeFilesHaveNone) {
  EXPECT_FALSE(diff(std::string("a\0b", 3), "x", {}));
  EXPECT_FALSE(diff("x", "\xff\xfe", {}));
  EXPECT_FALSE(diff("x", std::string(2U << 20, 'a'), {}));
}

}  // namespace
}  // namespace cordon::sandbox::preview
