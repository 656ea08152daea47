#include "config/difference.h"

#include <gtest/gtest.h>

namespace cordon::config {
namespace {

TEST(Difference, IsEmptyForTheSameText) { EXPECT_EQ(unified_difference("a\n", "a\n", "f"), ""); }

TEST(Difference, ShowsANewFileWhole) {
  EXPECT_EQ(unified_difference("", "a\nb", "f"),
            "--- f (trusted)\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
}

TEST(Difference, KeepsThreeLinesAroundAChangeAndSplitsDistantOnes) {
  const char* before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
  const char* after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n";
  EXPECT_EQ(unified_difference(before, after, "f"),
            "--- f (trusted)\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -10,3 +10,4 @@\n 10\n 11\n "
            "12\n+13\n");
}

TEST(Difference, AVeryLargeChangeIsShownAsReplaced) {
  std::string before, after;
  for (int line = 0; line < 3000; ++line) {
    before += "a" + std::to_string(line) + "\n";
    after += "b" + std::to_string(line) + "\n";
  }
  const std::string made = unified_difference(before, after, "f");
  EXPECT_NE(made.find("@@ -1,3000 +1,3000 @@"), std::string::npos);
}

}  // namespace
}  // namespace cordon::config
