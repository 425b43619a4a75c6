#include "policy/base/units.h"

#include <gtest/gtest.h>

namespace cellblock {
namespace {

using std::chrono::milliseconds;

TEST(Units, ReadsSizesWithBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_size("512MiB"), 512ULL << 20);
  EXPECT_EQ(parse_size("2GiB"), 2ULL << 30);
  EXPECT_EQ(parse_size("1TiB"), 1ULL << 40);
  EXPECT_EQ(parse_size("64KiB"), 65'536ULL);
  EXPECT_EQ(parse_size("1MB"), 1'000'000ULL);
  EXPECT_EQ(parse_size("100B"), 100ULL);
}

TEST(Units, RefusesSizesThatCouldBeReadTwoWays) {
  for (const char* text :
       {"", "512", "MiB", "512 MiB", "512M", "512mib", "1.5GiB", "-1B", "+1B", " 1B", "1B ",
        "0x10B", "99999999999999999999B", "18446744073709551615KiB"}) {
    EXPECT_FALSE(parse_size(text).has_value()) << text;
  }
}

TEST(Units, ReadsTimes) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("30s"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("2m"), milliseconds(120'000));
  EXPECT_EQ(parse_duration("24h"), milliseconds(86'400'000));
  EXPECT_EQ(parse_duration("7d"), milliseconds(604'800'000));
  EXPECT_EQ(duration_text(milliseconds(604'800'000)), "7d");
}

TEST(Units, RefusesTimesWithoutAUnitOrBeyondAMonth) {
  for (const char* text : {"", "30", "s", "30 s", "745h", "32d", "1.5s", "-1s", "30sec"}) {
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
  }
}

TEST(Units, ReadsModesAsFourOctalDigits) {
  EXPECT_EQ(parse_mode("0660"), 0660U);
  EXPECT_EQ(parse_mode("0600"), 0600U);
  for (const char* text : {"", "660", "0999", "1777", "00660", "066x", "-660"}) {
    EXPECT_FALSE(parse_mode(text).has_value()) << text;
  }
}

TEST(Units, SaysWhatIsAllowed) {
  EXPECT_NE(parse_size("512M").error().text.find("allowed:"), std::string::npos);
  EXPECT_NE(parse_size("1MiB/s").error().text.find("a size per second"), std::string::npos);
  EXPECT_NE(parse_duration("30").error().text.find("allowed:"), std::string::npos);
  EXPECT_NE(parse_mode("660").error().text.find("allowed:"), std::string::npos);
}

TEST(Units, WritesTheLargestUnitThatDivides) {
  EXPECT_EQ(size_text(512ULL << 20), "512MiB");
  EXPECT_EQ(size_text(1'000'000), "1MB");
  EXPECT_EQ(size_text(1001), "1001B");
  EXPECT_EQ(size_text(0), "0B");
  EXPECT_EQ(duration_text(milliseconds(90'000)), "90s");
  EXPECT_EQ(duration_text(milliseconds(1)), "1ms");
  EXPECT_EQ(mode_text(0660), "0660");
}

}  // namespace
}  // namespace cellblock
