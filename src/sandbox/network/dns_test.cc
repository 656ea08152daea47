#include "sandbox/network/dns.h"

#include <gtest/gtest.h>

#include "sandbox/network/resolver.h"

namespace cordon::sandbox::network {
namespace {

using namespace std::string_literals;

std::string question(const std::string& name) { return dns_query(7, name, RecordType::a).substr(12); }

std::string reply(const std::string& asked, const std::string& records, char count,
                  const std::string& flags = "\x81\x80") {
  return "\x00\x07"s + flags + "\x00\x01\x00"s + count + "\x00\x00\x00\x00"s + question(asked) + records;
}
std::string encoded(const std::string& name) {
  const std::string whole = question(name);
  return whole.substr(0, whole.size() - 4);
}
std::string a(const std::string& owner, const std::string& address) {
  return owner + "\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04"s + address;
}
std::string cname(const std::string& owner, const std::string& target) {
  return owner + "\x00\x05\x00\x01\x00\x00\x00\x3c\x00"s + static_cast<char>(encoded(target).size()) + encoded(target);
}
const std::string first = "\xc0\x0c"s;  // the name asked for

std::string addresses(const std::string& packet) {
  const auto parsed = parse_dns_reply(packet, 7, "a.test", RecordType::a);
  if (!parsed) return "malformed";
  std::string text;
  for (const Address& address : parsed->addresses) text += address.text() + " ";
  return text;
}

TEST(Dns, AddressesOfTheNameAndOfItsAliasesCount) {
  EXPECT_EQ(addresses(reply("a.test", a(first, "\x01\x02\x03\x04"), 1)), "1.2.3.4 ");
  EXPECT_EQ(addresses(reply("a.test", cname(first, "b.test") + a(encoded("b.test"), "\x01\x02\x03\x04"), 2)),
            "1.2.3.4 ");
  EXPECT_EQ(addresses(reply("a.test", a(encoded("evil.test"), "\x01\x02\x03\x04"), 1)), "");
  EXPECT_EQ(addresses(reply("A.TEST", a(first, "\x01\x02\x03\x04"), 1)), "1.2.3.4 ");
}

TEST(Dns, WhatIsNoAnswerToTheQuestionIsRefused) {
  EXPECT_EQ(addresses(reply("b.test", a(first, "\x01\x02\x03\x04"), 1)), "malformed");
  EXPECT_EQ(addresses(reply("a.test", a(first, "\x01\x02\x03\x04"), 1, "\x01\x80")), "malformed");  // a question
  std::string other = reply("a.test", a(first, "\x01\x02\x03\x04"), 1);
  other[1] = 8;
  EXPECT_EQ(addresses(other), "malformed");
  const std::string whole = reply("a.test", a(first, "\x01\x02\x03\x04"), 1);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) EXPECT_EQ(addresses(whole.substr(0, cut)), "malformed") << cut;
}

TEST(Dns, APointerInACircleEnds) {
  EXPECT_EQ(addresses(reply("a.test", a("\xc0\x18"s, "\x01\x02\x03\x04"), 1)), "malformed");
  EXPECT_EQ(addresses(reply("a.test", a("\xc0\xff"s, "\x01\x02\x03\x04"), 1)), "malformed");
}

TEST(Dns, AnAnswerThatDoesNotFitSaysSo) {
  EXPECT_TRUE(parse_dns_reply(reply("a.test", "", 0, "\x83\x80"), 7, "a.test", RecordType::a)->truncated);
  EXPECT_EQ(parse_dns_reply(reply("a.test", "", 0, "\x81\x83"), 7, "a.test", RecordType::a)->code, 3);
}

TEST(Resolver, ReadsTheMachinesOwnFiles) {
  const auto settings = ResolverSettings::parse(
      "127.0.0.1 localhost\n# 1.2.3.4 x.test\n10.0.0.9\tInner.Test  alias.test # y.test\n::1 localhost\nnonsense\n",
      "search x\nnameserver 9.9.9.9\n; nameserver 8.8.8.8\nnameserver ::1\nnameserver bad\n");
  EXPECT_EQ(settings.hosts.at("inner.test"), std::vector{*Address::parse("10.0.0.9")});
  EXPECT_EQ(settings.hosts.at("alias.test").size(), 1U);
  EXPECT_EQ(settings.hosts.at("localhost").size(), 2U);
  EXPECT_FALSE(settings.hosts.contains("x.test"));
  EXPECT_FALSE(settings.hosts.contains("y.test"));
  EXPECT_EQ(settings.servers, (std::vector{*Address::parse("9.9.9.9"), *Address::parse("::1")}));
  EXPECT_EQ(ResolverSettings::parse("", "").servers.size(), 1U);
}

}  // namespace
}  // namespace cordon::sandbox::network
