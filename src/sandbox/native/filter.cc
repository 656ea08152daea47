#include "sandbox/native/filter.h"

#include <linux/audit.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "sandbox/native/filter_rules.h"

namespace cordon::sandbox::native {

namespace {

using sys::BpfAssembler;
using sys::SeccompAnswer;
using Node = BpfAssembler::Node;
using Test = BpfAssembler::Test;

constexpr std::uint32_t number_offset = offsetof(seccomp_data, nr);
constexpr std::uint32_t architecture_offset = offsetof(seccomp_data, arch);
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half of an argument comes first");

std::uint32_t low_half(std::uint8_t argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8u * argument;
}

bool is_refusal(SeccompAnswer answer) {
  return answer == SeccompAnswer::fail_with(EPERM) || answer == SeccompAnswer::fail_with(EAFNOSUPPORT);
}

/// From `first` up to the next interval's first number, all are answered the same.
struct Interval {
  std::uint32_t first;
  Node leaf;
};

/// The instructions of one rule, from its last clause to its first.
class RuleWriter {
 public:
  RuleWriter(BpfAssembler& assembler, const CallRule& rule, OnRefusal refusal)
      : assembler_(assembler), rule_(rule), refusal_(refusal) {}

  Node write() { return clause(0, nothing_loaded); }

 private:
  static constexpr int nothing_loaded = -1;

  Node answer(SeccompAnswer said) {
    const bool notify = refusal_ == OnRefusal::notify && is_refusal(said);
    return assembler_.answer((notify ? SeccompAnswer::notify() : said).encode());
  }

  /// `loaded` is the argument whose low half the accumulator holds: it need not be loaded again.
  Node clause(std::size_t index, int loaded) {
    if (index == rule_.clauses.size()) return answer(rule_.otherwise);
    const auto key = std::make_pair(index, loaded);
    if (const auto known = written_.find(key); known != written_.end()) return known->second;
    const Node node = test(index, 0, loaded);
    written_.emplace(key, node);
    return node;
  }

  Node test(std::size_t index, std::size_t position, int loaded) {
    const Clause& clause_here = rule_.clauses[index];
    if (position == clause_here.when.size()) return answer(clause_here.then);
    const ArgumentTest& wanted = clause_here.when[position];
    // JSET leaves the accumulator as it is; a mask with a value needs AND, which does not.
    const bool kept = wanted.mask == 0xffffffff || wanted.value == 0;
    const int after = kept ? wanted.argument : nothing_loaded;
    const Node next = test(index, position + 1, after);
    const Node other = clause(index + 1, after);
    Node node = compare(wanted, next, other);
    return loaded == wanted.argument ? node : assembler_.load(low_half(wanted.argument), node);
  }

  Node compare(const ArgumentTest& wanted, Node holds, Node fails) {
    if (wanted.mask == 0xffffffff) return assembler_.branch(Test::equal, wanted.value, {holds, fails});
    if (wanted.value == 0) return assembler_.branch(Test::any_bit, wanted.mask, {fails, holds});
    return assembler_.mask(wanted.mask, assembler_.branch(Test::equal, wanted.value, {holds, fails}));
  }

  BpfAssembler& assembler_;
  const CallRule& rule_;
  OnRefusal refusal_;
  std::map<std::pair<std::size_t, int>, Node> written_;
};

/// One leaf for every interval of call numbers, neighbours with the same leaf joined.
std::vector<Interval> intervals(BpfAssembler& assembler, Architecture architecture, std::span<const JudgedCall> calls,
                                OnRefusal refusal) {
  const Node absent = assembler.answer(SeccompAnswer::fail_with(ENOSYS).encode());
  std::map<std::uint32_t, Node> leaves;
  for (const JudgedCall& call : calls) {
    leaves.emplace(call.number, RuleWriter(assembler, call.rule, refusal).write());
  }
  std::vector<Interval> joined{{0, absent}};
  const auto from = [&](std::uint32_t number, Node leaf) {
    if (joined.back().first == number) joined.pop_back();
    if (joined.empty() || joined.back().leaf != leaf) joined.push_back({number, leaf});
  };
  for (const auto& [number, leaf] : leaves) {
    from(number, leaf);
    from(number + 1, absent);
  }
  if (architecture == Architecture::x86_64) {
    // x32: the same calls under other numbers, past every rule above. -1 is no call at all; tracers use it.
    from(0x40000000, assembler.answer(SeccompAnswer::kill_process().encode()));
    from(0xffffffff, absent);
  }
  return joined;
}

/// A balanced search; about nine comparisons lead to any of the numbers.
Node search(BpfAssembler& assembler, std::span<const Interval> among) {
  if (among.size() == 1) return among.front().leaf;
  // One number in the midst of others: a single test of equality does.
  if (among.size() == 3 && among[0].leaf == among[2].leaf && among[1].first + 1 == among[2].first) {
    return assembler.branch(Test::equal, among[1].first, {among[1].leaf, among[0].leaf});
  }
  const std::size_t middle = among.size() / 2;
  const Node upper = search(assembler, among.subspan(middle));
  const Node lower = search(assembler, among.first(middle));
  return assembler.branch(Test::at_least, among[middle].first, {upper, lower});
}

/// Built once for each combination of options, by whoever asks first.
class FilterCache {
 public:
  explicit FilterCache(OnRefusal refusal) : refusal_(refusal) {}

  std::span<const sock_filter> get(const FilterOptions& options) {
    Entry& entry = entries_[options.key()];
    std::call_once(entry.once, [&] { entry.program = build_filter(this_architecture, options, refusal_); });
    return entry.program;
  }

 private:
  struct Entry {
    std::once_flag once;
    sys::BpfProgram program;
  };
  OnRefusal refusal_;
  std::array<Entry, FilterOptions::combinations> entries_;
};

}  // namespace

FilterOptions FilterOptions::namespaced() {
  return strict().with(OwnMountNamespace{}).with(OwnNetworkNamespace{}).with(OwnIpcNamespace{}).with(OwnPidNamespace{});
}

FilterOptions FilterOptions::opened(Bit bit) const {
  FilterOptions options = *this;
  options.bits_ = static_cast<std::uint8_t>(options.bits_ | bit);
  return options;
}

sys::BpfProgram assemble(Architecture architecture, std::span<const JudgedCall> calls, OnRefusal refusal) {
  BpfAssembler assembler;
  const std::vector<Interval> all = intervals(assembler, architecture, calls, refusal);
  const Node tree = assembler.load(number_offset, search(assembler, all));
  const Node wrong = assembler.answer(SeccompAnswer::kill_process().encode());
  const Node entry = assembler.branch(Test::equal, audit_architecture(architecture), {tree, wrong});
  return assembler.finish(assembler.load(architecture_offset, entry));
}

sys::BpfProgram build_filter(Architecture architecture, const FilterOptions& options, OnRefusal refusal) {
  return assemble(architecture, judged_calls(architecture, options), refusal);
}

std::span<const sock_filter> payload_filter(const FilterOptions& options) {
  static FilterCache cache(OnRefusal::answer);
  return cache.get(options);
}

std::span<const sock_filter> reporting_filter(const FilterOptions& options) {
  static FilterCache cache(OnRefusal::notify);
  return cache.get(options);
}

Result<SeccompAnswer> evaluate(std::span<const sock_filter> program, std::uint32_t architecture, std::uint32_t number,
                               const std::array<std::uint64_t, 6>& arguments) {
  seccomp_data call{};
  call.nr = static_cast<int>(number);
  call.arch = architecture;
  std::copy(arguments.begin(), arguments.end(), call.args);
  return SeccompAnswer::decode(TRY(sys::evaluate(program, call)));
}

std::uint32_t audit_architecture(Architecture architecture) {
  return architecture == Architecture::x86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
}

}  // namespace cordon::sandbox::native
