// What happens to bytes: torn lines, changed lines, failing writes, dead processes.
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "audit/health.h"
#include "audit/log_fixture.h"

namespace cordon::audit {
namespace {

class AccidentTest : public LogTest {
 protected:
  void some_runs(int count = 3) const {
    Log log = open();
    for (int i = 0; i < count; ++i) run(log, "work " + std::to_string(i));
  }
  std::string file() const { return today() + ".jsonl"; }
  void expect_poisoned() const {
    const auto log = try_open();
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().fault, Fault::corrupt) << log.error().sentence;
  }
};

TEST_F(AccidentTest, TornLastLineIsQuarantinedAndRecorded) {
  some_runs();
  const std::string torn = R"({"timestamp":"2026-02-25T10:11:13.000000Z","command":"half a)";
  const std::string before = read(file());
  write(file(), before + torn);
  EXPECT_EQ(soundness(), Soundness::unsigned_tail);
  { Log log = open(); }
  const std::string name = fmt::format("torn/{}.{}", today(), before.size());
  EXPECT_EQ(read(name), torn);
  const Json last = parse_json(lines(today()).back());
  EXPECT_EQ(last["kind"], "recovery");
  EXPECT_EQ(last["detail"]["file"], name);
  EXPECT_EQ(last["detail"]["sha256"], sha256(torn).hex());
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(AccidentTest, ALastLineOfZeroesIsTorn) {
  some_runs();
  write(file(), read(file()) + std::string(300, '\0') + "\n");
  { Log log = open(); }
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(AccidentTest, ATornLineFoundWhileOpenIsQuarantinedToo) {
  Log log = open();
  run(log, "before");
  write(file(), read(file()) + "half");
  run(log, "after");
  ASSERT_TRUE(log.checkpoint());
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(AccidentTest, ATornFirstLineOfADayIsTakenAwayWithItsFile) {
  some_runs();
  next_day();
  write(file(), R"({"timestamp":"2026-02-26T)");
  std::filesystem::remove(path("frontier"));
  {
    Log log = open();
    run(log, "new day");
  }
  EXPECT_EQ(read("torn/2026-02-26.0"), R"({"timestamp":"2026-02-26T)");
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(AccidentTest, ATornNoteThatWasNotRecordedIsRecordedNextTime) {
  some_runs();
  std::filesystem::create_directories(path("torn"));
  write("torn/2026-02-25.77.new", "left by a writer that died between moving and recording");
  { Log log = open(); }
  EXPECT_TRUE(std::filesystem::exists(path("torn/2026-02-25.77")));
  EXPECT_EQ(parse_json(lines(today()).back())["detail"]["file"], "torn/2026-02-25.77");
}

TEST_F(AccidentTest, FlippedByteInMiddlePoisons) {
  some_runs();
  std::string bytes = read(file());
  bytes[bytes.size() / 2] ^= 1;
  write(file(), bytes);
  // The tail is as it was, so a writer does not see it; who verifies does, and then nobody writes.
  const auto report = examine({directory_.string(), std::nullopt, {}, "", ""});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->soundness(), Soundness::damaged);
  expect_poisoned();
}

TEST_F(AccidentTest, FlippedByteIsFoundByAWriterThatReadsTheDay) {
  some_runs();
  std::string bytes = read(file());
  bytes[bytes.size() / 2] ^= 1;
  write(file(), bytes);
  std::filesystem::remove(path("frontier"));
  expect_poisoned();
  expect_poisoned();
}

TEST_F(AccidentTest, AChangedLastLinePoisons) {
  some_runs();
  std::string bytes = read(file());
  bytes[bytes.rfind("work 2") + 5] = '7';
  write(file(), bytes);
  expect_poisoned();
}

TEST_F(AccidentTest, ALogThatLostItsEndPoisons) {
  some_runs();
  const auto all = lines(today());
  write(file(), all[0] + "\n" + all[1] + "\n");
  expect_poisoned();
}

TEST_F(AccidentTest, ALogThatLostItsEndAndItsFrontierPoisons) {
  some_runs();
  const auto all = lines(today());
  write(file(), all[0] + "\n" + all[1] + "\n");
  std::filesystem::remove(path("frontier"));
  expect_poisoned();
}

TEST_F(AccidentTest, ADeletedDayFilePoisons) {
  some_runs();
  std::filesystem::remove(path(file()));
  expect_poisoned();
}

TEST_F(AccidentTest, AForgedCheckpointPoisons) {
  some_runs();
  std::string note = read("checkpoint");
  note[note.size() - 5] = note[note.size() - 5] == 'A' ? 'B' : 'A';
  write("checkpoint", note);
  expect_poisoned();
}

TEST_F(AccidentTest, DamageThatWasUndoneIsForgivenByVerify) {
  some_runs();
  const std::string good = read(file());
  std::string bad = good;
  bad[40] ^= 1;
  write(file(), bad);
  ASSERT_TRUE(examine({directory_.string(), std::nullopt, {}, "", ""}));
  expect_poisoned();
  write(file(), good);
  ASSERT_TRUE(examine({directory_.string(), std::nullopt, {}, "", ""}));
  EXPECT_TRUE(try_open());
}

TEST_F(AccidentTest, ADamagedLogIsQuarantinedAndANewOneTellsOfIt) {
  some_runs();
  const std::string old_key = read("key.pub");
  std::filesystem::remove(path(file()));
  expect_poisoned();
  const auto place = quarantine(directory_, clock_, {"ann", "the disk was exchanged"});
  ASSERT_TRUE(place) << place.error().sentence;
  EXPECT_TRUE(std::filesystem::exists(*place + "/key.pub"));
  Log log = open();
  run(log, "new life");
  const Json first = line(today(), 1);
  EXPECT_EQ(first["detail"]["reason"], "the disk was exchanged");
  EXPECT_EQ(first["detail"]["old_key"], old_key);
  EXPECT_NE(read("key.pub"), old_key);
  ASSERT_TRUE(log.checkpoint());
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(AccidentTest, DamageThatOthersFoundStopsAWriterThatIsOpen) {
  some_runs();
  Log log = open();
  run(log, "before");
  std::string bytes = read(file());
  bytes[40] ^= 1;
  write(file(), bytes);
  ASSERT_TRUE(examine({directory_.string(), std::nullopt, {}, "", ""}));
  const auto after = log.intend(record("after"), Profile{});
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().fault, Fault::corrupt);
}

TEST_F(AccidentTest, AWriterThatIsOpenDoesNotWriteIntoTheLogThatReplacedIts) {
  some_runs();
  Log log = open();
  run(log, "before");
  std::string bytes = read(file());
  bytes[40] ^= 1;
  write(file(), bytes);
  ASSERT_TRUE(examine({directory_.string(), std::nullopt, {}, "", ""}));
  ASSERT_TRUE(quarantine(directory_, clock_, {"ann", "found by chance"}));
  EXPECT_FALSE(log.intend(record("after"), Profile{}));
  EXPECT_FALSE(log.checkpoint());
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(AccidentTest, ASoundLogIsNotQuarantined) {
  some_runs();
  EXPECT_FALSE(quarantine(directory_, clock_, {"ann", "to hide something"}));
}

TEST_F(AccidentTest, AFrontierThatIsAbsentOrWrongIsRebuilt) {
  for (const char* content : {"", "nonsense", "cordon-frontier-1\n"}) {
    some_runs();
    write("frontier", content);
    some_runs();
    EXPECT_EQ(soundness(), Soundness::good) << first_damage();
  }
  EXPECT_EQ(lines(today()).size(), 37U);
}

TEST_F(AccidentTest, AnOldFrontierIsCaughtUp) {
  some_runs();
  const std::string old = read("frontier");
  some_runs();
  write("frontier", old);
  some_runs();
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

/// While it lives no file may grow beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    (void)std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(AccidentTest, AFailedWriteIsFinalForTheProcess) {
  Log log = open();
  for (int i = 0; i < 10; ++i) run(log, "before");
  {
    const FileSizeLimit limit(read(file()).size() + 20);
    const auto clearance = log.intend(record("fails"), Profile{});
    ASSERT_FALSE(clearance);
    EXPECT_EQ(clearance.error().fault, Fault::unavailable);
  }
  EXPECT_FALSE(log.intend(record("would work now, and is refused"), Profile{}));
  Log other = open();
  run(other, "a new process starts over");
  ASSERT_TRUE(other.checkpoint());
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(AccidentTest, ARunWhoseProcessDiedIsClosedAsMayHaveRun) {
  some_runs();
  const pid_t child = ::fork();
  if (child == 0) {
    auto log = try_open();
    const auto clearance = log->intend(record("rm -rf build"), Profile{});
    ::_exit(clearance ? 0 : 1);  // no destructor: as if killed
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  { Log log = open(); }
  const Json last = parse_json(lines(today()).back());
  EXPECT_EQ(last["kind"], "recovery");
  EXPECT_EQ(last["status"], "unknown");
  EXPECT_EQ(last["command"], "rm -rf build");
  EXPECT_EQ(last["request"], "r-rm -rf build");
  { Log log = open(); }
  EXPECT_EQ(parse_json(lines(today()).back()), last) << "closed twice";
}

TEST_F(AccidentTest, ARunOfALivingProcessIsLeftAlone) {
  Log living = open();
  ASSERT_TRUE(living.intend(record("sleep 1000"), Profile{}));
  { Log log = open(); }
  EXPECT_EQ(parse_json(lines(today()).back())["kind"], "intent");
}

TEST_F(AccidentTest, AfterARestartOfTheMachineEveryOpenRunIsClosed) {
  {
    Log log = open();
    ASSERT_TRUE(log.intend(record("make world"), Profile{}));
  }
  // What the power cut left: no mark in running/, and a frontier from another boot.
  std::filesystem::remove_all(path("running"));
  std::filesystem::remove(path("frontier"));
  { Log log = open(); }
  EXPECT_EQ(parse_json(lines(today()).back())["kind"], "recovery");
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

}  // namespace
}  // namespace cordon::audit
