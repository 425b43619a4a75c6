#include "policy/egress/egress_policy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>

namespace cellblock {
namespace {

InternetAddress address(const std::string& text) {
  InternetAddress parsed{};
  const std::string whole = text.find(':') == text.npos ? "::ffff:" + text : text;
  EXPECT_EQ(::inet_pton(AF_INET6, whole.c_str(), parsed.data()), 1) << text;
  return parsed;
}

EgressRule name(std::string host, std::uint16_t port = 443) {
  return {.target = EgressTarget::name, .host = std::move(host), .port = port};
}

EgressRule suffix(std::string host, std::uint16_t port = 443) {
  return {.target = EgressTarget::suffix, .host = std::move(host), .port = port};
}

EgressRule range(const std::string& text, std::uint8_t prefix, std::uint16_t port) {
  return {.target = EgressTarget::range, .address = address(text), .prefix = prefix, .port = port};
}

class SpecialAddress : public testing::TestWithParam<const char*> {};
class PublicAddress : public testing::TestWithParam<const char*> {};

TEST_P(SpecialAddress, IsOne) { EXPECT_TRUE(is_special(address(GetParam()))) << GetParam(); }
TEST_P(PublicAddress, IsNotSpecial) { EXPECT_FALSE(is_special(address(GetParam()))) << GetParam(); }

INSTANTIATE_TEST_SUITE_P(
    All, SpecialAddress,
    testing::Values(
        "0.0.0.0", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.100.100.200",
        "100.127.255.255", "127.0.0.1", "127.255.255.255", "168.63.129.16", "169.254.0.1",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.7",
        "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255",
        "198.51.100.9", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1",
        "64:ff9b::127.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::1", "100::1", "100:0:0:1::1",
        "2001::1", "2001:2::1", "2001:10::1", "2001:1ff:ffff::1", "2001:db8::1", "2002:7f00:1::1",
        "2002:a00:1::", "2002:c0a8:1::1", "2002:101:101::1", "3fff::1", "3fff:fff::1", "5f00::1",
        "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1"));

INSTANTIATE_TEST_SUITE_P(All, PublicAddress,
                         testing::Values("1.1.1.1", "9.255.255.255", "11.0.0.0", "93.184.216.34",
                                         "100.63.255.255", "100.128.0.0", "126.255.255.255",
                                         "128.0.0.1", "168.63.129.17", "169.253.255.1",
                                         "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.0.1",
                                         "198.17.255.255", "198.20.0.0", "203.0.114.1",
                                         "223.255.255.255", "64:ff9b::1.1.1.1", "2001:200::1",
                                         "2001:4860:4860::8888", "2606:4700::1111", "3fff:1000::1",
                                         "2a00:1450::1"));

TEST(HostName, IsComparedInOneSpelling) {
  EXPECT_EQ(normal_host_name("Api.GitHub.COM."), "api.github.com");
  EXPECT_EQ(normal_host_name("_dmarc.a-b.x1"), "_dmarc.a-b.x1");
  EXPECT_EQ(normal_host_name(std::string(63, 'a') + ".b"), std::string(63, 'a') + ".b");
}

TEST(HostName, IsNotWhatAReaderCouldTakeForSomethingElse) {
  using namespace std::literals;
  for (const auto text :
       {""sv,       "."sv,           "a..b"sv,       ".a"sv,      "a.."sv,  "-a.b"sv,
        "a-.b"sv,   "a b"sv,         "a\0b"sv,       "a/b"sv,     "a:1"sv,  "127.1"sv,
        "0x7f.1"sv, "0x7f000001"sv,  "2130706433"sv, "1.2.3.4"sv, "a.0x"sv, "[::1]"sv,
        "::1"sv,    "\xc3\xa4.de"sv, "a@b"sv,        "a%00.b"sv}) {
    EXPECT_EQ(normal_host_name(text), std::nullopt) << text;
  }
  EXPECT_EQ(normal_host_name(std::string(64, 'a')), std::nullopt);
  std::string longest = "a";
  while (longest.size() < 253) longest += ".a";
  EXPECT_TRUE(normal_host_name(longest));
  EXPECT_EQ(normal_host_name(longest + ".a"), std::nullopt);
}

TEST(EgressRules, AllowNothingWhenEmpty) {
  const Egress egress;
  EXPECT_FALSE(may_look_up(egress, "a.org"));
  EXPECT_FALSE(may_connect_to_name(egress, "a.org", 443));
  EXPECT_FALSE(may_connect_to_address(egress, address("1.1.1.1"), 443));
}

TEST(EgressRules, CompareWholeNamesAndThePort) {
  const Egress egress{.allow = {name("api.example.org"), name("ssh.example.org", 22)}};
  EXPECT_TRUE(may_connect_to_name(egress, "api.example.org", 443));
  EXPECT_FALSE(may_connect_to_name(egress, "api.example.org", 22));
  EXPECT_TRUE(may_connect_to_name(egress, "ssh.example.org", 22));
  EXPECT_TRUE(may_look_up(egress, "ssh.example.org"));
  EXPECT_FALSE(may_look_up(egress, "x.api.example.org"));
  EXPECT_FALSE(may_look_up(egress, "api.example.org.evil.net"));
  EXPECT_FALSE(may_look_up(egress, "example.org"));
}

TEST(EgressRules, MatchSuffixesAtALabel) {
  const Egress egress{.allow = {suffix("example.org")}};
  EXPECT_TRUE(may_look_up(egress, "a.example.org"));
  EXPECT_TRUE(may_look_up(egress, "a.b.example.org"));
  EXPECT_FALSE(may_look_up(egress, "example.org"));
  EXPECT_FALSE(may_look_up(egress, "evilexample.org"));
  EXPECT_FALSE(may_look_up(egress, "example.org.evil.net"));
  EXPECT_FALSE(may_connect_to_name(egress, "a.example.org", 80));
}

TEST(EgressRules, MatchRangesByBitsAndPort) {
  const Egress egress{.allow = {range("10.1.0.0", 112, 5432), range("192.168.4.0", 118, 80),
                                range("fd00::", 8, 443), range("::", 0, 9)}};
  EXPECT_TRUE(may_connect_to_address(egress, address("10.1.255.255"), 5432));
  EXPECT_FALSE(may_connect_to_address(egress, address("10.2.0.0"), 5432));
  EXPECT_FALSE(may_connect_to_address(egress, address("10.1.0.1"), 443));
  EXPECT_TRUE(may_connect_to_address(egress, address("192.168.7.255"), 80));
  EXPECT_FALSE(may_connect_to_address(egress, address("192.168.8.0"), 80));
  EXPECT_TRUE(may_connect_to_address(egress, address("fdff::1"), 443));
  EXPECT_FALSE(may_connect_to_address(egress, address("fe80::1"), 443));
  EXPECT_TRUE(may_connect_to_address(egress, address("2606::1"), 9));
}

TEST(EgressRules, LetANameLeadToAPrivateAddressOnlyWhereARangeNamesIt) {
  const Egress egress{.allow = {name("db.corp", 5432), range("10.0.0.0", 104, 5432)}};
  EXPECT_TRUE(may_dial(egress, address("93.184.216.34"), 5432));
  EXPECT_TRUE(may_dial(egress, address("10.9.9.9"), 5432));
  EXPECT_FALSE(may_dial(egress, address("10.9.9.9"), 443));
  EXPECT_TRUE(may_dial_on_some_port(egress, address("10.9.9.9")));
  EXPECT_FALSE(may_dial_on_some_port(egress, address("127.0.0.1")));
  EXPECT_FALSE(may_dial(egress, address("169.254.169.254"), 5432));
}

TEST(EgressRules, NameExactlyNoMoreThanThereAreRules) {
  const Egress egress{.allow = {name("a.org"), suffix("b.org"), range("10.0.0.1", 128, 5432),
                                range("10.1.0.0", 112, 5432)}};
  EXPECT_TRUE(is_named_exactly(egress, "a.org", address("1.1.1.1"), 443));
  EXPECT_FALSE(is_named_exactly(egress, "a.org", {}, 80));
  EXPECT_FALSE(is_named_exactly(egress, "x.b.org", {}, 443));
  EXPECT_TRUE(is_named_exactly(egress, "", address("10.0.0.1"), 5432));
  EXPECT_FALSE(is_named_exactly(egress, "", address("10.1.0.1"), 5432));
  EXPECT_FALSE(is_named_exactly(egress, "x.org", address("10.0.0.1"), 5432));
}

}  // namespace
}  // namespace cellblock
