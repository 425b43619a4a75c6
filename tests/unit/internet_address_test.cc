#include "policy/base/internet_address.h"

#include <gtest/gtest.h>

#include "policy/egress/special_addresses.h"

namespace cellblock {
namespace {

AddressRange range_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string host = text.substr(0, slash);
  const auto ipv4 = parse_ipv4(host);
  const auto address = ipv4 ? ipv4 : parse_ipv6(host);
  EXPECT_TRUE(address.has_value()) << text;
  const int bits = std::stoi(text.substr(slash + 1)) + (ipv4 ? ipv4_bits : 0);
  return {address.value_or(InternetAddress{}), static_cast<std::uint8_t>(bits)};
}

struct Pair {
  const char* outer;
  const char* inner;
};

TEST(AddressRanges, ContainWhatIsNarrowerAndSharesTheirBits) {
  constexpr Pair pairs[] = {
      {"10.0.0.0/8", "10.0.0.0/8"},
      {"10.0.0.0/8", "10.255.0.0/16"},
      {"198.18.0.0/15", "198.19.0.0/16"},
      {"0.0.0.0/0", "255.255.255.255/32"},
      {"::/0", "10.0.0.0/8"},
      {"fd00::/8", "fd53:6362::/64"},
      {"2001:db8::/33", "2001:db8::/34"},
      {"::1/128", "::1/128"},
  };
  for (const Pair& pair : pairs) {
    const AddressRange outer = range_of(pair.outer);
    const AddressRange inner = range_of(pair.inner);
    EXPECT_TRUE(contains(outer, inner)) << pair.outer << " " << pair.inner;
    EXPECT_EQ(contains(inner, outer), outer == inner) << pair.outer << " " << pair.inner;
    EXPECT_TRUE(overlap(outer, inner) && overlap(inner, outer)) << pair.outer << pair.inner;
    EXPECT_TRUE(is_in_range(inner.address, outer)) << pair.outer << " " << pair.inner;
  }
}

TEST(AddressRanges, ThatDifferInABitHaveNothingInCommon) {
  constexpr Pair pairs[] = {
      {"10.0.0.0/8", "11.0.0.0/8"},       {"198.18.0.0/15", "198.20.0.0/15"},
      {"198.18.0.0/15", "198.16.0.0/15"}, {"10.1.2.3/32", "10.1.2.2/32"},
      {"2000::/3", "10.0.0.0/8"},         {"2001:db8::/33", "2001:db8:8000::/33"},
  };
  for (const Pair& pair : pairs) {
    EXPECT_FALSE(overlap(range_of(pair.outer), range_of(pair.inner)))
        << pair.outer << " " << pair.inner;
  }
}

TEST(AddressRanges, WithAPrefixThatThereIsNoneOfHaveNothing) {
  EXPECT_FALSE(is_in_range({}, {{}, 129}));
  EXPECT_FALSE(is_in_range({}, {{}, 255}));
}

TEST(Addresses, AreOfTheFamilyTheyAreWrittenIn) {
  EXPECT_TRUE(is_ipv4(*parse_ipv4("1.2.3.4")));
  EXPECT_TRUE(is_ipv4(*parse_ipv6("::ffff:1.2.3.4")));
  EXPECT_FALSE(is_ipv4(*parse_ipv6("::1.2.3.4")));
  EXPECT_FALSE(is_ipv4(range_of("::/0")));
  EXPECT_TRUE(is_ipv4(range_of("0.0.0.0/0")));
  EXPECT_EQ(*parse_ipv4("1.2.3.4"), ipv4_address(1, 2, 3, 4));
}

TEST(Addresses, HaveOneSpellingOfANumber) {
  for (const char* text : {"", "1.2.3", "01.2.3.4", "0x1.2.3.4", "1.2.3.4.", "16909060", "::1"}) {
    EXPECT_FALSE(parse_ipv4(text).has_value()) << text;
  }
  for (const char* text : {"", "[::1]", ":::", "1::2::3", "fe80::1%eth0", "1.2.3.4"}) {
    EXPECT_FALSE(parse_ipv6(text).has_value()) << text;
  }
}

TEST(Addresses, AreWrittenAsTheyAreRead) {
  EXPECT_EQ(text_of(ipv4_address(10, 0, 0, 1)), "10.0.0.1");
  EXPECT_EQ(text_of(*parse_ipv6("fd00:0::1")), "fd00::1");
  EXPECT_EQ(text_of(cell_resolver), "198.18.0.1");
}

TEST(SyntheticAddresses, CoverOnlyWhatHasNothingElseInIt) {
  for (const char* text : {"198.18.0.0/15", "198.18.5.0/24", "198.19.255.255/32", "fd53:6362::/64",
                           "fd53:6362::7/128"}) {
    EXPECT_TRUE(synthetic_range.covers(range_of(text))) << text;
  }
  for (const char* text : {"198.16.0.0/12", "0.0.0.0/0", "198.20.0.0/16", "fd53:6362::/63",
                           "fd00::/8", "fd53:6362:0:1::/64"}) {
    EXPECT_FALSE(synthetic_range.covers(range_of(text))) << text;
  }
  EXPECT_TRUE(synthetic_range.has(ipv4_address(198, 19, 255, 255)));
  EXPECT_FALSE(synthetic_range.has(ipv4_address(198, 20, 0, 0)));
}

}  // namespace
}  // namespace cellblock
