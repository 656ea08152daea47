#include "sandbox/network/rule.h"

#include <gtest/gtest.h>

namespace cordon::sandbox::network {
namespace {

Decision decide(const std::vector<std::string>& rules, Transport transport, std::string_view endpoint,
                const std::string& method = "") {
  return Rules::parse(rules)->decide({transport, *parse_endpoint(endpoint, std::nullopt), method});
}

TEST(Rule, NamesExactlyItsHost) {
  struct Row {
    const char* rule;
    const char* endpoint;
    bool allowed;
  };
  const Row rows[] = {
      {"a.example", "a.example:443", true},
      {"a.example", "a.example:80", true},
      {"a.example", "a.example:22", false},
      {"a.example", "A.Example.:443", true},
      {"A.EXAMPLE", "a.example:443", true},
      {"a.example", "b.a.example:443", false},
      {"a.example", "xa.example:443", false},
      {"a.example", "a.example.evil.test:443", false},
      {"a.example", "example:443", false},
      {"a.example:22", "a.example:22", true},
      {"a.example:22", "a.example:443", false},
      {"*.a.example", "a.example:443", false},
      {"*.a.example", "b.a.example:443", true},
      {"*.a.example", "c.b.a.example:443", true},
      {"*.a.example", "xa.example:443", false},
      {"*.a.example", "b.a.example.evil.test:443", false},
      {"*.a.example:8443", "b.a.example:8443", true},
      {"*.a.example:8443", "b.a.example:443", false},
      {"10.0.0.5:5432", "10.0.0.5:5432", true},
      {"10.0.0.5:5432", "0xa.5:5432", true},
      {"10.0.0.5:5432", "[::ffff:10.0.0.5]:5432", true},
      {"10.0.0.5:5432", "10.0.0.6:5432", false},
      {"[fd00::5]:80", "[fd00:0::5]:80", true},
      {"xn--bcher-kva.example", "xn--bcher-kva.example:443", true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(decide({row.rule}, Transport::tunnel, row.endpoint).allowed, row.allowed)
        << row.rule << ' ' << row.endpoint;
  }
}

TEST(Rule, MethodsAreForPlainRequestsOnly) {
  const std::vector<std::string> rules = {"GET,HEAD mirror.example"};
  EXPECT_TRUE(decide(rules, Transport::http, "mirror.example:80", "GET").allowed);
  EXPECT_FALSE(decide(rules, Transport::http, "mirror.example:80", "POST").allowed);
  EXPECT_FALSE(decide(rules, Transport::http, "mirror.example:80", "get").allowed);
  EXPECT_FALSE(decide(rules, Transport::tunnel, "mirror.example:80").allowed);
  EXPECT_FALSE(decide(rules, Transport::socks, "mirror.example:443").allowed);
}

TEST(Rule, ARefusalSaysWhichRuleWouldAllowIt) {
  EXPECT_EQ(decide({}, Transport::tunnel, "a.example:443").would_allow, "a.example:443");
  const Decision port = decide({"a.example"}, Transport::socks, "a.example:22");
  EXPECT_EQ(port.would_allow, "a.example:22");
  EXPECT_EQ(port.reason, "the rule a.example is for ports 80 and 443");
  EXPECT_TRUE(decide({port.would_allow}, Transport::socks, "a.example:22").allowed);
  EXPECT_EQ(decide({}, Transport::tunnel, "[fd00::5]:80").would_allow, "[fd00::5]:80");
}

TEST(Rule, WithoutAPortItIsForTheWeb) {
  EXPECT_TRUE(decide({"a.example"}, Transport::tunnel, "a.example:443").web_only);
  EXPECT_FALSE(decide({"a.example:443"}, Transport::tunnel, "a.example:443").web_only);
}

TEST(Rule, WhatOpensTooMuchOrSaysNothingIsRefused) {
  for (const char* text :
       {"", "*", "*.com", "*.10.0.0.1", "a.example:0", "a.example:x", "https://a.example", "a.example/x", "a b.example",
        "get a.example", "CONNECT a.example", "GET, a.example x", "**.a.example", "a.*.example"}) {
    EXPECT_FALSE(parse_rule(text)) << text;
  }
}

TEST(Rule, NamedAddressesAreThoseOfTheSamePort) {
  const auto rules = Rules::parse({"a.example", "10.0.0.5:5432", "10.0.0.6"});
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->named_addresses(5432), std::vector{*Address::parse("10.0.0.5")});
  EXPECT_EQ(rules->named_addresses(443), std::vector{*Address::parse("10.0.0.6")});
  EXPECT_TRUE(rules->named_addresses(22).empty());
}

}  // namespace
}  // namespace cordon::sandbox::network
