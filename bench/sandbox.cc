// What a sandbox costs, beside bubblewrap and a bare fork and exec, all interleaved in one run. bench/sandbox.sh sets
// the stage: an unprivileged user in delegated control groups.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "bench/programs.h"
#include "sandbox/native/draft.h"
#include "sandbox/native/launcher.h"
#include "sandbox/native/level.h"
#include "sandbox/native/native.h"
#include "sandbox/native/pid1_image.h"
#include "tests/support/unrecorded_clearance.h"

namespace cordon {
namespace {

using Clock = std::chrono::steady_clock;
using sandbox::native::NativeSandbox;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

struct Series {
  std::string name;
  std::function<bool()> once;
  std::vector<double> samples = {};
  int failures = 0;

  double at(double share) const {
    if (samples.empty()) return 0;
    auto sorted = samples;
    std::ranges::sort(sorted);
    return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
  }
};

Profile true_profile() {
  Profile profile;
  profile.program.argv = {"/bin/true"};
  profile.require = Level::L2;
  return profile;
}

bool run_once(sandbox::Sandbox& box, const Profile& profile) {
  sandbox::CapturedIo io;
  RunReport report = box.run(testing::UnrecordedClearance::make(profile), io, {});
  auto* exited = std::get_if<Exited>(&report.outcome);
  return exited && exited->code == 0;
}

void measure(std::vector<Series>& all, int rounds, const std::function<void()>& settle) {
  for (int round = -rounds / 20 - 1; round < rounds; ++round) {
    for (Series& series : all) {
      settle();
      auto begin = Clock::now();
      bool good = series.once();
      double took = microseconds_since(begin);
      if (round < 0) continue;
      if (!good)
        ++series.failures;
      else
        series.samples.push_back(took);
    }
  }
}

double sustained(sandbox::Sandbox& box, int threads, std::chrono::seconds span) {
  std::atomic<int> runs{0};
  const auto begin = Clock::now();
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      const Profile profile = true_profile();
      while (Clock::now() - begin < span) {
        if (run_once(box, profile)) ++runs;
      }
    });
  }
  for (auto& worker : workers) worker.join();
  return runs / (microseconds_since(begin) / 1e6);
}

/// Where a cold start spends its time: the child's own notes, step by step.
std::vector<std::pair<std::string, double>> cost_per_step(int rounds) {
  using namespace sandbox::native;
  std::map<std::string, std::vector<double>> costs;
  std::vector<std::string> order;
  auto image = make_pid1_image();
  if (!image) return {};
  Machine machine{RootTree::discover(), std::move(*image), highest_ladder({}), {}, "", false};
  for (int i = 0; i < rounds; ++i) {
    Profile profile = true_profile();
    auto begin = Clock::now();
    auto draft = draft_surroundings(profile, machine, machine.ladder);
    if (!draft) return {};
    (*draft)->blueprint.timed = true;
    double drafted = microseconds_since(begin);
    LaunchTrouble trouble;
    begin = Clock::now();
    auto launched = launch({&(*draft)->blueprint}, trouble);
    if (!launched || !(*launched)->wait_until_ready(trouble)) return {};
    double ready = microseconds_since(begin);
    auto note = [&](const std::string& name, double value) {
      if (!costs.contains(name)) order.push_back(name);
      costs[name].push_back(value);
    };
    note("draft (launcher)", drafted);
    const auto start =
        static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(begin.time_since_epoch()).count());
    const auto note_steps = [&](const ChildNotes& notes, const std::string& who, double before) {
      for (std::uint32_t step = 0; step < notes.steps; ++step) {
        auto at = static_cast<double>(notes.finished_ns[step]);
        note(who + notes.step_names[step], (at - before) / 1000);
        before = at;
      }
    };
    note_steps((*launched)->notes, "", start);
    // Beside it, from the start of all.
    note_steps((*launched)->companion_notes, "companion: ", start);
    note("clone to ready, all", ready);
    begin = Clock::now();
    (*launched)->control.reset();
    (*launched)->reap(std::chrono::seconds(5));
    note("end and teardown", microseconds_since(begin));
  }
  std::vector<std::pair<std::string, double>> result;
  for (const std::string& name : order) {
    auto& values = costs[name];
    std::ranges::sort(values);
    result.emplace_back(name, values[values.size() / 2]);
  }
  return result;
}

int run(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
  auto box = NativeSandbox::open({});
  if (!box) {
    std::fprintf(stderr, "%s\n", box.error().sentence.c_str());
    return 1;
  }
  const Profile profile = true_profile();
  auto from_zygote = NativeSandbox::open({});
  auto from_slot = NativeSandbox::open({});
  const bool warm =
      (*from_zygote)->warm_up(profile, {32, 0}).has_value() && (*from_slot)->warm_up(profile, {8, 4}).has_value();
  std::vector<Series> all = {
      {"bare posix_spawn /bin/true", [] { return bench::spawn_and_wait({"/bin/true"}); }},
      {"bwrap --unshare-all …", [] { return bench::bubblewrap({"/bin/true"}); }},
      {"cordon cold", [&] { return run_once(**box, profile); }},
  };
  if (warm) {
    all.push_back({"cordon from a zygote", [&] { return run_once(**from_zygote, profile); }});
    all.push_back({"cordon from a warm slot", [&] { return run_once(**from_slot, profile); }});
  }
  // What is used is replaced in the background; the others are not to be measured beside that.
  auto settle = [&] {
    if (!warm) return;
    (*from_zygote)->wait_until_warm();
    (*from_slot)->wait_until_warm();
  };
  measure(all, rounds, settle);

  const Isolation isolation = (*box)->isolation();
  std::printf("uid %u, level %s", ::getuid(), isolation.level.c_str());
  for (const std::string& missing : isolation.missing) std::printf("; missing: %s", missing.c_str());
  // On a machine that others use, the minima are what the work itself costs.
  std::printf("\n%-34s %9s %9s %9s %9s  %7s %7s  %11s %10s\n", "", "p50 µs", "p95", "p99", "min", "× bwrap", "× bare",
              "min × bwrap", "min × bare");
  const double bare = all[0].at(0.5);
  const double bwrap = all[1].at(0.5);
  Json json;
  for (const Series& series : all) {
    const double p50 = series.at(0.5);
    std::printf("%-34s %9.0f %9.0f %9.0f %9.0f  %7.2f %7.2f  %11.2f %10.2f%s\n", series.name.c_str(), p50,
                series.at(0.95), series.at(0.99), series.at(0), p50 / bwrap, p50 / bare, series.at(0) / all[1].at(0),
                series.at(0) / all[0].at(0), series.failures ? "  (failures!)" : "");
    json["runs"].push_back({{"name", series.name},
                            {"p50_us", p50},
                            {"p95_us", series.at(0.95)},
                            {"p99_us", series.at(0.99)},
                            {"min_us", series.at(0)},
                            {"of_bwrap", p50 / bwrap},
                            {"of_bare", p50 / bare},
                            {"failures", series.failures}});
  }
  std::printf("\ncost per step of a cold start (p50 µs)\n");
  for (const auto& [name, cost] : cost_per_step(rounds)) {
    std::printf("  %-32s %9.0f\n", name.c_str(), cost);
    json["steps"][name] = cost;
  }
  const double rate = sustained(**box, 4, std::chrono::seconds(3));
  std::printf("\nsustained, cold, 4 threads: %.0f sandboxes/s\n", rate);
  json["sustained_per_second"] = rate;
  if (warm) {
    const double warm_rate = sustained(**from_zygote, 4, std::chrono::seconds(3));
    std::printf("sustained, from a zygote, 4 threads: %.0f sandboxes/s\n", warm_rate);
    json["sustained_from_zygote_per_second"] = warm_rate;
  }
  if (const char* path = std::getenv("CORDON_BENCH_JSON")) {
    if (std::FILE* file = std::fopen(path, "w")) {
      std::fprintf(file, "%s\n", json.dump(2).c_str());
      std::fclose(file);
    }
  }
  return 0;
}

}  // namespace
}  // namespace cordon

int main(int argc, char** argv) { return cordon::run(argc, argv); }
