#include "audit/line.h"

#include <gtest/gtest.h>

#include "audit/log_fixture.h"
#include "audit/query.h"
#include "audit/verify/line_view.h"

namespace cordon::audit {
namespace {

class LineTest : public LogTest {
 protected:
  Json written(const AuditRecord& record) {
    Log log = open();
    const auto seq = log.append(record);
    EXPECT_TRUE(seq) << seq.error().sentence;
    const auto line = record_line(directory_, *seq);
    EXPECT_LE((*line)->size(), line_limit);
    return parse_json(**line);
  }
};

TEST_F(LineTest, BytesThatAreNotUtf8AreKeptBesideTheirReplacement) {
  const Json json = written(record("echo \xff\xfe ok"));
  EXPECT_EQ(json["command"], "echo \xef\xbf\xbd\xef\xbf\xbd ok");
  EXPECT_EQ(from_base64(json["command_b64"].get<std::string>()), "echo \xff\xfe ok");
}

TEST_F(LineTest, ALongCommandIsNeverCutSilently) {
  const std::string command = "echo " + std::string(200'000, 'x') + " && rm -rf /";
  const Json json = written(record(command));
  EXPECT_EQ(json["command_bytes"], command.size());
  EXPECT_TRUE(json["command"].get<std::string>().ends_with("&& rm -rf /"));
  EXPECT_NE(json["command"].get<std::string>().find("bytes left out"), std::string::npos);
  EXPECT_EQ(*committed_text(directory_, json, "command_commit"), command);
}

TEST_F(LineTest, NothingMakesALineTooLong) {
  AuditRecord made = record(std::string(30'000, '\x01'));
  for (std::string* field :
       {&made.user, &made.status, &made.request, &made.rule, &made.approval, &made.agent, &made.session}) {
    *field = std::string(100'000, '\xff');
  }
  made.output = std::string(1 << 20, '\x02');
  made.detail = {{"x", std::string(11'000, 'y')}};
  const Json json = written(made);
  EXPECT_EQ(json["output_bytes"], 1 << 20);
}

TEST_F(LineTest, ADetailThatIsTooLongIsRefusedAndNothingElseIs) {
  Log log = open();
  AuditRecord made = record("x");
  made.detail = {{"x", std::string(20'000, 'y')}};
  const auto refused = log.append(made);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::invalid_input);
  EXPECT_TRUE(log.append(record("y")));
}

TEST_F(LineTest, CharactersThatATerminalActsOnAreEscaped) {
  {
    Log log = open();
    ASSERT_TRUE(log.append(record("a\x1b[2J\u202e\u200b\u0085z\n")));
  }
  const std::string line = lines(today())[1];
  EXPECT_NE(line.find("a\\u001b[2J\\u202e\\u200b\\u0085z\\n"), std::string::npos) << line;
  EXPECT_EQ(parse_json(line)["command"], "a\x1b[2J\u202e\u200b\u0085z\n");
}

TEST_F(LineTest, SecretsAreGoneBeforeAnythingIsWritten) {
  LogOptions options = small();
  options.secrets = {{"DEPLOY_KEY", "correct-horse-battery"}};
  {
    Log log = open(options);
    AuditRecord made = record("deploy correct-horse-battery AKIAIOSFODNN7EXAMPLE");
    made.detail = {{"env", {"X=correct-horse-battery"}}};
    ASSERT_TRUE(log.append(made));
    run(log, "env", std::string(10'000, '.') + "correct-horse-battery" + std::string(10'000, '.'));
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_EQ(bytes.find("correct-horse-battery"), std::string::npos) << entry.path();
    EXPECT_EQ(bytes.find("AKIAIOSFODNN7EXAMPLE"), std::string::npos) << entry.path();
  }
}

TEST_F(LineTest, LongOutputIsCommittedToAndCanBeErased) {
  const std::string output = "begin\n" + std::string(50'000, 'o') + "\nend";
  {
    Log log = open();
    run(log, "make", output);
  }
  const Json json = last_records(directory_, {}, 1)->front();
  EXPECT_TRUE(json["output"].get<std::string>().starts_with("begin\n"));
  EXPECT_TRUE(json["output"].get<std::string>().ends_with("\nend"));
  EXPECT_LT(json["output"].get<std::string>().size(), 5000U);
  EXPECT_EQ(*committed_text(directory_, json, "output_commit"), output);
  EXPECT_EQ(verify().blobs, 1U);
  EXPECT_EQ(*erase_text(directory_, json, "output_commit"), true);
  EXPECT_EQ(*committed_text(directory_, json, "output_commit"), std::nullopt);
  EXPECT_EQ(soundness(), Soundness::good) << first_damage();
}

TEST_F(LineTest, AChangedBlobIsFound) {
  {
    Log log = open();
    run(log, "make", std::string(50'000, 'o'));
  }
  const Json json = last_records(directory_, {}, 1)->front();
  const std::string name = "output/2026-02-25/" + json["output_commit"].get<std::string>();
  write(name, read(name) + "x");
  EXPECT_EQ(soundness(), Soundness::damaged);
  EXPECT_FALSE(committed_text(directory_, json, "output_commit"));
}

TEST(LineView, TakesJsonByTheLetter) {
  std::vector<Member> members;
  EXPECT_TRUE(read_members(R"({"a":"x\"y","b":-12,"c":[1,{"d":null}],"e":true})", members));
  ASSERT_EQ(members.size(), 4U);
  EXPECT_EQ(members[2].value, R"([1,{"d":null}])");
  EXPECT_EQ(unescaped(members[0].value), "x\"y");
  for (const char* bad :
       {"", "{", "{}x", R"({"a":1,})", R"({"a":01})", R"({"a":1.5})", R"({"a":1e3})", R"({"a" :1})", R"({"a":"\x"})",
        "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}", R"(["a"])", R"({"a":nul})", R"({"a":"\u12g4"})"}) {
    EXPECT_FALSE(read_members(bad, members)) << bad;
  }
}

}  // namespace
}  // namespace cordon::audit
