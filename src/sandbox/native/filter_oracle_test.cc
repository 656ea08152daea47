// The same policy given to libseccomp, an independent compiler of filters: both programs must answer alike.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <random>
#include <set>

#include "base/json.h"
#include "sandbox/native/filter.h"
#include "sandbox/native/filter_rules.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {
namespace {

using sys::SeccompAnswer;
using Arguments = std::array<std::uint64_t, 6>;

/// libseccomp's policy while it is put together.
class Oracle {
 public:
  Oracle(Architecture architecture, int default_error)
      : context_(seccomp_init(SCMP_ACT_ERRNO(static_cast<std::uint32_t>(default_error))), seccomp_release),
        default_(SeccompAnswer::fail_with(default_error)) {
    EXPECT_EQ(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), 0);
    if (architecture != this_architecture) {
      const auto token = architecture == Architecture::x86_64 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64;
      EXPECT_EQ(seccomp_arch_add(context_.get(), token), 0);
      EXPECT_EQ(seccomp_arch_remove(context_.get(), SCMP_ARCH_NATIVE), 0);
    }
  }

  /// `number` is the native architecture's: libseccomp translates.
  int add(int number, const Clause& clause) {
    if (clause.then == default_) return 0;
    std::vector<scmp_arg_cmp> tests;
    for (const ArgumentTest& test : clause.when) {
      tests.push_back({test.argument, SCMP_CMP_MASKED_EQ, test.mask, test.value});
    }
    const auto action = clause.then == SeccompAnswer::allow()
                            ? SCMP_ACT_ALLOW
                            : SCMP_ACT_ERRNO(static_cast<std::uint32_t>(clause.then.error));
    return seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(tests.size()), tests.data());
  }

  sys::BpfProgram program() {
    sys::Fd file(::memfd_create("oracle", MFD_CLOEXEC));
    EXPECT_EQ(seccomp_export_bpf(context_.get(), file.get()), 0);
    struct stat status {};
    EXPECT_EQ(::fstat(file.get(), &status), 0);
    sys::BpfProgram exported(static_cast<std::size_t>(status.st_size) / sizeof(sock_filter));
    EXPECT_EQ(::pread(file.get(), exported.data(), static_cast<std::size_t>(status.st_size), 0), status.st_size);
    return exported;
  }

 private:
  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  SeccompAnswer default_;
};

/// Values around every constant in a rule, with and without high bits, and some at random.
std::vector<Arguments> samples(const CallRule& rule, std::mt19937_64& random) {
  std::vector<Arguments> all{Arguments{}, {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull}};
  for (const Clause& clause : rule.clauses) {
    Arguments hit{};
    for (const ArgumentTest& test : clause.when) hit[test.argument] = test.value;
    for (const ArgumentTest& test : clause.when) {
      for (int bit = 0; bit < 34; ++bit) {
        Arguments near = hit;
        near[test.argument] ^= 1ull << bit;
        all.push_back(near);
        near[test.argument] |= random() << 32;
        all.push_back(near);
      }
    }
    all.push_back(hit);
    for (std::uint64_t& argument : hit) argument |= 0xffffffff00000000;
    all.push_back(hit);
  }
  for (int i = 0; i < 64; ++i) {
    Arguments arguments{};
    for (std::uint64_t& argument : arguments) argument = random() >> (random() % 64);
    all.push_back(arguments);
  }
  return all;
}

TEST(FilterOracle, LibseccompAnswersEveryNumberAlike) {
  std::mt19937_64 random(4);
  for (const FilterOptions& options : {FilterOptions::strict(), FilterOptions::namespaced(),
                                       FilterOptions::namespaced().with(AllowNetlinkRoute{}).with(AllowPtrace{})}) {
    Oracle oracle(this_architecture, ENOSYS);
    const auto calls = judged_calls(this_architecture, options);
    for (const JudgedCall& call : calls) {
      for (const Clause& clause : disjoint_clauses(call.rule)) {
        ASSERT_EQ(oracle.add(static_cast<int>(call.number), clause), 0) << call.name;
      }
    }
    const auto theirs = oracle.program();
    const auto ours = payload_filter(options);
    const auto compare = [&](std::uint32_t architecture, std::uint32_t number, const Arguments& arguments) {
      const auto wanted = evaluate(theirs, architecture, number, arguments);
      ASSERT_TRUE(wanted.has_value()) << wanted.error().sentence;
      ASSERT_EQ(*evaluate(ours, architecture, number, arguments), *wanted)
          << number << ' ' << arguments[0] << ' ' << arguments[1];
    };
    for (const JudgedCall& call : calls) {
      for (const Arguments& arguments : samples(call.rule, random))
        compare(audit_architecture(this_architecture), call.number, arguments);
    }
    for (std::uint32_t number = 0; number < 1024; ++number) {
      compare(audit_architecture(this_architecture), number, {});
      compare(audit_architecture(this_architecture), number | 0x40000000, {});
      compare(AUDIT_ARCH_I386, number, {});
    }
    compare(audit_architecture(this_architecture), 0xffffffff, {});
    RecordProperty("libseccomp_instructions", static_cast<int>(theirs.size()));
  }
}

TEST(FilterOracle, LibseccompAnswersAlikeForTheOtherArchitecture) {
  if (this_architecture != Architecture::x86_64) GTEST_SKIP() << "written for a machine that translates from x86_64";
  std::mt19937_64 random(5);
  const FilterOptions options = FilterOptions::namespaced();
  Oracle oracle(Architecture::aarch64, ENOSYS);
  const auto ours = build_filter(Architecture::aarch64, options, OnRefusal::answer);
  std::vector<JudgedCall> compared;
  for (const JudgedCall& call : judged_calls(Architecture::aarch64, options)) {
    const int native = seccomp_syscall_resolve_name(call.name);
    if (native == __NR_SCMP_ERROR) continue;  // newer than the library
    for (const Clause& clause : disjoint_clauses(call.rule)) ASSERT_EQ(oracle.add(native, clause), 0) << call.name;
    compared.push_back(call);
  }
  EXPECT_GT(compared.size(), 290u);
  const auto theirs = oracle.program();
  for (const JudgedCall& call : compared) {
    for (const Arguments& arguments : samples(call.rule, random)) {
      const auto wanted = evaluate(theirs, AUDIT_ARCH_AARCH64, call.number, arguments);
      ASSERT_TRUE(wanted.has_value()) << wanted.error().sentence;
      ASSERT_EQ(*evaluate(ours, AUDIT_ARCH_AARCH64, call.number, arguments), *wanted)
          << call.name << ' ' << arguments[0];
    }
  }
}

Clause clause_from(const Json& rule) {
  Clause clause{
      {}, rule["action"] == "SCMP_ACT_ALLOW" ? SeccompAnswer::allow() : SeccompAnswer::fail_with(rule["errnoRet"])};
  if (!rule.contains("args")) return clause;
  for (const Json& test : rule["args"]) {
    EXPECT_EQ(test["op"], "SCMP_CMP_MASKED_EQ");
    clause.when.push_back({test["index"], test["value"], test["valueTwo"]});
  }
  return clause;
}

TEST(OciProfile, GivesTheSameAnswersAsTheFilter) {
  std::mt19937_64 random(6);
  const FilterOptions options = FilterOptions::namespaced();
  const Json profile = parse_json(oci_profile(options).dump());
  EXPECT_EQ(profile["defaultAction"], "SCMP_ACT_ERRNO");
  ASSERT_TRUE(profile["architectures"].is_array());
  Oracle oracle(this_architecture, profile["defaultErrnoRet"]);
  std::set<std::string> unknown;
  for (const Json& rule : profile["syscalls"]) {
    for (const Json& name : rule["names"]) {
      const int number = seccomp_syscall_resolve_name(std::string(name).c_str());
      if (number == __NR_SCMP_ERROR) {  // a runtime leaves out what its library does not know
        unknown.insert(name);
        continue;
      }
      ASSERT_EQ(oracle.add(number, clause_from(rule)), 0) << name;
    }
  }
  EXPECT_LT(unknown.size(), 30u);
  const auto theirs = oracle.program();
  EXPECT_LE(theirs.size(), static_cast<std::size_t>(BPF_MAXINSNS)) << "no kernel would load it";
  const auto ours = payload_filter(options);
  for (const JudgedCall& call : judged_calls(this_architecture, options)) {
    if (unknown.contains(call.name)) continue;
    for (const Arguments& arguments : samples(call.rule, random)) {
      const auto in_container = *evaluate(theirs, audit_architecture(this_architecture), call.number, arguments);
      const auto native = *evaluate(ours, audit_architecture(this_architecture), call.number, arguments);
      ASSERT_EQ(in_container, native) << call.name << ' ' << arguments[0] << ' ' << arguments[1];
    }
  }
}

TEST(DisjointClauses, CoverEveryCallExactlyOnce) {
  std::mt19937_64 random(7);
  for (const JudgedCall& call : judged_calls(this_architecture, FilterOptions::namespaced())) {
    const auto clauses = disjoint_clauses(call.rule);
    for (const Arguments& arguments : samples(call.rule, random)) {
      const auto matching = std::ranges::count_if(clauses, [&](const Clause& clause) {
        return std::ranges::all_of(clause.when, [&](const ArgumentTest& test) {
          return (static_cast<std::uint32_t>(arguments[test.argument]) & test.mask) == test.value;
        });
      });
      ASSERT_EQ(matching, 1) << call.name;
    }
  }
}

}  // namespace
}  // namespace cordon::sandbox::native
