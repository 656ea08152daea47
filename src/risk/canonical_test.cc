#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "risk/analyse.h"

namespace cordon::risk {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

std::vector<std::string> canonical_of_text(std::initializer_list<std::string> words) {
  return canonical(std::vector<std::string>(words));
}

TEST(Canonical, EverySpellingOfTheSameOptionsHoldsTheSameWords) {
  const auto wanted = canonical_of_text({"rm", "-r", "-f", "x"});
  EXPECT_THAT(canonical_of_text({"rm", "-rf", "x"}), UnorderedElementsAreArray(wanted));
  EXPECT_THAT(canonical_of_text({"rm", "x", "-fr"}), UnorderedElementsAreArray(wanted));
  EXPECT_THAT(canonical_of_text({"rm", "--recursive", "--force", "x"}), UnorderedElementsAreArray(wanted));
  EXPECT_THAT(canonical_of_text({"/bin/rm", "--recurs", "--forc", "--", "x"}), UnorderedElementsAreArray(wanted));
}

TEST(Canonical, AValueStandsApartFromItsOption) {
  EXPECT_THAT(canonical_of_text({"curl", "-XPOST", "u"}), ElementsAre("curl", "-X", "POST", "u"));
  EXPECT_THAT(canonical_of_text({"curl", "--request=POST", "u"}), ElementsAre("curl", "-X", "POST", "u"));
}

TEST(Canonical, DifferentFlagsStayDifferent) {
  EXPECT_THAT(canonical_of_text({"curl", "-L", "u"}), ElementsAre("curl", "-L", "u"));
  EXPECT_THAT(canonical_of_text({"curl", "-s", "u"}), ElementsAre("curl", "-s", "u"));
  EXPECT_THAT(canonical_of_text({"dd", "if=a", "of=b"}), ElementsAre("dd", "if=a", "of=b"));
}

TEST(Canonical, SubcommandsKeepTheirFirstName) {
  EXPECT_THAT(canonical_of_text({"npm", "i", "x"}), ElementsAre("npm", "install", "x"));
  EXPECT_THAT(canonical_of_text({"git", "-C", "d", "push", "-f"}), ElementsAre("git", "push", "-C", "d", "-f"));
}

TEST(Canonical, AnUnknownProgramIsSplitTheSameWayOnBothSides) {
  EXPECT_THAT(canonical_of_text({"frob", "-ab", "--c=d", "e"}), ElementsAre("frob", "-a", "-b", "--c", "d", "e"));
}

}  // namespace
}  // namespace cordon::risk
