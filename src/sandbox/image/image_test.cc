#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/image/packages.h"
#include "sandbox/image/tar.h"

namespace cordon::sandbox::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* status =
    "Package: a\nStatus: install ok installed\nArchitecture: amd64\nDepends: b (>= 1) | c, d:any\nPre-Depends: libc6\n"
    "Description: x\n Depends: no-such\n\n"
    "Package: c\nStatus: install ok installed\nArchitecture: all\nProvides: d, e (= 1)\n\n"
    "Package: b\nStatus: deinstall ok config-files\nArchitecture: amd64\n\n"
    "Package: libc6\nStatus: hold ok installed\nArchitecture: amd64\nDepends: a\n";

TEST(Packages, NeedsAreFollowedThroughAlternativesAndProvidersAndCircles) {
  const Packages packages = Packages::parse(status);
  EXPECT_THAT(packages.closure({"a"}).value(), ElementsAre("a", "c", "libc6"));
  EXPECT_THAT(packages.closure({"e"}).value(), ElementsAre("c"));
}

TEST(Packages, WhatIsNotInstalledIsSaid) {
  const Packages packages = Packages::parse(status);
  EXPECT_FALSE(packages.installed("b"));
  EXPECT_THAT(packages.closure({"b"}).error().sentence, HasSubstr("apt install b"));
}

std::string octal(const std::string& tar, std::size_t at, std::size_t width) { return tar.substr(at, width - 1); }

TEST(TarWriter, HeadersHoldWhatReadersCheck) {
  std::string tar;
  const Sink sink = [&](std::string_view bytes) -> Result<void> {
    tar.append(bytes);
    return {};
  };
  TarWriter writer(sink);
  ASSERT_TRUE(writer.file("a/b", "hello", 04755));
  ASSERT_TRUE(writer.link("l", "a/b"));
  ASSERT_TRUE(writer.finish());
  ASSERT_EQ(tar.size(), 512U * 5);
  EXPECT_EQ(tar.substr(0, 4), std::string("a/b\0", 4));
  EXPECT_EQ(octal(tar, 100, 8), "0000755") << "setuid must not get into an image";
  EXPECT_EQ(octal(tar, 124, 12), "00000000005");
  EXPECT_EQ(tar.substr(257, 8), std::string("ustar\00000", 8));
  EXPECT_EQ(tar.substr(512, 5), "hello");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(tar[i]);
  EXPECT_EQ(octal(tar, 148, 7), fmt::format("{:06o}", sum));
  EXPECT_EQ(tar[1024 + 156], '2');
  EXPECT_EQ(tar.substr(1024 + 157, 3), "a/b");
}

TEST(TarWriter, LongNamesAreWhole) {
  std::string tar;
  const Sink sink = [&](std::string_view bytes) -> Result<void> {
    tar.append(bytes);
    return {};
  };
  TarWriter writer(sink);
  const std::string name(180, 'n');
  ASSERT_TRUE(writer.directory(name, 0755));
  EXPECT_EQ(tar[156], 'L');
  EXPECT_EQ(tar.substr(512, 181), name + "/");
  EXPECT_EQ(tar[1024 + 156], '5');
}

}  // namespace
}  // namespace cordon::sandbox::image
