// The table in the words of libseccomp, for Docker and OCI runtimes. Their rules know no order, and at most one
// comparison for each argument: hence clauses that do not overlap.
#include <cerrno>
#include <string>

#include "base/json.h"
#include "sandbox/native/filter_rules.h"

namespace cordon::sandbox::native {

namespace {

using sys::SeccompAnswer;

constexpr std::size_t arguments = 6;

/// A set of argument values: bits in a mask are fixed to the value, all others are free.
struct Cube {
  std::array<std::uint32_t, arguments> mask{};
  std::array<std::uint32_t, arguments> value{};
};

Cube cube_of(const Clause& clause) {
  Cube cube;
  for (const ArgumentTest& test : clause.when) {
    cube.mask[test.argument] = test.mask;
    cube.value[test.argument] = test.value;
  }
  return cube;
}

Clause clause_of(const Cube& cube, SeccompAnswer answer) {
  Clause clause{{}, answer};
  for (std::uint8_t argument = 0; argument < arguments; ++argument) {
    if (cube.mask[argument] != 0) clause.when.push_back({argument, cube.mask[argument], cube.value[argument]});
  }
  return clause;
}

bool overlap(const Cube& one, const Cube& other) {
  for (std::size_t argument = 0; argument < arguments; ++argument) {
    const std::uint32_t both = one.mask[argument] & other.mask[argument];
    if (((one.value[argument] ^ other.value[argument]) & both) != 0) return false;
  }
  return true;
}

/// Walks through the bits that `taken` fixes and `from` leaves free: each is first set against `taken`, which gives a
/// piece of what remains, then like it. What is left of `from` at the end is what both share.
Cube subtract(Cube from, const Cube& taken, std::vector<Cube>& remains) {
  for (std::size_t argument = 0; argument < arguments; ++argument) {
    for (std::uint32_t bit = 0x80000000; bit != 0; bit >>= 1) {
      if ((taken.mask[argument] & bit) == 0 || (from.mask[argument] & bit) != 0) continue;
      from.mask[argument] |= bit;
      from.value[argument] |= ~taken.value[argument] & bit;
      remains.push_back(from);
      from.value[argument] ^= bit;
    }
  }
  return from;
}

Json comparison(const ArgumentTest& test) {
  return Json{{"index", test.argument}, {"value", test.mask}, {"valueTwo", test.value}, {"op", "SCMP_CMP_MASKED_EQ"}};
}

Json rule_for(Json names, SeccompAnswer answer) {
  if (answer == SeccompAnswer::allow()) return Json{{"names", std::move(names)}, {"action", "SCMP_ACT_ALLOW"}};
  return Json{{"names", std::move(names)}, {"action", "SCMP_ACT_ERRNO"}, {"errnoRet", answer.error}};
}

/// All clauses are written out, the refusing ones too: libseccomp 2.5 compares a stale value when it falls back from
/// the last argument of one rule to the first of the next (filter_oracle_test.cc found it), and without gaps it never
/// falls back.
void add_conditional(const JudgedCall& call, Json& rules) {
  for (const Clause& clause : disjoint_clauses(call.rule)) {
    Json rule = rule_for(Json::array({call.name}), clause.then);
    for (const ArgumentTest& test : clause.when) rule["args"].push_back(comparison(test));
    rules.push_back(std::move(rule));
  }
}

}  // namespace

std::vector<Clause> disjoint_clauses(const CallRule& rule) {
  std::vector<Clause> disjoint;
  std::vector<Cube> open{Cube{}};
  for (const Clause& clause : rule.clauses) {
    const Cube taken = cube_of(clause);
    std::vector<Cube> remains;
    for (const Cube& cube : open) {
      if (!overlap(cube, taken)) {
        remains.push_back(cube);
        continue;
      }
      disjoint.push_back(clause_of(subtract(cube, taken, remains), clause.then));
    }
    open = std::move(remains);
  }
  for (const Cube& cube : open) disjoint.push_back(clause_of(cube, rule.otherwise));
  return disjoint;
}

Json oci_profile(const FilterOptions& options) {
  Json allowed = Json::array();
  Json refused = Json::array();
  Json conditional = Json::array();
  for (const JudgedCall& call : judged_calls(this_architecture, options)) {
    if (!call.rule.clauses.empty()) {
      add_conditional(call, conditional);
    } else if (call.rule.otherwise == SeccompAnswer::allow()) {
      allowed.push_back(call.name);
    } else if (call.rule.otherwise == SeccompAnswer::fail_with(EPERM)) {
      refused.push_back(call.name);
    }
  }
  Json rules = Json::array();
  rules.push_back(rule_for(std::move(allowed), SeccompAnswer::allow()));
  rules.push_back(rule_for(std::move(refused), SeccompAnswer::fail_with(EPERM)));
  for (Json& rule : conditional) rules.push_back(std::move(rule));
  const char* name = this_architecture == Architecture::x86_64 ? "SCMP_ARCH_X86_64" : "SCMP_ARCH_AARCH64";
  return Json{{"defaultAction", "SCMP_ACT_ERRNO"},
              {"defaultErrnoRet", ENOSYS},
              {"architectures", Json::array({name})},
              {"syscalls", std::move(rules)}};
}

}  // namespace cordon::sandbox::native
