#include "policy/pattern.h"

#include <gtest/gtest.h>

namespace cordon::policy {
namespace {

// A stand-in for risk::canonical: splits clusters and knows two long names, which is enough to see that patterns and
// calls go through it alike.
std::vector<std::string> canonical(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    if (word == "--recursive")
      out.emplace_back("-r");
    else if (word == "--force")
      out.emplace_back("-f");
    else if (word.size() > 2 && word[0] == '-' && word[1] != '-') {
      for (const char c : word.substr(1)) out.push_back(std::string("-") + c);
    } else
      out.push_back(word);
  }
  return out;
}

Invocation call(const std::vector<std::string>& words, Risk risk = Risk::normal) {
  Invocation made;
  made.path = words.front();
  made.program = words.front().substr(words.front().rfind('/') + 1);
  made.words = words;
  made.canonical = canonical(words);
  made.risk = risk;
  return made;
}

TEST(PatternWords, SplitAtBlanksAndKeepQuotedOnes) {
  EXPECT_EQ(pattern_words("git commit -m 'two words' \"a\\\"b\" c\\ d"),
            (std::vector<std::string>{"git", "commit", "-m", "two words", "a\"b", "c d"}));
  EXPECT_TRUE(pattern_words("   ").empty());
}

TEST(Wildcard, StarsMatchAnyRunAndNothingElseIsSpecial) {
  EXPECT_TRUE(matches_wildcard("a*c", "abbbc"));
  EXPECT_TRUE(matches_wildcard("*", ""));
  EXPECT_FALSE(matches_wildcard("a?c", "abc"));
  EXPECT_FALSE(matches_wildcard("g++", "gcc"));
  EXPECT_TRUE(matches_wildcard("a*b*c", "axxbyyc"));
  EXPECT_FALSE(matches_wildcard("a*b*c", "axxbyy"));
  const std::string long_text(100000, 'a');
  EXPECT_FALSE(matches_wildcard("a*a*a*b", long_text));
}

struct DenyRow {
  const char* pattern;
  std::vector<std::string> words;
  Match expected;
};

TEST(DenyPattern, MatchesWhereverItsWordsOccurInAnySpelling) {
  const std::vector<DenyRow> rows = {
      {"rm -rf", {"rm", "-r", "--force", "x"}, Match::yes},
      {"rm -rf", {"rm", "x", "-fr"}, Match::yes},
      {"rm -rf", {"rm", "-r", "x"}, Match::no},
      {"nc -l", {"/usr/bin/nc", "-l", "9000"}, Match::yes},
      {"nc -l", {"./nc", "-vl", "9000"}, Match::yes},
      {"nc -l", {"ncat", "-l"}, Match::no},
      {"dd if=", {"dd", "of=/dev/sda", "if=/dev/zero"}, Match::yes},
      {"curl http://", {"curl", "-s", "http://x.example"}, Match::yes},
      {"curl http://", {"curl", "https://x.example"}, Match::no},
      {"eval", {"eval", "ls"}, Match::yes},
      {"chmod 777", {"chmod", "-R", "777", "."}, Match::yes},
      {"chmod 777", {"chmod", "7777", "."}, Match::no},
      {"docker *", {"docker", "ps"}, Match::yes},
  };
  for (const DenyRow& row : rows) {
    EXPECT_EQ(DenyPattern(row.pattern, canonical).matches(call(row.words)), row.expected)
        << row.pattern << " against " << row.words.front();
  }
}

TEST(DenyPattern, AnUnknownWordMayBeTheOneThatIsNamed) {
  Invocation unknown = call({"nc", "$FLAGS"});
  unknown.exact = false;
  EXPECT_EQ(DenyPattern("nc -l", canonical).matches(unknown), Match::maybe);
  EXPECT_EQ(DenyPattern("nc", canonical).matches(unknown), Match::yes);
  EXPECT_EQ(DenyPattern("rm -rf", canonical).matches(unknown), Match::no);
}

TEST(AllowPattern, CoversWordsInOrderFromTheStart) {
  EXPECT_TRUE(AllowPattern("npm list").covers(call({"npm", "list", "--depth", "0"})));
  EXPECT_TRUE(AllowPattern("npm run *").covers(call({"npm", "run", "build"})));
  EXPECT_TRUE(AllowPattern("npm run test:*").covers(call({"npm", "run", "test:unit"})));
  EXPECT_FALSE(AllowPattern("npm run test:*").covers(call({"npm", "run", "build"})));
  EXPECT_FALSE(AllowPattern("npm list").covers(call({"npm", "--prefix", "/tmp", "list"})));
  EXPECT_FALSE(AllowPattern("npm list").covers(call({"npm"})));
  EXPECT_FALSE(AllowPattern("npm list").covers(call({"npm", "listx"})));
}

TEST(AllowPattern, ANameIsTheSystemsProgramAndNoFileOfTheWorkspace) {
  EXPECT_TRUE(AllowPattern("ls").covers(call({"/usr/bin/ls"})));
  EXPECT_TRUE(AllowPattern("ls").covers(call({"/bin/ls"})));
  EXPECT_FALSE(AllowPattern("ls").covers(call({"./ls"})));
  EXPECT_FALSE(AllowPattern("ls").covers(call({"/tmp/ls"})));
  EXPECT_FALSE(AllowPattern("ls").covers(call({"/usr/bin/../../tmp/ls"})));
  EXPECT_TRUE(AllowPattern("./build.sh").covers(call({"./build.sh"})));
  EXPECT_FALSE(AllowPattern("./build.sh").covers(call({"build.sh"})));
}

TEST(AllowPattern, ADangerousCallMustBeWrittenOut) {
  EXPECT_TRUE(AllowPattern("rm -rf build").covers(call({"rm", "-rf", "build"}, Risk::dangerous)));
  EXPECT_FALSE(AllowPattern("rm -rf build").covers(call({"rm", "-rf", "build", "src"}, Risk::dangerous)));
  EXPECT_FALSE(AllowPattern("rm -rf *").covers(call({"rm", "-rf", "build"}, Risk::dangerous)));
  EXPECT_FALSE(AllowPattern("rm -rf b*").covers(call({"rm", "-rf", "build"}, Risk::dangerous)));
  Invocation unknown = call({"rm", "-rf", "$X"}, Risk::dangerous);
  unknown.exact = false;
  EXPECT_FALSE(AllowPattern("rm -rf $X").covers(unknown));
}

TEST(AllowPattern, NothingCoversCriticalOrUncoverableCalls) {
  EXPECT_FALSE(AllowPattern("curl x").covers(call({"curl", "x"}, Risk::critical)));
  Invocation executes = call({"sort", "--compress-program=sh", "x"});
  executes.uncoverable = "a flag that executes";
  EXPECT_FALSE(AllowPattern("sort").covers(executes));
}

TEST(AllowPattern, APatternForEverythingIsUnusable) {
  for (const char* pattern : {"", "*", "**", " * "}) EXPECT_FALSE(AllowPattern(pattern).usable()) << pattern;
  EXPECT_FALSE(AllowPattern("*").covers(call({"ls"})));
}

}  // namespace
}  // namespace cordon::policy
