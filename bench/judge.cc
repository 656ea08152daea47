// How long a judgement takes: in process over the corpus, the allowlist at ten thousand entries, and as a process
// beside node's start.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>
#include <iostream>

#include "base/json.h"
#include "bench/table.h"
#include "guard/judge.h"

extern char** environ;

namespace {

using namespace cordon;

std::vector<std::string> corpus() {
  std::vector<std::string> commands;
  for (const char* name : {"dev.jsonl", "own.jsonl"}) {
    std::ifstream file(std::string(CORDON_SOURCE_DIR "/tests/corpus/") + name);
    for (std::string line; std::getline(file, line);) {
      const Json row = parse_json(line);
      if (row.is_object() && row.contains("command")) commands.push_back(row["command"]);
    }
  }
  return commands;
}

double run_process_ms(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  const double start = bench::now_us();
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) != 0) return 0;
  int status = 0;
  waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  return (bench::now_us() - start) / 1000;
}

void measure_judging(bench::Table& table) {
  const auto commands = corpus();
  const Settings settings;
  const policy::Allowlist allowlist;
  const guard::Circumstances here{
      .settings = settings,
      .allowlist = allowlist,
      .place = {.cwd = "/home/me/project", .workspace = "/home/me/project", .home = "/home/me", .user = "me"}};
  bench::Samples samples;
  for (int round = 0; round < 12; ++round) {
    for (const std::string& command : commands) {
      const double start = bench::now_us();
      const auto judgement = guard::judge(command, here);
      const double took = bench::now_us() - start;
      if (round >= 2) samples.add(took);
      if (judgement.script.text.size() != command.size()) std::abort();
    }
  }
  table.add({"judge one corpus command, p50", samples.percentile(0.5), "us", "", 0, "<= 30"});
  table.add({"judge one corpus command, p99", samples.percentile(0.99), "us", "", 0, "<= 300"});
  table.add({"judge one corpus command, largest", samples.percentile(1), "us", "", 0, ""});

  double cost[2] = {};
  for (int i = 0; i < 2; ++i) {
    std::string text;
    while (text.size() < (i == 0 ? 512U << 10 : 1U << 20)) text += "grep -rn 'word' src | head -5 && echo \"done\"; ";
    text += "true";
    const double start = bench::now_us();
    guard::judge(text, here);
    cost[i] = (bench::now_us() - start) / 1000;
  }
  table.add({"judge 1 MiB of commands", cost[1], "ms", "512 KiB in the same run", cost[0], "ratio about 2 (linear)"});
}

void measure_allowlist(bench::Table& table) {
  std::vector<policy::AllowlistEntry> entries;
  for (int i = 0; i < 10'000; ++i)
    entries.push_back({.pattern = "tool" + std::to_string(i % 5000) + " sub" + std::to_string(i)});
  const policy::Allowlist allowlist(entries);
  bench::Samples samples;
  Invocation call;
  for (int i = 0; i < 100'000; ++i) {
    call.program = call.path = "tool" + std::to_string(i % 6000);
    call.words = {call.program, "sub" + std::to_string(i % 10'000), "x"};
    const double start = bench::now_us();
    const auto* found = allowlist.covering(call, Time{});
    samples.add(bench::now_us() - start);
    if (found != nullptr && found->pattern.empty()) std::abort();
  }
  table.add({"allowlist of 10,000: one look-up, p50", samples.percentile(0.5), "us", "", 0, "<= 5"});
  table.add({"allowlist of 10,000: one look-up, p99", samples.percentile(0.99), "us", "", 0, ""});
}

void measure_process(bench::Table& table) {
  bench::Samples check, node, bare;
  for (int i = 0; i < 60; ++i) {
    check.add(run_process_ms({"build/release/bin/sandbox-check", "ls"}));
    bare.add(run_process_ms({"/bin/true"}));
    if (i % 3 == 0) node.add(run_process_ms({"node", "-e", "0"}));
  }
  table.add({"sandbox-check ls, whole process, p50", check.percentile(0.5), "ms", "node -e 0", node.percentile(0.5),
             "<= 5 ms"});
  table.add(
      {"sandbox-check ls, whole process, p50", check.percentile(0.5), "ms", "/bin/true", bare.percentile(0.5), ""});
}

}  // namespace

int main() {
  bench::Table table("judge");
  measure_judging(table);
  measure_allowlist(table);
  measure_process(table);
}
