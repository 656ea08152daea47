#include "risk/table.h"

#include <gtest/gtest.h>

#include "risk/judge.h"

namespace cordon::risk {
namespace {

TEST(Table, KnowsAtLeastFourHundredPrograms) { EXPECT_GE(rows::program_rows_size, 400u); }

TEST(Table, EveryCheckNamedInTheDataExists) {
  for (std::uint32_t i = 1; i < rows::check_names_size; ++i)
    EXPECT_NE(check_named(rows::check_names[i].view()), nullptr) << rows::check_names[i].view();
}

TEST(Table, AVersionGluedToANameIsNoOtherProgram) {
  EXPECT_EQ(find_program("python3.11"), find_program("python"));
  EXPECT_EQ(find_program("gcc-12"), find_program("gcc"));
  EXPECT_EQ(find_program("no-such-program-at-all"), nullptr);
}

TEST(Table, EveryRuleThatTheCodeNamesIsInTheData) {
  for (const char* name : {"fs.delete.recursive", "net.run", "net.reverse_shell", "net.exfiltrates", "dynamic.program",
                           "guard.touched", "exec.option", "supply.url", "system.fill", "db.drop", "env.code"}) {
    EXPECT_EQ(rule_named(name).name.view(), name);
  }
}

TEST(Table, PatternsMatchWholeTexts) {
  EXPECT_TRUE(matches("a*c", "abbc"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_FALSE(matches("a?c", "ac"));
  EXPECT_FALSE(matches("a*c", "abcd"));
}

}  // namespace
}  // namespace cordon::risk
