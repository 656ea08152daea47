// How much the audit log costs, each figure beside its reference from the same run.
//   bench_audit [DIRECTORY]     where to write; default: build/bench, so that it is a disk and not memory
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>
#include <vector>

#include "approve/queue.h"
#include "audit/health.h"
#include "audit/log.h"
#include "audit/query.h"
#include "audit/verify/verifier.h"
#include "base/json.h"

namespace {

using namespace cordon;
using namespace cordon::audit;
using Steady = std::chrono::steady_clock;

/// Processor time of this process: says what a figure would be on a machine that does nothing else.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double seconds_since(Steady::time_point start) { return std::chrono::duration<double>(Steady::now() - start).count(); }

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << "bench audit: " << result.error().sentence << '\n';
  std::exit(1);
}

AuditRecord record_of(int number) {
  AuditRecord record;
  record.kind = RecordKind::refused;
  record.command = fmt::format("git push origin feature-{} --force-with-lease", number % 1000);
  record.user = "agent-7";
  record.status = "blocked";
  record.risk = static_cast<Risk>(number % 4);
  record.request = fmt::format("01J{:010}", number);
  record.rule = "git.push";
  record.policy = sha256("policy");
  record.plan = sha256("plan");
  return record;
}

struct Row {
  std::string what;
  std::string value;
  std::string reference;
  std::string target;
  bool met;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One append after the other, each beside a bare write and fdatasync of a line of the same length: in turns, so that
/// what else the disk does hits both.
Row durable_append(const std::filesystem::path& scratch) {
  const SystemClock clock;
  Log log = must(Log::open(scratch / "single", clock, {}));
  (void)must(log.append(record_of(0)));
  const int bare = ::open((scratch / "bare").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const std::string line(540, 'x');
  std::vector<double> ours;
  std::vector<double> theirs;
  for (int i = 0; i < 1000; ++i) {
    const auto start = Steady::now();
    (void)must(log.append(record_of(i)));
    ours.push_back(seconds_since(start) * 1e6);
    const auto between = Steady::now();
    if (::write(bare, line.data(), line.size()) < 0 || ::fdatasync(bare) != 0) std::exit(1);
    theirs.push_back(seconds_since(between) * 1e6);
  }
  ::close(bare);
  const double ratio = median(ours) / median(theirs);
  return {"one durable append, p50", fmt::format("{:.0f} µs = {:.2f} ×", median(ours), ratio),
          fmt::format("bare write+fdatasync {:.0f} µs", median(theirs)), "≤ 1.5 ×", ratio <= 1.5};
}

/// What one thread gets that writes and syncs line by line: what the log would do without sharing syncs.
Row bare_syncs(const std::filesystem::path& scratch) {
  const int bare = ::open((scratch / "bare").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const std::string line(540, 'x');
  const auto start = Steady::now();
  for (int i = 0; i < 2000; ++i) {
    if (::write(bare, line.data(), line.size()) < 0 || ::fdatasync(bare) != 0) std::exit(1);
  }
  ::close(bare);
  return {"(bare write+fdatasync, one by one)", fmt::format("{:.0f} /s", 2000 / seconds_since(start)), "", "", true};
}

Row many_threads(const std::filesystem::path& scratch, int threads) {
  const SystemClock clock;
  Log log = must(Log::open(scratch / fmt::format("threads-{}", threads), clock, {}));
  constexpr int each = 2000;
  std::vector<std::vector<double>> latencies(static_cast<std::size_t>(threads));
  std::vector<std::thread> all;
  const auto start = Steady::now();
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        const auto begin = Steady::now();
        (void)must(log.append(record_of(i)));
        latencies[static_cast<std::size_t>(t)].push_back(seconds_since(begin) * 1e3);
      }
    });
  }
  for (auto& thread : all) thread.join();
  const double rate = threads * each / seconds_since(start);
  std::vector<double> joined;
  for (const auto& part : latencies) joined.insert(joined.end(), part.begin(), part.end());
  std::sort(joined.begin(), joined.end());
  return {fmt::format("durable records, {} threads", threads), fmt::format("{:.0f} /s", rate),
          fmt::format("p50 {:.2f} ms, p99 {:.2f} ms", joined[joined.size() / 2], joined[joined.size() * 99 / 100]),
          threads == 32 ? "≥ 10,000 /s" : "", threads != 32 || rate >= 10000};
}

/// A million records over the last ten days. Written by the log itself; a large batch stands for many threads.
std::string million(const std::filesystem::path& scratch) {
  const std::string directory = scratch / "million/audit";
  ManualClock clock(*from_rfc3339(day_of(SystemClock().now())) - std::chrono::hours(9 * 24));
  Store store = must(Store::open(directory, clock, {}));
  const Redactor redactor = must(Redactor::create("", {}, {}));
  for (int i = 0; i < 1'000'000;) {
    std::vector<PreparedLine> lines;
    for (int j = 0; j < 5000; ++j, ++i) lines.push_back(must(prepare_line(record_of(i), redactor)));
    std::vector<PendingLine> pending;
    pending.reserve(lines.size());
    for (const PreparedLine& line : lines) pending.push_back({&line, Priority::ordinary});
    std::vector<PendingLine*> pointers;
    for (PendingLine& line : pending) pointers.push_back(&line);
    store.append(pointers);
    if (!pending.back().seq) std::exit(1);
    if (i % 100'000 == 0 && i < 1'000'000) clock.advance(std::chrono::hours(24));
  }
  if (!store.checkpoint()) std::exit(1);
  return directory;
}

Row verify_rate(const std::string& directory) {
  const auto start = Steady::now();
  const double cpu_start = cpu_seconds();
  const auto report = verify_log({directory, std::nullopt, {}, "", ""});
  const double seconds = seconds_since(start);
  const double cpu = cpu_seconds() - cpu_start;
  if (report.soundness() != Soundness::good) std::exit(1);
  const double rate = static_cast<double>(report.records) / seconds;
  const auto hashing = Steady::now();
  const std::string line(540, 'x');
  for (int i = 0; i < 200'000; ++i) (void)leaf_hash(line);
  const double bare = 200'000 / seconds_since(hashing);
  return {"verify, a million records", fmt::format("{:.0f} /s", rate),
          fmt::format("{:.0f} per CPU second; bare SHA-256 {:.0f} /s", static_cast<double>(report.records) / cpu, bare),
          "≥ 300,000 /s", rate >= 300000};
}

/// The operations of one request's way through the queue, with as many waiting as may wait.
std::vector<Row> queue_operations(const std::filesystem::path& scratch) {
  const SystemClock clock;
  const std::string state = scratch / "queue";
  std::filesystem::create_directories(state);
  std::filesystem::permissions(state, std::filesystem::perms::owner_all);
  approve::Queue queue = must(approve::Queue::open(state, clock, {}));
  const auto request = [](int number) {
    const std::string command = fmt::format("rm -rf build-{}", number);
    return approve::Request{.command = command,
                            .risk = Risk::dangerous,
                            .reasons = {"Recursive deletion"},
                            .asker = {"/work", "me", "main", "", "cli", true},
                            .digest = sha256(command),
                            .plan = {{"argv", {"rm", "-rf", "build"}}}};
  };
  int number = 0;
  for (; number < 900; ++number) (void)must(queue.submit(request(number)));
  std::vector<double> times[4];
  const auto timed = [&times](int what, const auto& action) {
    const auto start = Steady::now();
    action();
    times[what].push_back(seconds_since(start) * 1e3);
  };
  for (int i = 0; i < 100; ++i, ++number) {
    std::string id;
    timed(0, [&] { id = must(queue.submit(request(number))).entry.id; });
    timed(1, [&] { (void)must(queue.approve(id, {.by = "me", .presence = approve::Presence::passphrase})); });
    timed(2, [&] { (void)must(queue.redeem(id, request(number).digest, request(number).asker, "")); });
    timed(3, [&] {
      if (!queue.conclude(id, {{"exit_code", 0}}, true)) std::exit(1);
    });
  }
  std::vector<Row> rows;
  for (const char* what : {"submit", "approve", "redeem", "conclude"}) {
    const double p50 = median(times[rows.size()]);
    rows.push_back(
        {fmt::format("queue: {}, p50, 900 waiting", what), fmt::format("{:.2f} ms", p50), "", "≤ 2 ms", p50 <= 2});
  }
  return rows;
}

/// `cordon audit WORDS` as a person waits for it: the whole process.
Row typed(const std::string& state, const std::string& words) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cordon";
  if (!std::filesystem::exists(program)) return {"(cordon audit " + words + ")", "not built", "", "", true};
  const std::string command = fmt::format("'{}' --state-dir '{}' audit {} > /dev/null", program, state, words);
  const std::string version = fmt::format("'{}' version > /dev/null", program);
  std::vector<double> ours;
  std::vector<double> bare;
  for (int i = 0; i < 9; ++i) {
    const auto start = Steady::now();
    if (std::system(command.c_str()) != 0) std::exit(1);  // NOLINT(concurrency-mt-unsafe): no threads are left here
    ours.push_back(seconds_since(start) * 1e3);
    const auto between = Steady::now();
    if (std::system(version.c_str()) != 0) std::exit(1);  // NOLINT(concurrency-mt-unsafe): as above
    bare.push_back(seconds_since(between) * 1e3);
  }
  return {"cordon audit " + words, fmt::format("{:.1f} ms", median(ours)),
          fmt::format("cordon version {:.1f} ms", median(bare)), "< 200 ms", median(ours) < 200};
}

template <class Action>
Row question(const std::string& what, Action action) {
  const auto first = Steady::now();
  action();
  const double cold = seconds_since(first) * 1e3;
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const auto start = Steady::now();
    action();
    times.push_back(seconds_since(start) * 1e3);
  }
  return {what, fmt::format("{:.2f} ms", median(times)), fmt::format("the first time {:.1f} ms", cold), "< 200 ms",
          median(times) < 200};
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(CORDON_SOURCE_DIR) / "build/bench";
  const fs::path scratch = (argc > 1 ? fs::path(argv[1]) : root) / fmt::format("audit-{}", ::getpid());
  fs::create_directories(scratch);
  fs::permissions(scratch, fs::perms::owner_all);
  fs::create_directories(root);
  std::vector<Row> rows;
  rows.push_back(durable_append(scratch));
  rows.push_back(bare_syncs(scratch));
  for (const int threads : {8, 32, 128}) rows.push_back(many_threads(scratch, threads));
  for (Row& row : queue_operations(scratch)) rows.push_back(std::move(row));
  const std::string directory = million(scratch);
  rows.push_back(verify_rate(directory));
  rows.push_back(question("log --last 20, of a million", [&] { (void)must(last_records(directory, {}, 20)); }));
  Filter rare;
  rare.risk = Risk::critical;
  rows.push_back(
      question("log --last 20 --risk-level critical", [&] { (void)must(last_records(directory, rare, 20)); }));
  rows.push_back(question("stats --period 7d (700,000 records)",
                          [&] { (void)must(summarise(directory, SystemClock().now() - std::chrono::hours(6 * 24))); }));
  rows.push_back(question("show SEQ", [&] { (void)must(record_line(directory, 765'432)); }));
  const std::string state = scratch / "million";
  for (const char* words : {"log --last 20", "stats --period 7d", "show 765432"}) rows.push_back(typed(state, words));
  fs::remove_all(scratch);

  Json json = Json::array();
  fmt::print("{:<38} {:>22}   {:<36} {}\n", "what", "measured", "beside it", "target");
  for (const Row& row : rows) {
    fmt::print("{:<38} {:>22}   {:<36} {} {}\n", row.what, row.value, row.reference, row.target,
               row.met ? "" : " MISSED");
    json.push_back({{"what", row.what},
                    {"value", row.value},
                    {"reference", row.reference},
                    {"target", row.target},
                    {"met", row.met}});
  }
  std::ofstream(root / "audit.json") << json.dump(2) << '\n';
  return 0;
}
