// Days: how they begin, are sealed, deleted and proven.
#include "audit/log_fixture.h"

namespace cordon::audit {
namespace {

class DayTest : public LogTest {
 protected:
  /// Three days with two runs each, and the fourth day open.
  void four_days() {
    Log log = open();
    for (int day = 0; day < 4; ++day) {
      run(log, "first " + std::to_string(day));
      run(log, "second " + std::to_string(day));
      if (day < 3) next_day();
    }
  }
  void expect_damage(const std::string& where) const {
    const auto report = verify();
    EXPECT_EQ(report.soundness(), Soundness::damaged);
    bool named = false;
    for (const Damage& damage : report.damage) named = named || damage.text().find(where) != std::string::npos;
    EXPECT_TRUE(named) << where << " is not named; first: " << first_damage();
  }
};

TEST_F(DayTest, EachDayHasItsFileAndEachEndedDayItsSeal) {
  four_days();
  for (const char* name :
       {"2026-02-25.jsonl", "2026-02-25.seal", "2026-02-26.seal", "2026-02-27.seal", "2026-02-28.jsonl"}) {
    EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(path("2026-02-28.seal")));
  const auto report = verify();
  EXPECT_EQ(report.soundness(), Soundness::good) << first_damage();
  EXPECT_EQ(report.sealed_days, 3U);
}

TEST_F(DayTest, EmptyDayIsSealed) {
  {
    Log log = open();
    run(log, "before the holiday");
  }
  next_day(5);
  {
    Log log = open();
    run(log, "after the holiday");
  }
  EXPECT_EQ(lines("2026-02-27").size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(path("2026-02-27.seal")));
  EXPECT_EQ(verify().sealed_days, 5U);
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(DayTest, AClockThatGoesBackStopsTimeAndIsRecorded) {
  {
    Log log = open();
    run(log, "now");
    clock_.advance(-std::chrono::hours(30));
    run(log, "earlier");
    run(log, "still earlier");
  }
  EXPECT_EQ(line("2026-02-25", 3)["kind"], "gap");
  EXPECT_EQ(line("2026-02-25", 3)["detail"]["clock"], "2026-02-24T04:11:12.123456Z");
  EXPECT_EQ(line("2026-02-25", 6)["timestamp"], "2026-02-25T10:11:12.123456Z");
  EXPECT_EQ(lines("2026-02-25").size(), 8U);
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(DayTest, AClockThatIsDecadesAheadIsRefused) {
  Log log = open();
  run(log, "now");
  next_day(20000);
  const auto clearance = log.intend(record("later"), Profile{});
  ASSERT_FALSE(clearance);
  EXPECT_EQ(clearance.error().fault, Fault::unavailable);
}

TEST_F(DayTest, ASealedDayIsNeverAddedTo) {
  four_days();
  clock_.set(*from_rfc3339("2026-02-26T00:00:00Z"));
  {
    Log log = open();
    run(log, "late");
  }
  EXPECT_EQ(lines("2026-02-26").size(), 5U);
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(DayTest, DeletedDayWithoutNoticeFails) {
  four_days();
  std::filesystem::remove(path("2026-02-26.jsonl"));
  expect_damage("2026-02-26.jsonl");
}

TEST_F(DayTest, DeletedDayWithItsSealFails) {
  four_days();
  std::filesystem::remove(path("2026-02-26.jsonl"));
  std::filesystem::remove(path("2026-02-26.seal"));
  expect_damage("2026-02-26.seal");
}

TEST_F(DayTest, DeletedFirstDayWithItsSealFails) {
  four_days();
  std::filesystem::remove(path("2026-02-25.jsonl"));
  std::filesystem::remove(path("2026-02-25.seal"));
  expect_damage("2026-02-26.seal");
}

TEST_F(DayTest, TruncatedAtSealFails) {
  four_days();
  std::filesystem::remove(path("2026-02-28.jsonl"));
  expect_damage("2026-02-28.jsonl");
}

TEST_F(DayTest, AMissingSealIsFound) {
  four_days();
  std::filesystem::remove(path("2026-02-27.seal"));
  expect_damage("2026-02-27.seal");
}

TEST_F(DayTest, SwappedDaysFail) {
  four_days();
  const std::string one = read("2026-02-25.jsonl");
  write("2026-02-25.jsonl", read("2026-02-26.jsonl"));
  write("2026-02-26.jsonl", one);
  expect_damage("2026-02-25.jsonl");
  expect_damage("2026-02-26.jsonl");
}

TEST_F(DayTest, SwappedSealsFail) {
  four_days();
  const std::string one = read("2026-02-25.seal");
  write("2026-02-25.seal", read("2026-02-26.seal"));
  write("2026-02-26.seal", one);
  expect_damage("2026-02-25.seal");
}

TEST_F(DayTest, ResealedWithAnotherKeyFails) {
  four_days();
  const std::string name = read("key.pub").substr(0, read("key.pub").find('+'));
  const SigningKey stranger = SigningKey::from_seed({});
  // Everything right but the key: same name, same heads.
  const std::string seal = read("2026-02-26.seal");
  const std::string text = seal.substr(0, seal.find("\n\n") + 1);
  const Signature signature = stranger.sign(text);
  const std::string line = seal.substr(seal.find("\n\n") + 2);
  const std::string id = from_base64(line.substr(line.rfind(' ') + 1, line.size() - line.rfind(' ') - 2))->substr(0, 4);
  write("2026-02-26.seal", fmt::format("{}\n\xe2\x80\x94 {} {}\n", text, name,
                                       to_base64(id + std::string(signature.begin(), signature.end()))));
  expect_damage("2026-02-26.seal");
}

TEST_F(DayTest, AWholeLogMadeByAnotherKeyFailsAgainstTheGivenKey) {
  four_days();
  const std::string key = read("key.pub");
  std::filesystem::remove_all(directory_);
  clock_.set(*from_rfc3339("2026-02-25T10:11:12.123456Z"));
  four_days();
  EXPECT_EQ(soundness(), Soundness::good);
  EXPECT_EQ(verify_log({directory_.string(), key, {}, "", ""}).soundness(), Soundness::damaged);
}

TEST_F(DayTest, AnOlderCheckpointThatWasKeptStillHolds) {
  four_days();
  const std::string kept = read("checkpoint");
  {
    Log log = open();
    run(log, "more");
    next_day();
    run(log, "and more");
  }
  EXPECT_EQ(verify_log({directory_.string(), std::nullopt, {kept}, "", ""}).soundness(), Soundness::good);
}

TEST_F(DayTest, ARolledBackLogFailsAgainstACheckpointThatWasKept) {
  four_days();
  const auto copy = scratch_ / "copy";
  std::filesystem::copy(directory_, copy, std::filesystem::copy_options::recursive);
  {
    Log log = open();
    run(log, "what shall be forgotten");
  }
  const std::string kept = read("checkpoint");
  std::filesystem::remove_all(directory_);
  std::filesystem::rename(copy, directory_);
  EXPECT_EQ(soundness(), Soundness::good) << "the files alone cannot tell";
  EXPECT_EQ(verify_log({directory_.string(), std::nullopt, {kept}, "", ""}).soundness(), Soundness::damaged);
}

TEST_F(DayTest, DaysDeletedByRetentionLeaveAProofThatHolds) {
  four_days();
  {
    Log log = open();
    const auto deleted = log.retain(std::chrono::hours(24));
    ASSERT_TRUE(deleted) << deleted.error().sentence;
    EXPECT_EQ(*deleted, (std::vector<std::string>{"2026-02-25", "2026-02-26"}));
  }
  EXPECT_FALSE(std::filesystem::exists(path("2026-02-25.jsonl")));
  EXPECT_TRUE(std::filesystem::exists(path("2026-02-25.seal")));
  const auto report = verify();
  EXPECT_EQ(report.soundness(), Soundness::good) << first_damage();
  EXPECT_EQ(report.deleted_days, 2U);
  EXPECT_EQ(report.notices, 1U);
  std::filesystem::remove(path("2026-02-27.jsonl"));
  expect_damage("2026-02-27.jsonl");
}

TEST_F(DayTest, ANoticeOutlivesTheDayThatHeldTheLastOne) {
  four_days();
  for (int i = 0; i < 6; ++i) {
    Log log = open();
    run(log, "work");
    ASSERT_TRUE(log.retain(std::chrono::hours(24)));
    next_day();
  }
  {
    Log log = open();
    run(log, "work");
  }
  const auto report = verify();
  EXPECT_EQ(report.soundness(), Soundness::good) << first_damage();
  EXPECT_GE(report.deleted_days, 5U);
}

TEST_F(DayTest, ANoticeThatNobodySignedExcusesNothing) {
  four_days();
  // Forged by who can write files but has no key: linked and numbered as it must be.
  const auto all = lines("2026-02-28");
  const Json last = parse_json(all.back());
  const std::string forged = fmt::format(
      R"({{"timestamp":{},"command":"","user":"cordon","status":"deleted","output":"","risk":"","seq":{},"kind":"retention","detail":{{"through":"2026-02-26"}},"prev":"{}"}})",
      last["timestamp"].dump(), last["seq"].get<int>() + 1, leaf_hash(all.back()).hex());
  write("2026-02-28.jsonl", read("2026-02-28.jsonl") + forged + "\n");
  EXPECT_EQ(soundness(), Soundness::unsigned_tail);
  std::filesystem::remove(path("2026-02-26.jsonl"));
  expect_damage("2026-02-26.jsonl");
}

TEST_F(DayTest, OneDayVerifiesAlone) {
  four_days();
  const auto report = verify_log({directory_.string(), std::nullopt, {}, "2026-02-26", "2026-02-26"});
  EXPECT_TRUE(report.damage.empty());
  EXPECT_EQ(report.records, 5U);
  write("2026-02-26.jsonl", read("2026-02-27.jsonl"));
  EXPECT_FALSE(verify_log({directory_.string(), std::nullopt, {}, "2026-02-26", "2026-02-26"}).damage.empty());
  EXPECT_TRUE(verify_log({directory_.string(), std::nullopt, {}, "2026-02-27", "2026-02-27"}).damage.empty());
}

TEST_F(DayTest, EveryRecordCanBeProvenAndNoOther) {
  four_days();
  Log log = open();
  const std::string key = log.verifier_key();
  for (std::uint64_t seq = 0; seq < 20; ++seq) {
    const auto proof = log.prove(seq);
    ASSERT_TRUE(proof) << proof.error().sentence;
    const auto shown = check_proof(*proof, key);
    ASSERT_TRUE(shown) << shown.error().sentence;
    EXPECT_EQ(parse_json(shown->line)["seq"], seq);
    EXPECT_EQ(shown->index, seq);
  }
  EXPECT_FALSE(log.prove(20));
}

TEST_F(DayTest, AChangedProofIsFoundAtEveryByte) {
  four_days();
  Log log = open();
  const std::string proof = *log.prove(7);
  for (std::size_t at = 0; at < proof.size(); ++at) {
    std::string changed = proof;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(check_proof(changed, log.verifier_key())) << at;
  }
}

TEST_F(DayTest, TwoCheckpointsAreAlwaysConsistent) {
  std::vector<std::string> kept;
  Log log = open();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(log.append(record("step")));
    if (i % 13 == 12) next_day();
    ASSERT_TRUE(log.checkpoint());
    kept.push_back(read("checkpoint"));
  }
  EXPECT_EQ(verify_log({directory_.string(), std::nullopt, kept, "", ""}).soundness(), Soundness::good);
}

TEST_F(DayTest, AWriterThatDiedBeforeSealingLeavesItToTheNext) {
  four_days();
  std::filesystem::remove(path("2026-02-27.seal"));
  std::filesystem::remove(path("frontier"));
  {
    Log log = open();
    run(log, "next");
  }
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
  EXPECT_TRUE(std::filesystem::exists(path("2026-02-27.seal")));
}

}  // namespace
}  // namespace cordon::audit
