#include "sys/bpf.h"

#include <gtest/gtest.h>

#include <random>

namespace cordon::sys {
namespace {

using Compare = BpfAssembler::Test;

std::uint32_t run(const BpfProgram& program, int number) {
  seccomp_data call{};
  call.nr = number;
  const auto answer = evaluate(program, call);
  EXPECT_TRUE(answer.has_value()) << answer.error().sentence;
  return answer.value_or(0xdead);
}

TEST(BpfAssembler, BranchesOnEqualityOrderAndBits) {
  BpfAssembler assembler;
  const auto bits = assembler.branch(Compare::any_bit, 0x10, {assembler.answer(3), assembler.answer(4)});
  const auto order = assembler.branch(Compare::at_least, 100, {assembler.answer(2), bits});
  const auto equal = assembler.branch(Compare::equal, 7, {assembler.answer(1), order});
  const auto program = assembler.finish(assembler.load(0, equal));
  EXPECT_EQ(run(program, 7), 1u);
  EXPECT_EQ(run(program, 100), 2u);
  EXPECT_EQ(run(program, 0x11), 3u);
  EXPECT_EQ(run(program, 0x0f), 4u);
}

TEST(BpfAssembler, SharesEqualTails) {
  BpfAssembler assembler;
  const auto one = assembler.branch(Compare::equal, 1, {assembler.answer(1), assembler.answer(2)});
  const auto same = assembler.branch(Compare::equal, 1, {assembler.answer(1), assembler.answer(2)});
  EXPECT_EQ(one, same);
  EXPECT_EQ(assembler.branch(Compare::equal, 9, {one, same}), one);
  EXPECT_EQ(assembler.finish(one).size(), 3u);
}

/// A chain of comparisons, each jumping to the same few far answers: longer than any jump reaches.
TEST(BpfAssembler, ReachesAnswersAndCodeBeyondTheReachOfAJump) {
  for (const int length : {100, 254, 255, 256, 257, 600, 1500}) {
    BpfAssembler assembler;
    const auto shared =
        assembler.mask(1, assembler.branch(Compare::equal, 1, {assembler.answer(77), assembler.answer(78)}));
    auto next = assembler.answer(0);
    for (int number = length; number > 0; --number) {
      const auto target = number % 2 == 0 ? shared : assembler.answer(5);
      next = assembler.branch(Compare::equal, static_cast<std::uint32_t>(number), {target, next});
    }
    const auto program = assembler.finish(assembler.load(0, next));
    for (int number = 1; number <= length; ++number)
      ASSERT_EQ(run(program, number), number % 2 == 0 ? 78u : 5u) << number;
    EXPECT_EQ(run(program, length + 1), 0u);
  }
}

/// Random search trees: every leaf must be found whatever stepping stones were needed.
TEST(BpfAssembler, KeepsRandomTreesIntact) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    BpfAssembler assembler;
    const std::uint32_t size = static_cast<std::uint32_t>(2 + random() % 900);
    std::vector<std::uint32_t> wanted(size);
    for (auto& value : wanted) value = static_cast<std::uint32_t>(random() % 40);
    const auto build = [&](auto& self, std::uint32_t first, std::uint32_t count) -> BpfAssembler::Node {
      if (count == 1) return assembler.answer(wanted[first]);
      const std::uint32_t low = static_cast<std::uint32_t>(1 + random() % (count - 1));
      const auto upper = self(self, first + low, count - low);
      const auto lower = self(self, first, low);
      return assembler.branch(Compare::at_least, first + low, {upper, lower});
    };
    const auto program = assembler.finish(assembler.load(0, build(build, 0, size)));
    for (std::uint32_t number = 0; number < size; ++number)
      ASSERT_EQ(run(program, static_cast<int>(number)), wanted[number]);
  }
}

TEST(BpfEvaluator, RefusesWhatAKernelWouldNotRun) {
  const seccomp_data call{};
  EXPECT_FALSE(evaluate({}, call).has_value());
  const sock_filter endless[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}};
  EXPECT_FALSE(evaluate(endless, call).has_value());
  const sock_filter outside[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 64}, {BPF_RET | BPF_K, 0, 0, 0}};
  EXPECT_FALSE(evaluate(outside, call).has_value());
  const sock_filter unaligned[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 2}, {BPF_RET | BPF_K, 0, 0, 0}};
  EXPECT_FALSE(evaluate(unaligned, call).has_value());
  const sock_filter past_the_end[] = {{BPF_JMP | BPF_JA, 0, 0, 9}, {BPF_RET | BPF_K, 0, 0, 0}};
  EXPECT_FALSE(evaluate(past_the_end, call).has_value());
  const sock_filter unknown[] = {{0xffff, 0, 0, 0}};
  EXPECT_FALSE(evaluate(unknown, call).has_value());
}

TEST(BpfEvaluator, ReadsBothHalvesOfAnArgument) {
  seccomp_data call{};
  call.args[2] = 0x1122334455667788;
  const sock_filter low[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 32}, {BPF_RET | BPF_A, 0, 0, 0}};
  const sock_filter high[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 36}, {BPF_RET | BPF_A, 0, 0, 0}};
  EXPECT_EQ(*evaluate(low, call), 0x55667788u);
  EXPECT_EQ(*evaluate(high, call), 0x11223344u);
}

}  // namespace
}  // namespace cordon::sys
