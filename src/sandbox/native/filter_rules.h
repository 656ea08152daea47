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

}  // namespace cordon::sandbox::native
