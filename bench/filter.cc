// What it costs to load the filter, for three ways to write the same policy, in one run:
// the interval tree that Cordon uses, a linear list, and libseccomp (from the names, as most programs do it).
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/native/filter.h"
#include "sandbox/native/filter_rules.h"

namespace {

using namespace cordon::sandbox::native;
using cordon::sys::BpfProgram;
using cordon::sys::SeccompAnswer;

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// One comparison after the other, as a filter written by hand looks. Argument rules are left out, which only helps it.
BpfProgram linear_program(const std::vector<JudgedCall>& calls) {
  BpfProgram program{{BPF_LD | BPF_W | BPF_ABS, 0, 0, 4},
                     {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, audit_architecture(this_architecture)},
                     {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
                     {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}};
  for (const JudgedCall& call : calls) {
    const SeccompAnswer answer = call.rule.clauses.empty() ? call.rule.otherwise : SeccompAnswer::allow();
    program.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call.number});
    program.push_back({BPF_RET | BPF_K, 0, 0, answer.encode()});
  }
  program.push_back({BPF_RET | BPF_K, 0, 0, SeccompAnswer::fail_with(ENOSYS).encode()});
  return program;
}

/// Taken from the library at run time, so that nothing here needs it to build.
struct Libseccomp {
  void* (*init)(std::uint32_t);
  int (*add)(void*, std::uint32_t, int, unsigned, const void*);
  int (*resolve)(const char*);
  int (*load)(void*);
  int (*set)(void*, int, std::uint32_t);

  static std::optional<Libseccomp> open() {
    void* library = ::dlopen("libseccomp.so.2", RTLD_NOW);
    if (library == nullptr) return std::nullopt;
    Libseccomp functions{};
    const auto take = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    const bool all = take(functions.init, "seccomp_init") && take(functions.add, "seccomp_rule_add_array") &&
                     take(functions.resolve, "seccomp_syscall_resolve_name") && take(functions.load, "seccomp_load") &&
                     take(functions.set, "seccomp_attr_set");
    return all ? std::optional(functions) : std::nullopt;
  }

  /// Allowed calls only and no arguments: less than the interval tree does.
  bool install(const std::vector<JudgedCall>& calls) const {
    constexpr std::uint32_t allow = 0x7fff0000;
    constexpr int optimize = 8;
    void* context = init(0x00050000 | ENOSYS);
    set(context, optimize, 2);
    for (const JudgedCall& call : calls) {
      const bool allowed = !call.rule.clauses.empty() || call.rule.otherwise == SeccompAnswer::allow();
      if (allowed) add(context, allow, resolve(call.name), 0, nullptr);
    }
    return load(context) == 0;
  }
};

/// Times one `install` in a fresh child.
std::optional<double> in_child(const std::function<bool()>& install) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const auto start = std::chrono::steady_clock::now();
    const bool installed = install();
    const double taken = microseconds_since(start);
    const bool told = installed && ::write(ends[1], &taken, sizeof taken) == sizeof taken;
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  double taken = 0;
  const bool heard = ::read(ends[0], &taken, sizeof taken) == sizeof taken;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return heard ? std::optional(taken) : std::nullopt;
}

/// Nanoseconds for one getppid under the filter.
bool measure_calls(const std::function<bool()>& install, double& nanoseconds) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr int rounds = 200'000;
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!install()) ::_exit(1);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) ::syscall(SYS_getppid);
    const double each = microseconds_since(start) * 1000 / rounds;
    ::_exit(::write(ends[1], &each, sizeof each) == sizeof each ? 0 : 1);
  }
  ::close(ends[1]);
  const bool heard = ::read(ends[0], &nanoseconds, sizeof nanoseconds) == sizeof nanoseconds;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return heard;
}

struct Variant {
  std::string name;
  std::size_t instructions;
  std::function<bool()> install;
  std::vector<double> samples;
};

double percentile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main() {
  constexpr int rounds = 400;
  const FilterOptions options = FilterOptions::namespaced();
  const auto calls = judged_calls(this_architecture, options);
  const auto build_start = std::chrono::steady_clock::now();
  const auto tree = payload_filter(options);
  const double build = microseconds_since(build_start);
  const auto reporting = reporting_filter(options);
  const auto linear = linear_program(calls);
  const auto library = Libseccomp::open();

  std::vector<Variant> variants;
  const auto add = [&](const char* name, std::span<const sock_filter> program) {
    variants.push_back({name, program.size(), [=] { return cordon::sys::install_filter(program).has_value(); }, {}});
  };
  variants.push_back({"no filter", 0, [] { return true; }, {}});
  add("interval tree", tree);
  add("linear list", linear);
  if (library) variants.push_back({"libseccomp", 0, [&] { return library->install(calls); }, {}});

  // Interleaved, so that a noisy moment hits all of them.
  for (int round = 0; round < rounds; ++round) {
    for (Variant& variant : variants) {
      if (const auto taken = in_child(variant.install)) variant.samples.push_back(*taken);
    }
  }
  fmt::print(
      "seccomp filter, {} calls in the table, {} loads each; built once in {:.0f} us; reporting variant: {} "
      "instructions\n\n",
      calls.size(), rounds, build, reporting.size());
  fmt::print("{:<16}{:>14}{:>10}{:>10}{:>10}{:>16}\n", "", "instructions", "min us", "p50 us", "p95 us", "getppid ns");
  for (Variant& variant : variants) {
    if (variant.samples.empty()) continue;
    std::sort(variant.samples.begin(), variant.samples.end());
    double each = 0;
    measure_calls(variant.install, each);
    fmt::print("{:<16}{:>14}{:>10.1f}{:>10.1f}{:>10.1f}{:>16.0f}\n", variant.name,
               variant.instructions == 0 ? "-" : std::to_string(variant.instructions), variant.samples.front(),
               percentile(variant.samples, 0.5), percentile(variant.samples, 0.95), each);
  }
  if (!library) fmt::print("libseccomp.so.2 is not installed: not compared\n");
}
