#include "base/clock.h"

#include <gtest/gtest.h>

namespace cordon {
namespace {

using namespace std::chrono_literals;

TEST(Time, IsWrittenAndReadAsRfc3339) {
  const auto time = from_rfc3339("2026-02-25T10:11:12.123456Z");
  ASSERT_TRUE(time);
  EXPECT_EQ(to_rfc3339(*time), "2026-02-25T10:11:12.123456Z");
  EXPECT_EQ(day_of(*time), "2026-02-25");
  EXPECT_EQ(from_rfc3339("2026-02-25T12:11:12.123456+02:00"), time);
  EXPECT_EQ(to_rfc3339(*from_rfc3339("2026-02-25")), "2026-02-25T00:00:00.000000Z");
}

TEST(Time, RefusesWhatIsNotATime) {
  for (const char* text : {"", "2026", "2026-13-01", "2026-02-30", "2026-02-25T", "2026-02-25T10:11:12", "1969-01-01",
                           "2026-02-25T24:00:00Z", "2026-02-25T10:11:12.Z", "2026-02-25T10:11:12Zx", "-026-02-25",
                           "2026-02-25T10:11:12+2:00"}) {
    EXPECT_FALSE(from_rfc3339(text)) << text;
  }
}

TEST(Duration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("30s"), 30s);
  EXPECT_EQ(parse_duration("15 minutes"), 15min);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("7d"), 168h);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
}

TEST(Duration, RefusesBareNumbersSignsAndOverflow) {
  for (const char* text : {"", "30", "-5s", "s", "5 parsecs", "99999999999999999999s", "1e3s", "4000000w"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Duration, IsWrittenInItsShortestExactSpelling) {
  EXPECT_EQ(to_text(90s), "1m30s");
  EXPECT_EQ(to_text(0s), "0s");
  EXPECT_EQ(to_text(1500ms), "1s500ms");
  EXPECT_EQ(parse_duration(to_text(100h)), 100h);
}

}  // namespace
}  // namespace cordon
