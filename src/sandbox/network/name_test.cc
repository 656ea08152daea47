#include "sandbox/network/name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace cordon::sandbox::network {
namespace {

using namespace std::string_view_literals;

struct Row {
  std::string_view text;
  std::string_view canonical;  // empty: refused
};

// Every trick that made some program see another host than its checker did.
const Row hosts[] = {
    // Plain names in every spelling.
    {"example.com", "example.com"},
    {"EXAMPLE.com", "example.com"},
    {"ExAmPlE.CoM.", "example.com"},
    {"a_b.example.com", "a_b.example.com"},
    {"xn--bcher-kva.example", "xn--bcher-kva.example"},
    {"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
    {"localhost", "localhost"},
    {"1password.example", "1password.example"},
    {"0xfoo.example", "0xfoo.example"},
    {"a.b.c.d.e.f.example", "a.b.c.d.e.f.example"},
    {"127.0.0.1.nip.example", "127.0.0.1.nip.example"},
    // Dots.
    {"", ""},
    {".", ""},
    {"..", ""},
    {"example.com..", ""},
    {".example.com", ""},
    {"example..com", ""},
    {"example.com.evil.test", "example.com.evil.test"},
    {"example\xE3\x80\x82"sv
     "com",
     ""},  // ideographic full stop
    {"example\xEF\xBC\x8E"sv
     "com",
     ""},  // fullwidth full stop
    // Bytes that another reader drops or stops at.
    {"evil.test\0.example.com"sv, ""},
    {"example.com\0"sv, ""},
    {"\0example.com"sv, ""},
    {"example.com\n", ""},
    {"example.com\r\nHost: evil.test", ""},
    {"example.com\t", ""},
    {" example.com", ""},
    {"example.com ", ""},
    {"exam ple.com", ""},
    {"example.com\x7f", ""},
    {"example.com\x1b[0m", ""},
    {"example.com\\evil.test", ""},
    {"example.com/evil.test", ""},
    {"example.com?evil.test", ""},
    {"example.com#evil.test", ""},
    {"example.com;evil.test", ""},
    {"example.com,evil.test", ""},
    {"example.com@evil.test", ""},
    {"user:password@example.com", ""},
    {"@example.com", ""},
    {"example%2ecom", ""},
    {"example.com%00", ""},
    {"%65xample.com", ""},
    {"*.example.com", ""},
    {"*", ""},
    {"example.com|evil", ""},
    {"\"example.com\"", ""},
    {"'example.com'", ""},
    {"<example.com>", ""},
    {"$example.com", ""},
    {"example.com&", ""},
    {"example.com=", ""},
    {"(example).com", ""},
    // Letters that look alike.
    {"ex\xD0\xB0mple.com", ""},  // Cyrillic a
    {"b\xC3\xBC"sv
     "cher.example",
     ""},
    {"example.c\xC3\xB6m", ""},
    {"e\xCC\x81xample.com", ""},      // combining accent
    {"example\xE2\x80\x8B.com", ""},  // zero-width space
    {"\xE2\x80\xAE"sv
     "moc.elpmaxe",
     ""},
    {"\xFF\xFE.example", ""},
    {"\xEF\xBC\x91\xEF\xBC\x92\xEF\xBC\x97.0.0.1", ""},  // fullwidth 127
    {"\xE2\x91\xA0.0.0.1", ""},                          // circled 1
    // Hyphens and lengths.
    {"-example.com", ""},
    {"example-.com", ""},
    {"ex-ample.com", "ex-ample.com"},
    {"a23456789012345678901234567890123456789012345678901234567890123.example",
     "a23456789012345678901234567890123456789012345678901234567890123.example"},
    {"a234567890123456789012345678901234567890123456789012345678901234.example", ""},
    // IPv4 in every spelling that a C library reads.
    {"127.0.0.1", "127.0.0.1"},
    {"127.0.0.1.", "127.0.0.1"},
    {"127.1", "127.0.0.1"},
    {"127.0.1", "127.0.0.1"},
    {"127", "0.0.0.127"},
    {"2130706433", "127.0.0.1"},
    {"0x7f000001", "127.0.0.1"},
    {"0X7F000001", "127.0.0.1"},
    {"0x7f.1", "127.0.0.1"},
    {"0x7f.0x0.0x0.0x1", "127.0.0.1"},
    {"0177.0.0.1", "127.0.0.1"},
    {"0177.0.0.01", "127.0.0.1"},
    {"017700000001", "127.0.0.1"},
    {"00000177.0.0.1", "127.0.0.1"},
    {"0.0.0.0", "0.0.0.0"},
    {"0", "0.0.0.0"},
    {"0x", "0.0.0.0"},
    {"169.254.169.254", "169.254.169.254"},
    {"2852039166", "169.254.169.254"},
    {"0xa9fea9fe", "169.254.169.254"},
    {"0251.0376.0251.0376", "169.254.169.254"},
    {"169.254.43518", "169.254.169.254"},
    {"169.16689662", "169.254.169.254"},
    {"4294967295", "255.255.255.255"},
    {"4294967296", ""},
    {"256.0.0.1", ""},
    {"127.0.0.256", ""},
    {"127.0.65536", ""},
    {"127.16777216", ""},
    {"1.2.3.4.5", ""},
    {"08.0.0.1", ""},
    {"0x7g.0.0.1", ""},
    {"1..2", ""},
    {"example.1", ""},
    {"example.0x1", ""},
    {"99999999999999999999", ""},
    {"-1", ""},
    // IPv6 in every spelling.
    {"[::1]", "::1"},
    {"::1", "::1"},
    {"[0:0:0:0:0:0:0:1]", "::1"},
    {"[0000:0000:0000:0000:0000:0000:0000:0001]", "::1"},
    {"[::ffff:127.0.0.1]", "127.0.0.1"},
    {"[::ffff:7f00:1]", "127.0.0.1"},
    {"[::FFFF:7F00:0001]", "127.0.0.1"},
    {"[0:0:0:0:0:ffff:127.0.0.1]", "127.0.0.1"},
    {"[::]", "::"},
    {"[2001:DB8::1]", "2001:db8::1"},
    {"[fe80::1%25eth0]", ""},
    {"[fe80::1%eth0]", ""},
    {"fe80::1%eth0", ""},
    {"[::1", ""},
    {"::1]", ""},
    {"[]", ""},
    {"[127.0.0.1]", ""},
    {"[example.com]", ""},
    {"[::1].example.com", ""},
    {"[v1.fe80::a]", ""},
    {"[1:2:3:4:5:6:7:8:9]", ""},
    {"[::1\0]"sv, ""},
};

TEST(Name, EveryTrickIsOneCanonicalHostOrRefused) {
  for (const Row& row : hosts) {
    const auto host = parse_host(row.text);
    EXPECT_EQ(host ? host->text() : "", row.canonical) << row.text;
    if (!host) continue;
    EXPECT_EQ(parse_host(host->text())->text(), host->text()) << "not canonical: " << row.text;
  }
  EXPECT_GE(std::size(hosts), 100U);
}

TEST(Name, LongerThanANameCanBeIsRefused) {
  std::string name(250, 'a');
  for (std::size_t at = 50; at < name.size(); at += 50) name[at] = '.';
  EXPECT_TRUE(parse_host(name));
  EXPECT_TRUE(parse_host(name + ".aa"));
  EXPECT_FALSE(parse_host(name + ".aaa"));
  EXPECT_FALSE(parse_host(std::string(1 << 20, 'a')));
}

TEST(Name, APortIsDecimalDigitsAndNothingElse) {
  const Row rows[] = {
      {"example.com:443", "example.com:443"},
      {"EXAMPLE.com.:443", "example.com:443"},
      {"example.com:0443", "example.com:443"},
      {"[::1]:80", "[::1]:80"},
      {"[::ffff:10.0.0.1]:80", "10.0.0.1:80"},
      {"example.com", ""},
      {"example.com:", ""},
      {"example.com:0", ""},
      {"example.com:65536", ""},
      {"example.com:443443", ""},
      {"example.com:+443", ""},
      {"example.com:-1", ""},
      {"example.com: 443", ""},
      {"example.com:443 ", ""},
      {"example.com:0x1bb", ""},
      {"example.com:443:80", ""},
      {"example.com:443/path", ""},
      {"example.com:80@evil.test:443", ""},
      {"example.com\0:443"sv, ""},
      {"::1:80", ""},
      {"[::1]80", ""},
      {"[::1]x:80", ""},
      {"[::1]", ""},
      {":443", ""},
  };
  for (const Row& row : rows) {
    const auto endpoint = parse_endpoint(row.text, std::nullopt);
    EXPECT_EQ(endpoint ? endpoint->text() : "", row.canonical) << row.text;
  }
}

TEST(Name, ARefusalShowsTheNameWithoutItsControlCharacters) {
  const auto host = parse_host("evil\x1b[2J.test");
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().sentence.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace cordon::sandbox::network
