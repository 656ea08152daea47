#include "audit/query.h"

#include <gmock/gmock.h>

#include "audit/log_fixture.h"

namespace cordon::audit {
namespace {

class QueryTest : public LogTest {
 protected:
  void fill() {
    Log log = open();
    for (int day = 0; day < 3; ++day) {
      run(log, "make " + std::to_string(day));
      AuditRecord refused = record("rm -rf /");
      refused.risk = Risk::critical;
      refused.user = "bob";
      ASSERT_TRUE(log.append(refused));
      AuditRecord queued = record("npm publish", RecordKind::approval_requested);
      queued.status = "queued";
      queued.approval = "cmd_0123456789";
      ASSERT_TRUE(log.append(queued));
      if (day < 2) next_day();
    }
  }
  std::vector<std::string> commands(const Filter& filter, std::size_t count = 100) const {
    std::vector<std::string> found;
    const auto records = last_records(directory_, filter, count);
    for (const Json& line : *records) found.push_back(line["command"]);
    return found;
  }
};

TEST_F(QueryTest, TheLastRecordsComeOldestFirstAcrossDays) {
  fill();
  EXPECT_EQ(commands({}, 4), (std::vector<std::string>{"npm publish", "make 2", "rm -rf /", "npm publish"}));
}

TEST_F(QueryTest, FiltersAreAllHeeded) {
  fill();
  Filter filter;
  filter.risk = Risk::critical;
  EXPECT_EQ(commands(filter), std::vector<std::string>(3, "rm -rf /"));
  filter = {};
  filter.command = "make*";
  EXPECT_EQ(commands(filter), (std::vector<std::string>{"make 0", "make 1", "make 2"}));
  filter.command = "ublis";
  EXPECT_EQ(commands(filter).size(), 3U);
  filter = {};
  filter.user = "bob";
  EXPECT_EQ(commands(filter).size(), 3U);
  filter = {};
  filter.status = "queued";
  EXPECT_EQ(commands(filter).size(), 3U);
  filter = {};
  filter.since = from_rfc3339("2026-02-26");
  filter.until = from_rfc3339("2026-02-27");
  EXPECT_EQ(commands(filter), (std::vector<std::string>{"make 1", "rm -rf /", "npm publish"}));
  filter = {};
  filter.every_kind = true;
  EXPECT_EQ(commands(filter).size(), 15U);
}

TEST_F(QueryTest, EveryRecordIsFoundByItsNumber) {
  fill();
  for (std::uint64_t seq = 0; seq < 15; ++seq) {
    const auto line = record_line(directory_, seq);
    ASSERT_TRUE(line && *line) << seq;
    EXPECT_EQ(parse_json(**line)["seq"], seq);
  }
  EXPECT_EQ(*record_line(directory_, 15), std::nullopt);
}

TEST_F(QueryTest, StatsCountEachRequestOnce) {
  fill();
  {
    Log log = open();
    AuditRecord approved = record("npm publish");
    approved.approval = "cmd_0123456789";
    ASSERT_TRUE(log.intend(approved, Profile{}));
    ASSERT_TRUE(log.conclude(approved));
  }
  const Json stats = stats_json(*summarise(directory_, std::nullopt));
  EXPECT_EQ(stats["total_commands"], 9);
  EXPECT_EQ(stats["critical"], 3);
  EXPECT_EQ(stats["dangerous"], 6);
  EXPECT_EQ(stats["by_status"]["executed"], 3);
  EXPECT_EQ(stats["by_user"]["bob"], 3);
  EXPECT_EQ(stats["top_commands"][0]["count"], 3);
  EXPECT_EQ(stats["time_range"]["from"], "2026-02-25T10:11:12.123456Z");
  std::vector<std::string> keys;
  for (const auto& [key, value] : stats.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"total_commands", "safe", "normal", "dangerous", "critical", "disallowed",
                                            "by_status", "by_user", "top_commands", "time_range"}));
  EXPECT_EQ(stats_json(*summarise(directory_, from_rfc3339("2026-02-27")))["total_commands"], 3);
}

TEST_F(QueryTest, AKeptSummaryGivesTheSameAsAFreshOne) {
  {
    Log log = open();
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(log.append(record("command " + std::to_string(i % 7))));
  }
  const Json first = stats_json(*summarise(directory_, std::nullopt));
  ASSERT_TRUE(std::filesystem::exists(path("index/2026-02-25")));
  {
    Log log = open();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(log.append(record("more")));
  }
  const Json kept = stats_json(*summarise(directory_, std::nullopt));
  EXPECT_EQ(kept["total_commands"], 310);
  for (const char* broken : {"", "{}", "[1]", R"({"version":1,"bytes":99999999})", R"({"version":1,"bytes":"x"})"}) {
    write("index/2026-02-25", broken);
    EXPECT_EQ(stats_json(*summarise(directory_, std::nullopt)), kept) << broken;
  }
}

TEST_F(QueryTest, ExportsWhatWasAskedFor) {
  fill();
  const auto exported = [&](Format format) {
    std::string all;
    EXPECT_TRUE(export_records(directory_, {}, format, [&](std::string_view part) -> Result<void> {
      all += part;
      return {};
    }));
    return all;
  };
  EXPECT_EQ(parse_json(exported(Format::json)).size(), 9U);
  const std::string jsonl = exported(Format::jsonl);
  EXPECT_EQ(std::count(jsonl.begin(), jsonl.end(), '\n'), 9);
  EXPECT_NE(jsonl.find(lines("2026-02-25")[2]), std::string::npos) << "byte for byte";
  EXPECT_TRUE(exported(Format::csv).starts_with("\"timestamp\",\"command\",\"user\",\"status\",\"output\",\"risk\""));
}

TEST_F(QueryTest, ASpreadsheetIsGivenNoFormulas) {
  {
    Log log = open();
    for (const char* command : {"=HYPERLINK(\"http://x\")", "+1", "-1", "@SUM(A1)", "\t=1"}) {
      ASSERT_TRUE(log.append(record(command)));
    }
  }
  std::string csv;
  ASSERT_TRUE(export_records(directory_, {}, Format::csv, [&](std::string_view part) -> Result<void> {
    csv += part;
    return {};
  }));
  EXPECT_NE(csv.find("\"'=HYPERLINK(\"\"http://x\"\")\""), std::string::npos) << csv;
  for (const char* bad : {"\"=", "\"+", "\"-", "\"@", "\"\t"}) EXPECT_EQ(csv.find(bad), std::string::npos) << bad;
}

TEST_F(QueryTest, ATableLineIsOneVisibleLine) {
  const Json line = {{"timestamp", "T"}, {"command", "a\nb\x1b[1m"}, {"user", "u"}, {"status", "s"}, {"output", "o"},
                     {"risk", "safe"}};
  EXPECT_EQ(table_line(line), "T | a\\nb\\x1b[1m | u | s | o | safe");
}

TEST(Glob, MatchesWhole) {
  EXPECT_TRUE(matches_glob("rm*", "rm -rf"));
  EXPECT_TRUE(matches_glob("*a?c*", "xxabcxx"));
  EXPECT_FALSE(matches_glob("rm", "rm -rf"));
  EXPECT_FALSE(matches_glob("a?", "a"));
}

TEST_F(QueryTest, OneRequestIsFoundFromAnyOfItsRecordsAcrossDays) {
  {
    Log log = open();
    AuditRecord asked = record("deploy", RecordKind::approval_requested);
    asked.approval = "cmd_0123456789";
    ASSERT_TRUE(log.append(asked));
    run(log, "something else");
    next_day();
    asked.kind = RecordKind::approval_decided;
    ASSERT_TRUE(log.append(asked));
    ASSERT_TRUE(log.intend(asked, Profile{}));
    run(log, "another");
    next_day();
    ASSERT_TRUE(log.conclude(asked));
  }
  Filter filter;
  filter.every_kind = true;
  filter.holds = "\"approval\":\"cmd_0123456789\"";
  const auto asked = last_lines(directory_, filter, 100);
  ASSERT_TRUE(asked);
  ASSERT_EQ(asked->size(), 4U);
  for (const std::string& line : *asked) {
    const auto found = records_of_request(directory_, line);
    ASSERT_TRUE(found) << found.error().sentence;
    EXPECT_EQ(*found, *asked);
  }
}

TEST_F(QueryTest, ARecordWithoutARequestIsAlone) {
  fill();
  const auto first = record_line(directory_, 0);
  ASSERT_TRUE(first && *first);
  EXPECT_THAT(*records_of_request(directory_, **first), ::testing::ElementsAre(**first));
}

TEST_F(QueryTest, ASecretIsFoundInLinesAndInWhatWasLeftOutOfThem) {
  const std::string secret = std::string("ghp_") + std::string(36, 'a');
  {
    Log log = open();
    run(log, "curl -H 'Authorization: Bearer " + secret + "'");
    run(log, "harmless");
    run(log, "cat big", std::string(20'000, 'x') + " " + secret + " " + std::string(20'000, 'y'));
  }
  const auto found = lines_with_secret(directory_, secret);
  ASSERT_TRUE(found) << found.error().sentence;
  std::vector<std::string> commands;
  for (const std::string& line : *found)
    commands.push_back(Json::parse(line)["command"].get<std::string>().substr(0, 7));
  EXPECT_EQ(commands, (std::vector<std::string>{"curl -H", "curl -H", "cat big"}));
  EXPECT_TRUE(lines_with_secret(directory_, "some other secret")->empty());
}

TEST_F(QueryTest, ErasingIsToldAndLeavesTheProof) {
  Log log = open();
  run(log, "cat big", std::string(20'000, 'x'));
  const auto outcome = record_line(directory_, 2);
  ASSERT_TRUE(outcome && *outcome);
  const Json line = Json::parse(**outcome);
  ASSERT_TRUE(*has_text(directory_, line, "output_commit"));
  const auto erased = log.erase(2, "ann", "it held a name");
  ASSERT_TRUE(erased && *erased);
  EXPECT_FALSE(*has_text(directory_, line, "output_commit"));
  EXPECT_FALSE(*log.erase(2, "ann", "again"));
  EXPECT_FALSE(log.erase(99, "ann", "there is none"));
  Filter filter;
  filter.status = "erased";
  const auto told = last_records(directory_, filter, 10);
  ASSERT_EQ(told->size(), 1U);
  EXPECT_EQ(told->front()["user"], "ann");
  EXPECT_EQ(told->front()["detail"]["record"], 2);
  ASSERT_TRUE(log.checkpoint());
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(QueryTest, WhatASpreadsheetWouldRunIsQuoted) {
  {
    Log log = open();
    for (const char* command : {"=1+1", "+1", "-1", "@sum", "\t=1", "  =1", "\uff1d1", "%x", "a=1"}) {
      ASSERT_TRUE(log.append(record(command)));
    }
  }
  std::string csv;
  ASSERT_TRUE(export_records(directory_, {}, Format::csv, [&](std::string_view text) -> Result<void> {
    csv += text;
    return {};
  }));
  for (const char* cell : {"\"'=1+1\"", "\"'+1\"", "\"'-1\"", "\"'@sum\"", "\"'\t=1\"", "\"'  =1\"", "\"'\uff1d1\"",
                           "\"'%x\"", "\"a=1\""}) {
    EXPECT_NE(csv.find(cell), std::string::npos) << cell;
  }
}

}  // namespace
}  // namespace cordon::audit
