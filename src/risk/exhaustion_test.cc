#include "risk/exhaustion.h"

#include <gtest/gtest.h>

namespace cordon::risk {
namespace {

Exhaustion asked(std::string_view language, std::string_view text) {
  return exhaustion_of(language, lex(language, text));
}

TEST(Exhaustion, MoreMemoryThanAMachineHas) {
  for (const char* text : {"'a' * 10**12", "[0]*(1<<40)", "bytearray(1024*1024*1024*1024)", "10**11 * 'x'"})
    EXPECT_TRUE(asked("python", text).memory) << text;
  EXPECT_TRUE(asked("javascript", "Buffer.alloc(1e11)").memory);
  EXPECT_TRUE(asked("perl", "$x = \"a\"x1e11").memory);
  EXPECT_TRUE(asked("php", "str_repeat('x', 100000000000)").memory);
}

TEST(Exhaustion, LargeNumbersThatTakeNothingAreNumbers) {
  for (const char* text : {"print(10**12)", "x = 1 << 40", "'-' * 80", "time.time() * 1000000000000", "n = 5e12"})
    EXPECT_FALSE(asked("python", text).memory) << text;
}

TEST(Exhaustion, LoopsAreCountedByTheirHeads) {
  EXPECT_TRUE(asked("python", "for i in range(100000): f()").many_loop);
  EXPECT_TRUE(asked("python", "for i in range(10**9): f()").long_loop);
  EXPECT_TRUE(asked("javascript", "for(let i=0;i<5000;i++) f()").many_loop);
  EXPECT_FALSE(asked("python", "for i in range(10): f()").many_loop);
}

}  // namespace
}  // namespace cordon::risk
