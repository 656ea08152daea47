#include "sandbox/native/filter.h"

#include <linux/audit.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "sandbox/native/filter_rules.h"

namespace cordon::sandbox::native {

namespace {

using sys::BpfAssembler;
using sys::SeccompAnswer;
using Node = BpfAssembler::Node;
using Test = BpfAssembler::Test;

constexpr std::uint32_t number_offset = offsetof(seccomp_data, nr);
constexpr std::uint32_t whole = 0xffffffff;
constexpr std::uint32_t architecture_offset = offsetof(seccomp_data, arch);
// About as many call numbers as kernels have; they try a new filter on each.
constexpr std::uint32_t kernel_tries_below = 472;
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

/// Whether these are single numbers in the midst of others that are all answered alike.
bool exceptions_only(std::span<const Interval> among) {
  for (std::size_t i = 0; i < among.size(); ++i) {
    if (i % 2 == 0 ? among[i].leaf != among[0].leaf : among[i].first + 1 != among[i + 1].first) return false;
  }
  return true;
}

/// Where to split so that both sides hold about as many numbers. The kernel runs a new filter once for every call
/// number, so long intervals want short ways; numbers from `end` on are not counted.
std::size_t balanced_split(std::span<const Interval> among, std::uint32_t end) {
  const auto upto = [&](std::size_t index) { return std::min(index < among.size() ? among[index].first : end, end); };
  const std::uint64_t twice_middle = std::uint64_t{upto(0)} + upto(among.size());
  std::size_t best = 1;
  const auto distance = [&](std::size_t index) {
    const auto twice = static_cast<std::int64_t>(2 * std::uint64_t{upto(index)});
    return std::abs(twice - static_cast<std::int64_t>(twice_middle));
  };
  for (std::size_t index = 2; index < among.size(); ++index) {
    if (distance(index) < distance(best)) best = index;
  }
  return best;
}

/// A search tree over the value in the accumulator, which no branch changes.
Node search(BpfAssembler& assembler, std::span<const Interval> among, std::uint32_t end) {
  if (among.size() == 1) return among.front().leaf;
  if ((among.size() == 3 || among.size() == 5) && exceptions_only(among)) {
    Node node = among.front().leaf;
    for (std::size_t i = 1; i < among.size(); i += 2) {
      node = assembler.branch(Test::equal, among[i].first, {among[i].leaf, node});
    }
    return node;
  }
  // The end of a subtree is the start of what comes after it, or of no matter.
  const std::size_t middle = balanced_split(among, end);
  const Node upper = search(assembler, among.subspan(middle), end);
  const Node lower = search(assembler, among.first(middle), std::min(end, among[middle].first));
  return assembler.branch(Test::at_least, among[middle].first, {upper, lower});
}

/// Intervals that grow from the left; equal neighbours are joined.
class IntervalList {
 public:
  explicit IntervalList(Node everything) : intervals_{{0, everything}} {}

  void from(std::uint32_t number, Node leaf) {
    if (intervals_.back().first == number) intervals_.pop_back();
    if (intervals_.empty() || intervals_.back().leaf != leaf) intervals_.push_back({number, leaf});
  }
  std::span<const Interval> get() const { return intervals_; }

 private:
  std::vector<Interval> intervals_;
};

/// Single numbers with leaves of their own, everything between them with one.
IntervalList over(const std::map<std::uint32_t, Node>& leaves, Node others) {
  IntervalList list(others);
  for (const auto& [number, leaf] : leaves) {
    list.from(number, leaf);
    if (number != 0xffffffff) list.from(number + 1, others);
  }
  return list;
}

/// What is known of the arguments on the way to an instruction: tests that held, and tests that did not.
class Knowledge {
 public:
  /// true, false, or not known.
  std::optional<bool> outcome(const ArgumentTest& test) const {
    if (held_.contains(test)) return true;
    if (failed_.contains(test)) return false;
    const bool another_value = std::ranges::any_of(
        held_, [&](const ArgumentTest& known) { return known.argument == test.argument && known.mask == test.mask; });
    return another_value ? std::optional(false) : std::nullopt;
  }

  Knowledge and_held(const ArgumentTest& test) const { return with(test, &Knowledge::held_); }
  Knowledge and_failed(const ArgumentTest& test) const { return with(test, &Knowledge::failed_); }
  auto operator<=>(const Knowledge&) const = default;

 private:
  Knowledge with(const ArgumentTest& test, std::set<ArgumentTest> Knowledge::*where) const {
    Knowledge more = *this;
    (more.*where).insert(test);
    return more;
  }
  std::set<ArgumentTest> held_;
  std::set<ArgumentTest> failed_;
};

/// The instructions of one rule: its clauses as a decision tree that asks nothing twice.
class RuleWriter {
 public:
  RuleWriter(BpfAssembler& assembler, const CallRule& rule, OnRefusal refusal)
      : assembler_(assembler), rule_(rule), refusal_(refusal) {}

  Node write() { return clause(0, Loaded{}, {}); }

 private:
  /// What the accumulator holds: the low half of an argument, with these bits of it left. No bits: something else.
  struct Loaded {
    std::uint8_t argument = 0;
    std::uint32_t bits = 0;
    bool operator==(const Loaded&) const = default;
  };

  Node answer(SeccompAnswer said) {
    const bool notify = refusal_ == OnRefusal::notify && is_refusal(said);
    return assembler_.answer((notify ? SeccompAnswer::notify() : said).encode());
  }

  Node loading(std::uint8_t argument, Loaded loaded, Node next) {
    return loaded == Loaded{argument, whole} ? next : assembler_.load(low_half(argument), next);
  }

  Node clause(std::size_t index, Loaded loaded, const Knowledge& known) {
    if (index == rule_.clauses.size()) return answer(rule_.otherwise);
    if (const std::size_t end = end_of_values(index); end - index >= 3) return values(index, end, loaded, known);
    return test(index, 0, loaded, known);
  }

  Node test(std::size_t index, std::size_t position, Loaded loaded, const Knowledge& known) {
    const Clause& here = rule_.clauses[index];
    if (position == here.when.size()) return answer(here.then);
    const ArgumentTest& wanted = here.when[position];
    if (const auto outcome = known.outcome(wanted)) {
      return *outcome ? test(index, position + 1, loaded, known) : clause(index + 1, loaded, known);
    }
    // JSET leaves the accumulator as it is; a mask with a value needs AND, which leaves only those bits.
    const bool cut = wanted.mask != whole && wanted.value != 0;
    const Loaded after{wanted.argument, cut ? wanted.mask : whole};
    const Node fails = clause(index + 1, after, known.and_failed(wanted));
    const Node holds = test(index, position + 1, after, known.and_held(wanted));
    if (!cut) return loading(wanted.argument, loaded, compare(wanted, holds, fails));
    const Node equal = assembler_.branch(Test::equal, wanted.value, {holds, fails});
    return loaded == after ? equal : loading(wanted.argument, loaded, assembler_.mask(wanted.mask, equal));
  }

  Node compare(const ArgumentTest& wanted, Node holds, Node fails) {
    if (wanted.mask == whole) return assembler_.branch(Test::equal, wanted.value, {holds, fails});
    return assembler_.branch(Test::any_bit, wanted.mask, {fails, holds});
  }

  bool is_value_of(std::size_t index, std::uint8_t argument) const {
    const auto& when = rule_.clauses[index].when;
    return when.size() == 1 && when[0].mask == whole && when[0].argument == argument;
  }

  /// The end of a run of clauses that each ask for one whole value of the same argument.
  std::size_t end_of_values(std::size_t index) const {
    std::size_t end = index;
    const auto& when = rule_.clauses[index].when;
    while (!when.empty() && end < rule_.clauses.size() && is_value_of(end, when[0].argument)) ++end;
    return end;
  }

  /// Such a run as a search tree.
  Node values(std::size_t index, std::size_t end, Loaded loaded, const Knowledge& known) {
    const std::uint8_t argument = rule_.clauses[index].when[0].argument;
    const Node others = clause(end, Loaded{argument, whole}, known);
    std::map<std::uint32_t, Node> leaves;
    for (std::size_t i = index; i < end; ++i) {
      leaves.emplace(rule_.clauses[i].when[0].value, answer(rule_.clauses[i].then));
    }
    return loading(argument, loaded, search(assembler_, over(leaves, others).get(), whole));
  }

  BpfAssembler& assembler_;
  const CallRule& rule_;
  OnRefusal refusal_;
};

/// The call numbers of one architecture.
IntervalList numbers(BpfAssembler& assembler, Architecture architecture, std::span<const JudgedCall> calls,
                     OnRefusal refusal) {
  const Node absent = assembler.answer(SeccompAnswer::fail_with(ENOSYS).encode());
  std::map<std::uint32_t, Node> leaves;
  for (const JudgedCall& call : calls) {
    leaves.emplace(call.number, RuleWriter(assembler, call.rule, refusal).write());
  }
  IntervalList list = over(leaves, absent);
  if (architecture == Architecture::x86_64) {
    // x32: the same calls under other numbers, past every rule above. -1 is no call at all; tracers use it.
    list.from(0x40000000, assembler.answer(SeccompAnswer::kill_process().encode()));
    list.from(0xffffffff, absent);
  }
  return list;
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
  const IntervalList all = numbers(assembler, architecture, calls, refusal);
  const Node tree = assembler.load(number_offset, search(assembler, all.get(), kernel_tries_below));
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
