#include "audit/log.h"

#include <sys/stat.h>

#include <set>
#include <thread>

#include "audit/log_fixture.h"

namespace cordon::audit {
namespace {

TEST_F(LogTest, ALineBeginsWithTheSixFieldsAndThenTheEnvelope) {
  {
    Log log = open();
    AuditRecord made = record("git push origin main");
    made.rule = "git.push";
    made.policy = sha256("policy");
    made.approval = "cmd_0123456789";
    made.detail = {{"why", "because"}};
    ASSERT_TRUE(log.append(made));
  }
  const Json json = line("2026-02-25", 1);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"timestamp", "command", "user", "status", "output", "risk", "seq", "kind",
                                            "request", "rule", "policy", "approval", "detail", "prev"}));
  EXPECT_EQ(json["timestamp"], "2026-02-25T10:11:12.123456Z");
  EXPECT_EQ(json["seq"], 1);
  EXPECT_EQ(json["prev"], sha256(std::string(1, '\0') + lines("2026-02-25")[0]).hex());
}

TEST_F(LogTest, ACleanlyClosedLogVerifiesWhole) {
  {
    Log log = open();
    for (int i = 0; i < 20; ++i) run(log, "ls " + std::to_string(i));
  }
  const auto report = verify();
  EXPECT_EQ(report.soundness(), Soundness::good) << first_damage();
  EXPECT_EQ(report.records, 41U);
  EXPECT_EQ(report.unsigned_tail, 0U);
}

TEST_F(LogTest, AnIntentIsOnDiskBeforeItsClearanceExists) {
  Log log = open();
  const auto clearance = log.intend(record("make"), Profile{});
  ASSERT_TRUE(clearance);
  EXPECT_EQ(clearance->record(), 1U);
  EXPECT_EQ(line(today(), 1)["kind"], "intent");
  EXPECT_EQ(line(today(), 1)["status"], "started");
}

TEST_F(LogTest, TheTailAfterTheLastCheckpointIsCalledUnsigned) {
  Log log = open();
  run(log, "make");
  const auto report = verify();
  EXPECT_EQ(report.soundness(), Soundness::unsigned_tail);
  EXPECT_EQ(report.unsigned_tail, 3U);
  ASSERT_TRUE(log.checkpoint());
  EXPECT_EQ(soundness(), Soundness::good);
}

TEST_F(LogTest, ACheckpointIsSignedEveryThousandRecordsAndEveryTenSeconds) {
  LogOptions options = small();
  options.store.checkpoint_every = 10;
  Log log = open(options);
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(log.append(record("a")));
  EXPECT_EQ(verify().unsigned_tail, 0U);
  ASSERT_TRUE(log.append(record("b")));
  EXPECT_EQ(verify().unsigned_tail, 1U);
  clock_.advance(std::chrono::seconds(11));
  ASSERT_TRUE(log.append(record("c")));
  EXPECT_EQ(verify().unsigned_tail, 0U);
}

TEST_F(LogTest, TwoOpenLogsTakeTurns) {
  Log one = open();
  Log two = open();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(one.append(record("one")));
    ASSERT_TRUE(two.append(record("two")));
  }
  ASSERT_TRUE(one.checkpoint());
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
  EXPECT_EQ(lines(today()).size(), 11U);
}

TEST_F(LogTest, ThreadsLoseNothingAndDoubleNothing) {
  std::set<std::uint64_t> seen;
  {
    Log log = open();
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const auto seq = log.append(record(std::to_string(t)));
          const std::scoped_lock lock(mutex);
          ASSERT_TRUE(seq);
          EXPECT_TRUE(seen.insert(*seq).second);
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(seen.size(), 400U);
  EXPECT_EQ(*seen.rbegin(), 400U);
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(LogTest, KeysAreForTheOwnerAlone) {
  { Log log = open(); }
  for (const char* name : {"key", "redaction.key"}) {
    struct stat status {};
    ASSERT_EQ(::stat(path(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U) << name;
  }
}

TEST_F(LogTest, ALostKeyIsDamageAndNotAReasonToMakeANewOne) {
  {
    Log log = open();
    run(log, "make");
  }
  std::filesystem::remove(path("key"));
  const auto log = try_open();
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().fault, Fault::corrupt);
}

TEST_F(LogTest, TheLogsOwnKindsCannotBeForgedThroughAppend) {
  Log log = open();
  for (const RecordKind kind : {RecordKind::day_open, RecordKind::intent, RecordKind::outcome, RecordKind::recovery,
                                RecordKind::retention, RecordKind::gap}) {
    const auto seq = log.append(record("x", kind));
    ASSERT_FALSE(seq);
    EXPECT_EQ(seq.error().fault, Fault::invalid_input);
  }
}

TEST_F(LogTest, AnIntentNeedsARequest) {
  Log log = open();
  AuditRecord made = record("x");
  made.request.clear();
  EXPECT_FALSE(log.intend(made, Profile{}));
}

TEST_F(LogTest, ThreadsShareTheLogWithCheckpointsAndProofs) {
  constexpr int threads = 8;
  constexpr int each = 60;
  Log log = open();
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        EXPECT_TRUE(log.append(record(std::to_string(t))));
        EXPECT_TRUE(i % 10 != t || log.checkpoint());
        EXPECT_TRUE(i % 20 != t || log.prove(1));
      }
    });
  }
  for (auto& thread : all) thread.join();
  ASSERT_TRUE(log.checkpoint());
  EXPECT_EQ(lines(today()).size(), threads * each + 1U);
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

}  // namespace
}  // namespace cordon::audit
