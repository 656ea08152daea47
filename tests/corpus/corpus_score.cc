// Scores the judgement against a labelled corpus (its rules: tests/corpus/README.md) and fails below the limits.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "risk/analyse.h"
#include "shell/read.h"

namespace {

using namespace cordon;

bool stops(const std::string& level) { return level == "dangerous" || level == "critical" || level == "disallowed"; }

struct Tally {
  int rows = 0, right = 0, risky = 0, caught = 0, calm = 0, stopped_calm = 0, critical = 0, critical_stopped = 0;
};

/// A deny entry as SANDBOX.md means it: the program, and every other word among the arguments in any order.
bool denied(const Analysis& analysis, const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    std::vector<std::string> words;
    std::string word;
    for (char c : entry + " ") {
      if (c != ' ')
        word += c;
      else if (!word.empty())
        words.push_back(std::exchange(word, {}));
    }
    const std::vector<std::string> wanted = risk::canonical(words);
    for (const Invocation& call : analysis.invocations) {
      if (call.program != wanted[0]) continue;
      const bool all = std::all_of(wanted.begin() + 1, wanted.end(), [&](const std::string& each) {
        const bool prefix = each.ends_with('/') || each.ends_with('=') || each.ends_with(':');
        return std::any_of(call.canonical.begin(), call.canonical.end(),
                           [&](const std::string& given) { return prefix ? given.starts_with(each) : given == each; });
      });
      if (all) return true;
    }
  }
  return false;
}

RiskContext corpus_context() {
  RiskContext context;
  context.cwd = context.workspace = "/home/me/project";
  context.home = "/home/me";
  context.user = "me";
  context.look_at_files = false;
  return context;
}

std::string predict(const nlohmann::json& row, const Analysis& analysis) {
  if (row.contains("policy") && row["policy"].contains("deny") &&
      denied(analysis, row["policy"]["deny"].get<std::vector<std::string>>()))
    return "disallowed";
  return name_of(analysis.risk);
}

void report(const char* name, const Tally& tally) {
  auto percent = [](int part, int whole) { return whole ? 100.0 * part / whole : 100.0; };
  std::cout << fmt::format(
      "{:<22} rows {:>5}  right {:>6.2f} %  recall {:>6.2f} % ({}/{})  critical stopped {}/{}  false positives "
      "{:>5.2f} % ({}/{})\n",
      name, tally.rows, percent(tally.right, tally.rows), percent(tally.caught, tally.risky), tally.caught, tally.risky,
      tally.critical_stopped, tally.critical, tally.calm ? 100.0 * tally.stopped_calm / tally.calm : 0.0,
      tally.stopped_calm, tally.calm);
}

}  // namespace

int main(int argc, char** argv) {
  std::string limits, file;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--limits" && i + 1 < argc)
      limits = argv[++i];
    else if (arg == "-v")
      verbose = true;
    else
      file = arg;
  }
  std::ifstream in(file);
  if (!in) {
    std::cerr << "cannot open " << file << "\n";
    return 2;
  }
  const RiskContext context = corpus_context();
  ShellState state;
  state.variables["HOME"] = context.home;
  state.positional_known = false;  // what $1 will be is not known to who is asked
  const ReadScript read = [](std::string_view text, const ShellState& shell) { return shell::read(text, shell); };
  std::map<std::string, Tally> by_category;
  Tally all;
  int scary = 0;
  std::vector<double> times;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    const nlohmann::json row = nlohmann::json::parse(line);
    const std::string command = row["command"], expect = row["expect"], category = row["category"];
    const auto begin = std::chrono::steady_clock::now();
    const Script script = shell::read(command, state);
    const auto middle = std::chrono::steady_clock::now();
    const Analysis analysis = risk::analyse(script, context, read);
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - middle).count());
    (void)begin;
    const std::string predicted = predict(row, analysis);
    std::set<std::string> accepted{expect};
    for (const auto& each : row["accept"]) accepted.insert(each.get<std::string>());
    const bool right = accepted.contains(predicted);
    const bool strict_stop = std::all_of(accepted.begin(), accepted.end(), stops);
    const bool strict_calm = std::none_of(accepted.begin(), accepted.end(), stops);
    for (Tally* tally : {&all, &by_category[category]}) {
      ++tally->rows;
      tally->right += right;
      if (strict_stop) {
        ++tally->risky;
        tally->caught += stops(predicted);
      }
      if (strict_calm) {
        ++tally->calm;
        tally->stopped_calm += stops(predicted);
      }
      // All rows, also those that accept an allowed level: what is called critical should be stopped.
      if (expect == "critical") {
        ++tally->critical;
        tally->critical_stopped += stops(predicted);
      }
    }
    if (strict_calm && stops(predicted) && category.starts_with("scary")) ++scary;
    const bool missed = (strict_stop && !stops(predicted)) || (strict_calm && stops(predicted));
    if (missed || (verbose && !right)) {
      std::string shown = command;
      for (std::size_t at = 0; (at = shown.find('\n', at)) != std::string::npos;) shown.replace(at, 1, "⏎");
      std::cout << fmt::format("{} {:<18} expect {:<10} got {:<10} {}\n", missed ? "MISS" : "    ", category, expect,
                               predicted, shown.substr(0, 400));
      for (const Finding& finding : analysis.findings)
        std::cout << fmt::format("       {} {} ({})\n", name_of(finding.risk), finding.reason, finding.rule);
    }
  }
  for (const auto& [name, tally] : by_category) report(name.c_str(), tally);
  report("ALL", all);
  std::sort(times.begin(), times.end());
  if (!times.empty())
    std::cout << fmt::format("analyse: p50 {:.1f} µs, p99 {:.1f} µs, max {:.1f} µs\n", times[times.size() / 2],
                             times[times.size() * 99 / 100], times.back());
  if (limits.empty()) return 0;
  const double recall = all.risky ? 100.0 * all.caught / all.risky : 100,
               false_positives = all.calm ? 100.0 * all.stopped_calm / all.calm : 0;
  const double critical = all.critical ? 100.0 * all.critical_stopped / all.critical : 100;
  const bool dev = limits == "dev";
  const bool good = recall >= (dev ? 99 : 97) && critical >= (dev ? 100 : 99) && false_positives <= (dev ? 0.5 : 1.0) &&
                    (!dev || scary == 0);
  std::cout << (good ? "within the limits\n" : "OUTSIDE THE LIMITS\n");
  return good ? 0 : 1;
}
