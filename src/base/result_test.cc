#include "base/result.h"

#include <gtest/gtest.h>

namespace cordon {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Fault::invalid_input, "{} is odd", number);
  return number / 2;
}

Result<int> quarter(int number) { return TRY(half(TRY(half(number)))); }

Result<void> check_even(int number) {
  CHECK_OK(half(number));
  return {};
}

TEST(Result, TryTakesTheValueOrReturnsTheError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().sentence, "3 is odd");
  EXPECT_EQ(quarter(6).error().fault, Fault::invalid_input);
}

TEST(Result, CheckOkPassesTheErrorOn) {
  EXPECT_TRUE(check_even(2));
  EXPECT_EQ(check_even(3).error().sentence, "3 is odd");
}

}  // namespace
}  // namespace cordon
