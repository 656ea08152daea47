// What the argument rules of the table mean, as data: ordered clauses, the first that matches answers.
#pragma once

#include <vector>

#include "sandbox/native/filter.h"
#include "sandbox/native/syscall_table.h"
#include "sys/seccomp.h"

namespace cordon::sandbox::native {

/// (argument & mask) == value, on the low 32 bits. All arguments judged here are 32 bits wide in the kernel (or, the
/// flags of clone, cut to them), so that bits above are not seen there either and must not make a difference.
struct ArgumentTest {
  std::uint8_t argument;
  std::uint32_t mask;
  std::uint32_t value;
  auto operator<=>(const ArgumentTest&) const = default;
};

/// All tests must hold. At most one test for each argument.
struct Clause {
  std::vector<ArgumentTest> when;
  sys::SeccompAnswer then;
};

struct CallRule {
  std::vector<Clause> clauses;
  sys::SeccompAnswer otherwise;
};

CallRule call_rule(Rule rule, const FilterOptions& options);

/// One row of the table with its rule worked out.
struct JudgedCall {
  const char* name;
  std::uint32_t number;
  CallRule rule;
};

/// The whole table for one architecture.
std::vector<JudgedCall> judged_calls(Architecture architecture, const FilterOptions& options);

/// The program that judges as `calls` say. A number that is not among them is answered ENOSYS.
sys::BpfProgram assemble(Architecture architecture, std::span<const JudgedCall> calls, OnRefusal refusal);

/// The same rule as clauses that do not overlap and together cover every call, so that their order is of no matter.
std::vector<Clause> disjoint_clauses(const CallRule& rule);

}  // namespace cordon::sandbox::native
