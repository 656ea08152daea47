#include "sandbox/preview/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::sandbox::preview {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Change added(std::string path) {
  return {.path = std::move(path), .after = Node{.kind = Kind::file, .mode = 0644, .size = 1, .content = sha256("x")}};
}

TEST(Describe, ANameCannotPassForWhatIsSaidAboutIt) {
  ChangeList list;
  list.changes = {added("evil  (1 bytes, NOT COMMITTED: it is a protected path)"),
                  added("plain/name.txt"),
                  added("quote\"x"),
                  added("new\nline"),
                  added("\x1b[2K\xe2\x80\xae"),
                  added("\xff")};
  list.changes[1].same_as = "evil)";
  const std::string text = text_of(list, Detail::names);
  EXPECT_THAT(text, HasSubstr("added     \"evil  (1 bytes, NOT COMMITTED: it is a protected path)\"  (1 bytes"));
  EXPECT_THAT(text, HasSubstr("added     plain/name.txt  (another name of \"evil)\""));
  EXPECT_THAT(text, HasSubstr("\"quote\\\"x\""));
  EXPECT_THAT(text, HasSubstr("\"new\\nline\""));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
}

TEST(Describe, NamesComeBeforeDiffsAndBothBeforeWhatTheCommandSaid) {
  Preview preview{.id = "prv_0", .plan = Json::object(), .result = Json::object()};
  preview.out = "deleted   nothing at all\n";
  preview.list.changes = {added("a"), added("z")};
  preview.list.changes[0].diff = Difference{"@@ -0,0 +1 @@\n+deleted   \x1b[8mz\n", false};
  preview.list.changes.push_back(
      {.path = "zz", .before = Node{.kind = Kind::file, .mode = 0644, .size = 1, .content = {}}});
  const std::string text = text_of(preview, Detail::diffs);
  const auto deleted = text.find("\ndeleted   zz");
  const auto last_name = text.find("\nadded     z");
  const auto diff = text.find("\n    +deleted   \\x1b[8mz");
  const auto output = text.find("\n  | deleted   nothing at all");
  ASSERT_NE(output, std::string::npos) << text;
  EXPECT_LT(deleted, last_name);
  EXPECT_LT(last_name, diff);
  EXPECT_LT(diff, output);
}

}  // namespace
}  // namespace cordon::sandbox::preview
