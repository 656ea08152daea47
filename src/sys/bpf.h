// Classic BPF as seccomp uses it: an assembler that knows the short reach of its jumps, and an evaluator that answers
// without a kernel, so that tests and violation reports can ask a filter what it says.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "base/result.h"

namespace cordon::sys {

using BpfProgram = std::vector<sock_filter>;

/// Builds a program from its end to its start: every instruction names the ones that come after it, which therefore
/// exist already. Equal tails are shared. A target beyond the 255 instructions a jump can reach gets a stepping stone.
class BpfAssembler {
 public:
  /// Names an instruction that was already added.
  struct Node {
    std::size_t index;
    auto operator<=>(const Node&) const = default;
  };
  enum class Test : std::uint16_t { equal = BPF_JEQ, at_least = BPF_JGE, any_bit = BPF_JSET };
  struct Branches {
    Node yes;
    Node no;
  };

  Node answer(std::uint32_t value);
  Node load(std::uint32_t offset, Node next);
  Node mask(std::uint32_t bits, Node next);
  Node branch(Test test, std::uint32_t operand, Branches branches);
  BpfProgram finish(Node entry);

 private:
  Node add(sock_filter instruction);
  Node within_reach(Node target, std::size_t reach);
  Node follow(std::uint16_t code, std::uint32_t operand, Node next);
  std::size_t distance(Node target) const { return backwards_.size() - 1 - target.index; }

  std::vector<sock_filter> backwards_;
  std::map<std::tuple<std::uint16_t, std::uint32_t, std::size_t, std::size_t>, Node> shared_;
};

/// What the program returns for this call. An error is a program that the kernel would not load or that reads outside
/// of seccomp_data; only the instructions that seccomp allows and that are used by filters in the field are known.
Result<std::uint32_t> evaluate(std::span<const sock_filter> program, const seccomp_data& call);

}  // namespace cordon::sys
