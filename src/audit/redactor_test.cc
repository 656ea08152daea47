#include "audit/redactor.h"

#include <gtest/gtest.h>

#include <chrono>

namespace cordon::audit {
namespace {

Redactor redactor(std::vector<KnownSecret> known = {}, const std::vector<SecretPattern>& patterns = {}) {
  return *Redactor::create("key", std::move(known), patterns);
}

struct Case {
  const char* text;
  const char* secret;
  const char* kind;
};

TEST(Redactor, ReplacesWhatLooksLikeASecret) {
  const std::vector<Case> cases = {
      {"aws s3 ls --key AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", "aws-key"},
      {"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "github-token"},
      {"x=github_pat_11AAAAAAA0abcdefghijklmnop_q", "github_pat_11AAAAAAA0abcdefghijklmnop_q", "github-token"},
      {"glpat-abcdefghij0123456789", "glpat-abcdefghij0123456789", "gitlab-token"},
      {"curl -H 'Authorization: Bearer abcdef0123456789.xyz'", "abcdef0123456789.xyz", "authorization"},
      {"t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig_na-ture", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig_na-ture", "jwt"},
      {"mysql --password hunter2 db", "hunter2", "password"},
      {"mysql --password=hunter2 db", "hunter2", "password"},
      {"DB_PASSWORD='correct horse' run", "correct horse", "password"},
      {"{\"api_key\": \"abcdef123456\"}", "abcdef123456", "password"},
      {"curl -u admin:s3cret http://x", "s3cret", "password"},
      {"git clone https://bob:pa55@host/x.git", "pa55", "url-password"},
      {"git clone https://0123456789abcdef01234567@host/x", "0123456789abcdef01234567", "url-password"},
      {"a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb", "MIIE", "private-key"},
      {"-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb cut off", "b3Blb", "private-key"},
      {"xoxb-123456789012-abcdef", "xoxb-123456789012-abcdef", "slack-token"},
  };
  for (const Case& one : cases) {
    const std::string result = redactor().redact(one.text);
    EXPECT_EQ(result.find(one.secret), std::string::npos) << result;
    EXPECT_NE(result.find(std::string("redacted:") + one.kind + ":hmac-"), std::string::npos) << result;
  }
}

TEST(Redactor, LeavesOrdinaryTextAlone) {
  for (const char* text : {"git push origin main", "ssh://git@host/repo", "password=$PASSWORD ./run", "echo token",
                           "AKIA is a prefix", "https://host:8080/path", "ls -u file", "make -j8 && ./a.out --user bob",
                           "tokenize: yes", "eyJ is how they begin"}) {
    EXPECT_EQ(redactor().redact(text), text);
  }
}

TEST(Redactor, ReplacesKnownValuesWhereverTheyStand) {
  const Redactor known = redactor({{"STRIPE", "whsec_0123456789"}, {"SHORT", "abc"}});
  const std::string result = known.redact("xwhsec_0123456789y whsec_0123456789 abc");
  EXPECT_EQ(result, "x" + known.replacement("STRIPE", "whsec_0123456789") + "y " +
                        known.replacement("STRIPE", "whsec_0123456789") + " abc");
}

TEST(Redactor, EqualSecretsHaveEqualTagsAndOtherKeysOtherTags) {
  EXPECT_EQ(redactor().tag("secret"), redactor().tag("secret"));
  EXPECT_NE(redactor().tag("secret"), redactor().tag("secrex"));
  EXPECT_NE(redactor().tag("secret"), Redactor::create("other", {}, {})->tag("secret"));
}

TEST(Redactor, DoesNotRedactTwice) {
  const Redactor known = redactor({{"TOKEN", "0123456789abcdef"}});
  const std::string once = known.redact("password=0123456789abcdef");
  EXPECT_EQ(once, "password=" + known.replacement("TOKEN", "0123456789abcdef"));
  EXPECT_EQ(known.redact(once), once);
}

TEST(Redactor, TakesPatternsOfTheSettings) {
  const Redactor given = redactor({}, {{"ticket", "TCK-[0-9]{4,}(-[A-Z]+)?"}});
  EXPECT_EQ(given.redact("see TCK-12345-AB."), "see " + given.replacement("ticket", "TCK-12345-AB") + ".");
  EXPECT_EQ(given.redact("see TCK-123"), "see TCK-123");
}

TEST(Pattern, SaysWhatIsWrongAndWhere) {
  for (const char* bad : {"(", ")", "[a", "a{2", "a{3,2}", "*a", "a**b{", "\\", "[z-a]", "^a", "\\b", "a{1,2000}",
                          "((((((((((a{1000}){1000}))))))))"}) {
    EXPECT_FALSE(Pattern::compile(bad)) << bad;
  }
}

TEST(Pattern, FindsTheLeftmostLongest) {
  struct {
    const char* pattern;
    const char* text;
    const char* match;
  } const cases[] = {{"a|ab|abc", "xabcd", "abc"},   {"a*", "bbaab", "aa"},           {"(ab)+", "aababab", "ababab"},
                     {"[^ ]+@", "me you@x", "you@"}, {"\\d{2,3}", "1 22 4444", "22"}, {"x.y", "x\ny x.y", "x.y"},
                     {"(a|b)?c", "abc", "bc"},       {"\\w+\\s\\w+", "!a b!", "a b"}};
  for (const auto& one : cases) {
    const auto found = Pattern::compile(one.pattern)->find(one.text, 0);
    ASSERT_TRUE(found) << one.pattern;
    EXPECT_EQ(std::string(one.text).substr(found->begin, found->end - found->begin), one.match) << one.pattern;
  }
  EXPECT_FALSE(Pattern::compile("a*")->find("bbb", 0));
}

// Not a timing test: it only has to come back. A backtracking matcher would not.
TEST(Pattern, ComesBackFromWhatKillsBacktrackers) {
  const std::string text(100'000, 'a');
  EXPECT_FALSE(Pattern::compile("(a*)*b")->find(text, 0));
  EXPECT_FALSE(Pattern::compile("(a|a|a|aa)+b")->find(text, 0));
}

TEST(Redactor, ComesBackFromTextMadeToBeSlow) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "password=\"://eyJ-----BEGIN --token ";
  EXPECT_FALSE(redactor().redact(text).empty());
}

}  // namespace
}  // namespace cordon::audit
