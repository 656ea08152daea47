#include "sandbox/network/tls.h"

#include <gtest/gtest.h>

namespace cordon::sandbox::network {
namespace {

std::string number(std::size_t value, int width) {
  std::string bytes;
  for (int i = width - 1; i >= 0; --i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}
std::string part(const std::string& bytes, int width) { return number(bytes.size(), width) + bytes; }
std::string extension(std::size_t kind, const std::string& content) { return number(kind, 2) + part(content, 2); }
std::string names(const std::string& name) { return extension(0, part(std::string(1, '\0') + part(name, 2), 2)); }
std::string record(const std::string& bytes) { return "\x16\x03\x01" + part(bytes, 2); }

std::string message(const std::string& extensions) {
  const std::string body = "\x03\x03" + std::string(32, 'r') + part("", 1) + part("\x13\x01", 2) +
                           part(std::string(1, '\0'), 1) + part(extensions, 2);
  return "\x01" + part(body, 3);
}
std::string hello(const std::string& extensions) { return record(message(extensions)); }

std::string verdict(const std::string& bytes, std::string_view host) {
  const auto read = read_client_hello(bytes);
  if (!read) return "malformed";
  if (!*read) return "more";
  return check_server_name(**read, *parse_host(host)) ? "passes" : "refused";
}

TEST(Tls, TheServerNamedMustBeTheOneAskedFor) {
  EXPECT_EQ(verdict(hello(names("a.test")), "a.test"), "passes");
  EXPECT_EQ(verdict(hello(extension(10, "x") + names("A.TEST") + extension(16, "h2")), "a.test"), "passes");
  EXPECT_EQ(verdict(hello(names("evil.test")), "a.test"), "refused");
  EXPECT_EQ(verdict(hello(names("a.test.evil.test")), "a.test"), "refused");
  EXPECT_EQ(verdict(hello(names(std::string("a.test\0.evil.test", 17))), "a.test"), "refused");
  EXPECT_EQ(verdict(hello(names("b.a.test")), "a.test"), "refused");
  EXPECT_EQ(verdict(hello(""), "a.test"), "refused");
  EXPECT_EQ(verdict(hello(""), "10.0.0.1"), "passes");
  EXPECT_EQ(verdict(hello(names("any.test")), "10.0.0.1"), "passes");
}

TEST(Tls, ANameThatIsHiddenIsRefused) {
  EXPECT_EQ(verdict(hello(names("a.test") + extension(0xfe0d, "sealed")), "a.test"), "refused");
}

TEST(Tls, TwoNamesAreMalformed) {
  EXPECT_EQ(verdict(hello(names("a.test") + names("evil.test")), "a.test"), "malformed");
  const std::string one = std::string(1, '\0') + part("a.test", 2);
  EXPECT_EQ(verdict(hello(extension(0, part(one + one, 2))), "a.test"), "malformed");
  EXPECT_EQ(verdict(hello(extension(0, part("", 2))), "a.test"), "malformed");
}

TEST(Tls, AHelloInManyRecordsIsOneHello) {
  const std::string whole = message(names("evil.test"));
  std::string split;
  for (const char c : whole) split += record(std::string(1, c));
  EXPECT_EQ(verdict(split, "a.test"), "refused");
  EXPECT_EQ(verdict(split, "evil.test"), "passes");
  for (std::size_t cut = 1; cut < split.size(); ++cut)
    EXPECT_EQ(verdict(split.substr(0, cut), "a.test"), "more") << cut;
}

TEST(Tls, WhatIsNoHelloIsMalformed) {
  const std::string good = message(names("a.test"));
  EXPECT_EQ(verdict(record("\x02" + good.substr(1)), "a.test"), "malformed");
  EXPECT_EQ(verdict(record(good.substr(0, 20)) + "\x17\x03\x01" + part("x", 2), "a.test"), "malformed");
  EXPECT_EQ(verdict("\x16\x04\x01" + part(good, 2), "a.test"), "malformed");
  EXPECT_EQ(verdict(record(""), "a.test"), "malformed");
  EXPECT_EQ(verdict(record(good + "x"), "a.test"), "malformed");
  EXPECT_EQ(verdict(record("\x01\xff\xff\xff"), "a.test"), "malformed");
  // Any length inside that says too much.
  for (std::size_t at = 4; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(0xff);
    EXPECT_NE(verdict(record(bad), "evil.test"), "passes") << at;
  }
}

}  // namespace
}  // namespace cordon::sandbox::network
