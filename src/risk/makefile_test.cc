#include "risk/makefile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::risk {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Makefile, RunsTheFirstTargetAndWhatItNeeds) {
  EXPECT_THAT(makefile_commands("all: build\n\techo done\nbuild:\n\tcc a.c\nclean:\n\trm -rf out\n", {}, {}),
              ElementsAre("echo done", "cc a.c"));
}

TEST(Makefile, RunsOnlyTheGoalsItIsGiven) {
  EXPECT_THAT(makefile_commands("all:\n\tcc a.c\nclean:\n\trm -rf out\n", {"clean"}, {}), ElementsAre("rm -rf out"));
}

TEST(Makefile, AGoalThatNoRuleNamesMakesEveryRuleCount) {
  EXPECT_THAT(makefile_commands("a:\n\techo a\nb:\n\trm -rf out\n", {"c"}, {}), ElementsAre("echo a", "rm -rf out"));
}

TEST(Makefile, VariablesAreExpandedAndTheUnknownStaysUnknown) {
  EXPECT_THAT(makefile_commands("OUT = src\nx:\n\t@$(RM) -r $(OUT) $$HOME $(WHAT)\n", {}, {}),
              ElementsAre("rm -f -r src $HOME ${CORDON_UNKNOWN}"));
  EXPECT_THAT(makefile_commands("OUT = out\nx:\n\trm -r $(OUT)\n", {}, {{"OUT", "src"}}), ElementsAre("rm -r src"));
}

TEST(Makefile, AVariableWithTwoValuesIsUnknown) {
  EXPECT_THAT(makefile_commands("D = out\nifdef X\nD = src\nendif\nx:\n\trm -r $(D)\n", {}, {}),
              ElementsAre("rm -r ${CORDON_UNKNOWN}"));
}

TEST(Makefile, ShellFunctionsRunWhereverTheyStand) {
  EXPECT_THAT(makefile_commands("V := $(shell rm -rf src)\nx:\n\ttrue\n", {}, {}), Contains("rm -rf src"));
}

TEST(Makefile, TargetsThatNeedEachOtherEnd) {
  EXPECT_THAT(makefile_commands("a: b\n\techo a\nb: a\n\techo b\n", {}, {}), ElementsAre("echo a", "echo b"));
  EXPECT_THAT(makefile_commands("", {}, {}), IsEmpty());
}

}  // namespace
}  // namespace cordon::risk
