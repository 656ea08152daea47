#include "sandbox/network/address.h"

#include <gtest/gtest.h>

namespace cordon::sandbox::network {
namespace {

TEST(Address, LiesWhereItsNumberSays) {
  const std::pair<const char*, Place> rows[] = {
      {"93.184.216.34", Place::outside},
      {"1.1.1.1", Place::outside},
      {"223.255.255.255", Place::outside},
      {"0.0.0.0", Place::unspecified},
      {"0.1.2.3", Place::unspecified},
      {"10.0.0.1", Place::private_network},
      {"9.255.255.255", Place::outside},
      {"11.0.0.0", Place::outside},
      {"100.63.255.255", Place::outside},
      {"100.64.0.1", Place::shared},
      {"100.100.100.200", Place::metadata},
      {"100.127.255.255", Place::shared},
      {"100.128.0.0", Place::outside},
      {"127.0.0.1", Place::loopback},
      {"127.255.255.255", Place::loopback},
      {"128.0.0.1", Place::outside},
      {"168.63.129.16", Place::metadata},
      {"169.254.0.1", Place::link_local},
      {"169.254.169.254", Place::metadata},
      {"169.254.170.2", Place::metadata},
      {"172.15.255.255", Place::outside},
      {"172.16.0.1", Place::private_network},
      {"172.31.255.255", Place::private_network},
      {"172.32.0.0", Place::outside},
      {"192.0.0.192", Place::metadata},
      {"192.0.0.1", Place::reserved},
      {"192.0.2.1", Place::documentation},
      {"192.88.99.1", Place::reserved},
      {"192.168.1.1", Place::private_network},
      {"192.169.0.0", Place::outside},
      {"198.18.0.1", Place::reserved},
      {"198.19.255.255", Place::reserved},
      {"198.51.100.1", Place::documentation},
      {"203.0.113.1", Place::documentation},
      {"224.0.0.1", Place::multicast},
      {"239.255.255.255", Place::multicast},
      {"240.0.0.1", Place::reserved},
      {"255.255.255.255", Place::broadcast},
      {"2606:2800:220:1::1", Place::outside},
      {"::", Place::unspecified},
      {"::1", Place::loopback},
      {"::2", Place::reserved},
      {"::127.0.0.1", Place::reserved},       // compatible
      {"::ffff:127.0.0.1", Place::loopback},  // mapped
      {"::ffff:169.254.169.254", Place::metadata},
      {"::ffff:93.184.216.34", Place::outside},
      {"::ffff:0:127.0.0.1", Place::reserved},  // translated
      {"64:ff9b::7f00:1", Place::loopback},     // NAT64
      {"64:ff9b::a00:1", Place::private_network},
      {"64:ff9b::a9fe:a9fe", Place::metadata},
      {"64:ff9b::5db8:d822", Place::outside},
      {"64:ff9b:1::1", Place::reserved},
      {"100::1", Place::reserved},
      {"2001::1", Place::reserved},  // Teredo
      {"2001:10::1", Place::reserved},
      {"2001:db8::1", Place::documentation},
      {"2001:4860:4860::8888", Place::outside},
      {"2002:7f00:1::1", Place::loopback},  // 6to4
      {"2002:a9fe:a9fe::1", Place::metadata},
      {"2002:5db8:d822::1", Place::outside},
      {"2a00:1450::5efe:7f00:1", Place::loopback},  // ISATAP
      {"2a00:1450::200:5efe:a00:1", Place::private_network},
      {"3fff::1", Place::documentation},
      {"5f00::1", Place::reserved},
      {"fc00::1", Place::private_network},
      {"fd00:ec2::254", Place::metadata},
      {"fd20:ce::254", Place::metadata},
      {"fd12::1", Place::private_network},
      {"fe80::1", Place::link_local},
      {"febf::1", Place::link_local},
      {"fec0::1", Place::private_network},
      {"ff02::1", Place::multicast},
      {"4000::1", Place::reserved},
      {"8000::1", Place::reserved},
  };
  for (const auto& [text, place] : rows) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_STREQ(phrase_for(place_of(*address)), phrase_for(place)) << text;
  }
}

TEST(Address, BothSpellingsOfAnIpv4AddressAreOne) {
  EXPECT_EQ(Address::parse("::ffff:10.1.2.3"), Address::parse("10.1.2.3"));
  EXPECT_EQ(Address::parse("::ffff:a01:203")->text(), "10.1.2.3");
  EXPECT_FALSE(Address::parse("10.1.2"));
  EXPECT_FALSE(Address::parse("010.1.2.3"));
  EXPECT_FALSE(Address::parse(std::string_view("10.1.2.3\0x", 10)));
}

}  // namespace
}  // namespace cordon::sandbox::network
