#include "sys/bpf.h"

#include <algorithm>
#include <cstring>

namespace cordon::sys {

namespace {

constexpr std::size_t branch_reach = 255;

bool is_answer(const sock_filter& instruction) { return instruction.code == (BPF_RET | BPF_K); }

/// The registers of the classic machine while it runs one filter.
struct Machine {
  std::uint32_t accumulator = 0;
  std::uint32_t index = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> memory{};
};

std::uint32_t operand_of(const sock_filter& instruction, const Machine& machine) {
  return BPF_SRC(instruction.code) == BPF_X ? machine.index : instruction.k;
}

Result<void> compute(const sock_filter& instruction, Machine& machine) {
  const std::uint32_t operand = operand_of(instruction, machine);
  switch (BPF_OP(instruction.code)) {
    case BPF_AND:
      machine.accumulator &= operand;
      return {};
    case BPF_OR:
      machine.accumulator |= operand;
      return {};
    case BPF_XOR:
      machine.accumulator ^= operand;
      return {};
    case BPF_ADD:
      machine.accumulator += operand;
      return {};
    case BPF_SUB:
      machine.accumulator -= operand;
      return {};
    case BPF_RSH:
      machine.accumulator = operand < 32 ? machine.accumulator >> operand : 0;
      return {};
    case BPF_LSH:
      machine.accumulator = operand < 32 ? machine.accumulator << operand : 0;
      return {};
    default:
      return fail(Fault::corrupt, "BPF arithmetic {:#x} is not known", instruction.code);
  }
}

Result<void> load_word(const sock_filter& instruction, const seccomp_data& call, Machine& machine) {
  switch (BPF_MODE(instruction.code)) {
    case BPF_ABS:
      if (instruction.k % 4 != 0 || instruction.k > sizeof(call) - 4) {
        return fail(Fault::corrupt, "BPF load at {} lies outside of the call", instruction.k);
      }
      std::memcpy(&machine.accumulator, reinterpret_cast<const char*>(&call) + instruction.k, 4);
      return {};
    case BPF_IMM:
      machine.accumulator = instruction.k;
      return {};
    case BPF_MEM:
      if (instruction.k >= BPF_MEMWORDS)
        return fail(Fault::corrupt, "BPF memory word {} does not exist", instruction.k);
      machine.accumulator = machine.memory[instruction.k];
      return {};
    default:
      return fail(Fault::corrupt, "BPF load {:#x} is not known", instruction.code);
  }
}

/// How many instructions to skip.
Result<std::size_t> jump(const sock_filter& instruction, const Machine& machine) {
  const std::uint32_t operand = operand_of(instruction, machine);
  const auto choose = [&](bool yes) { return std::size_t{yes ? instruction.jt : instruction.jf}; };
  switch (BPF_OP(instruction.code)) {
    case BPF_JA:
      return std::size_t{instruction.k};
    case BPF_JEQ:
      return choose(machine.accumulator == operand);
    case BPF_JGT:
      return choose(machine.accumulator > operand);
    case BPF_JGE:
      return choose(machine.accumulator >= operand);
    case BPF_JSET:
      return choose((machine.accumulator & operand) != 0);
    default:
      return fail(Fault::corrupt, "BPF jump {:#x} is not known", instruction.code);
  }
}

Result<void> move_register(const sock_filter& instruction, Machine& machine) {
  if (BPF_MISCOP(instruction.code) == BPF_TAX) {
    machine.index = machine.accumulator;
  } else {
    machine.accumulator = machine.index;
  }
  return {};
}

}  // namespace

Result<std::uint32_t> evaluate(std::span<const sock_filter> program, const seccomp_data& call) {
  if (program.size() > BPF_MAXINSNS) return fail(Fault::corrupt, "{} BPF instructions are too many", program.size());
  Machine machine;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& instruction = program[at];
    switch (BPF_CLASS(instruction.code)) {
      case BPF_LD:
        CHECK_OK(load_word(instruction, call, machine));
        break;
      case BPF_ST:
        if (instruction.k >= BPF_MEMWORDS)
          return fail(Fault::corrupt, "BPF memory word {} does not exist", instruction.k);
        machine.memory[instruction.k] = machine.accumulator;
        break;
      case BPF_ALU:
        CHECK_OK(compute(instruction, machine));
        break;
      case BPF_JMP:
        at += TRY(jump(instruction, machine));
        break;
      case BPF_RET:
        return BPF_RVAL(instruction.code) == BPF_A ? machine.accumulator : instruction.k;
      case BPF_MISC:
        CHECK_OK(move_register(instruction, machine));
        break;
      default:
        return fail(Fault::corrupt, "BPF instruction {:#x} is not known", instruction.code);
    }
  }
  return fail(Fault::corrupt, "the BPF program ends without an answer");
}

BpfAssembler::Node BpfAssembler::add(sock_filter instruction) {
  backwards_.push_back(instruction);
  return Node{backwards_.size() - 1};
}

/// The target itself, or a copy or stepping stone near enough. The reach counts from the instruction added next.
BpfAssembler::Node BpfAssembler::within_reach(Node target, std::size_t reach) {
  if (distance(target) <= reach) return target;
  if (is_answer(backwards_[target.index])) return add(backwards_[target.index]);
  return add(sock_filter{BPF_JMP | BPF_JA, 0, 0, static_cast<std::uint32_t>(distance(target))});
}

BpfAssembler::Node BpfAssembler::follow(std::uint16_t code, std::uint32_t operand, Node next) {
  const auto key = std::make_tuple(code, operand, next.index, next.index);
  if (const auto known = shared_.find(key); known != shared_.end()) return known->second;
  within_reach(next, 0);
  return shared_.emplace(key, add(sock_filter{code, 0, 0, operand})).first->second;
}

BpfAssembler::Node BpfAssembler::answer(std::uint32_t value) {
  const auto key = std::make_tuple(std::uint16_t{BPF_RET | BPF_K}, value, std::size_t{0}, std::size_t{0});
  if (const auto known = shared_.find(key); known != shared_.end()) return known->second;
  return shared_.emplace(key, add(sock_filter{BPF_RET | BPF_K, 0, 0, value})).first->second;
}

BpfAssembler::Node BpfAssembler::load(std::uint32_t offset, Node next) {
  return follow(BPF_LD | BPF_W | BPF_ABS, offset, next);
}

BpfAssembler::Node BpfAssembler::mask(std::uint32_t bits, Node next) {
  return follow(BPF_ALU | BPF_AND | BPF_K, bits, next);
}

BpfAssembler::Node BpfAssembler::branch(Test test, std::uint32_t operand, Branches branches) {
  if (branches.yes == branches.no) return branches.yes;
  const auto code = static_cast<std::uint16_t>(BPF_JMP | BPF_K | static_cast<std::uint16_t>(test));
  const auto key = std::make_tuple(code, operand, branches.yes.index, branches.no.index);
  if (const auto known = shared_.find(key); known != shared_.end()) return known->second;
  // A stepping stone for the second target pushes the first one away by one: hence one less for it.
  const Node yes = within_reach(branches.yes, branch_reach - 1);
  const Node no = within_reach(branches.no, branch_reach);
  const sock_filter instruction{code, static_cast<std::uint8_t>(distance(yes)), static_cast<std::uint8_t>(distance(no)),
                                operand};
  return shared_.emplace(key, add(instruction)).first->second;
}

BpfProgram BpfAssembler::finish(Node entry) {
  within_reach(entry, 0);
  return BpfProgram(backwards_.rbegin(), backwards_.rend());
}

}  // namespace cordon::sys
