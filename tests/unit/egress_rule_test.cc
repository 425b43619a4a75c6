#include "policy/egress/egress_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "policy/egress/special_addresses.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;

struct Good {
  const char* text;
  const char* normal;
};

constexpr Good good[] = {
    {"api.example.org", "api.example.org:443"},
    {"API.Example.ORG.:8443", "api.example.org:8443"},
    {"*.example.org", "*.example.org:443"},
    {"*.Example.org.:80", "*.example.org:80"},
    {"localhost:5432", "localhost:5432"},
    {"xn--bcher-kva.example", "xn--bcher-kva.example:443"},
    {"10.0.0.0/8:5432", "10.0.0.0/8:5432"},
    {"203.0.113.7", "203.0.113.7/32:443"},
    {"0.0.0.0/0:443", "0.0.0.0/0:443"},
    {"[fd00::]/8:443", "[fd00::]/8:443"},
    {"[2001:db8::1]", "[2001:db8::1]/128:443"},
    {"[2000::]/3", "[2000::]/3:443"},
    {"[::1]:80", "[::1]/128:80"},
};

TEST(EgressRule, GoodEntriesAreReadAndHaveOneNormalForm) {
  for (const Good& test : good) {
    const auto rule = parse_egress_rule(test.text);
    ASSERT_TRUE(rule.has_value()) << rule.error().text;
    EXPECT_EQ(text_of(*rule), test.normal);
    EXPECT_EQ(parse_egress_rule(text_of(*rule)), rule) << test.text;
  }
}

TEST(EgressRule, ARangeIsHeldAsTheBitsOfAnIpv6Address) {
  const auto rule = parse_egress_rule("10.0.0.0/8:5432");
  ASSERT_TRUE(rule.has_value());
  EXPECT_EQ(rule->target, EgressTarget::range);
  EXPECT_EQ(rule->prefix, 104);
  EXPECT_EQ(rule->address, (InternetAddress{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10}));
}

struct Bad {
  const char* text;
  const char* problem;
};

constexpr Bad bad[] = {
    {"", "is no host name"},
    {"*", "would be every name"},
    {"*:443", "would be every name"},
    {"*.", "is no host name"},
    {"a.*.org", "is no host name"},
    {"*example.org", "is no host name"},
    {"exa mple.org", "is no host name"},
    {"-a.org", "is no host name"},
    {"a..org", "is no host name"},
    {"https://example.org", "a host name stands here, not a URL"},
    {"https://example.org:443/x", "not a URL"},
    {"example.org/path", "not a URL"},
    {"example.org:443/path", "not a URL"},
    {"*.example.org/", "not a URL"},
    {"b\xc3\xbc"
     "cher.example",
     "is not ASCII"},
    {"example.org:", "has no port"},
    {"example.org:0", "has no port"},
    {"example.org:65536", "has no port"},
    {"example.org:080", "has no port"},
    {"example.org:44x", "has no port"},
    {"10.1", "is no host name"},
    {"010.0.0.1", "is no host name"},
    {"2130706433", "is no host name"},
    {"10.0.0.1/8", "has bits set beyond"},
    {"10.0.0.0/33", "has no prefix of 0 to 32"},
    {"10.0.0.0/", "has no prefix"},
    {"fd00::1", "has no port"},
    {"[fd00::1]/7", "has bits set beyond"},
    {"[fd00::]/129", "has no prefix of 0 to 128"},
    {"[10.0.0.0]/8", "is no address range"},
    {"[fd00::", "has no port"},
    {"[fd00::]x", "is no address range"},
    {"[::]/0", "has IPv4 addresses in it"},
    {"[::]/80", "has IPv4 addresses in it"},
    {"[::ffff:10.0.0.0]/104", "has IPv4 addresses in it"},
    {"[::ffff:0:0]/96", "has IPv4 addresses in it"},
};

TEST(EgressRule, WhatCouldBeReadTwoWaysIsRefusedWithAReason) {
  for (const Bad& test : bad) {
    const auto rule = parse_egress_rule(test.text);
    ASSERT_FALSE(rule.has_value()) << test.text << " became " << text_of(*rule);
    EXPECT_THAT(rule.error().text, HasSubstr(test.problem)) << test.text;
    EXPECT_THAT(rule.error().text, HasSubstr("allowed: ")) << test.text;
  }
}

TEST(EgressRule, ALongNameIsRefused) {
  EXPECT_FALSE(parse_egress_rule(std::string(64, 'a') + ".org").has_value());
  EXPECT_FALSE(parse_egress_rule(std::string(100'000, 'a')).has_value());
}

struct Kind {
  const char* range;
  const char* kinds;
};

constexpr Kind kinds[] = {
    {"93.184.216.34", ""},
    {"8.8.8.0/24", ""},
    {"10.0.0.0/8", "private"},
    {"10.1.2.3", "private"},
    {"172.16.0.0/12", "private"},
    {"172.32.0.0/16", ""},
    {"192.168.1.0/24", "private"},
    {"127.0.0.1", "loopback"},
    {"169.254.169.254", "link-local, cloud metadata"},
    {"168.63.129.16", "cloud metadata"},
    {"100.100.100.200", "shared by a provider's customers"},
    {"0.0.0.0", "this host"},
    {"224.0.0.1", "multicast"},
    {"255.255.255.255", "reserved"},
    {"198.18.0.1", "the cell's own"},
    {"[2606:4700::1111]", ""},
    {"[::1]", "loopback"},
    {"[fd00:ec2::254]", "private"},
    {"[fe80::1]", "link-local, cloud metadata"},
    {"[64:ff9b::a00:1]", "IPv4 by NAT64: private"},
    {"[64:ff9b::7f00:0]/104", "IPv4 by NAT64: loopback"},
    {"[64:ff9b::808:808]", ""},
    {"[2002:a00:1::]/48", "6to4"},
    {"[2001:db8::]/32", "reserved"},
    {"[4000::]/3", "reserved"},
};

TEST(SpecialAddresses, EachIsKnownByWhatItIsFor) {
  for (const Kind& test : kinds) {
    const auto rule = parse_egress_rule(test.range);
    ASSERT_TRUE(rule.has_value()) << test.range;
    EXPECT_EQ(special_kinds(*rule), test.kinds) << test.range;
    EXPECT_EQ(is_special(rule->address), *test.kinds != '\0') << test.range;
  }
}

TEST(SpecialAddresses, AWideRangeNamesAllThatItHas) {
  EXPECT_THAT(special_kinds(*parse_egress_rule("0.0.0.0/0")),
              testing::AllOf(HasSubstr("private"), HasSubstr("loopback"), HasSubstr("metadata")));
  EXPECT_THAT(special_kinds(*parse_egress_rule("[8000::]/1")), HasSubstr("private"));
  for (const char* range : {"[64:ff9b::]/96", "[64::]/16"}) {
    EXPECT_THAT(special_kinds(*parse_egress_rule(range)),
                testing::AllOf(HasSubstr("NAT64"), HasSubstr("private"), HasSubstr("loopback")))
        << range;
  }
}

TEST(EgressProposal, IsTheNarrowestRuleForATarget) {
  struct Case {
    const char* target;
    const char* rule;
  };
  for (const Case& test :
       {Case{"api.example.org:443", "api.example.org:443"},
        Case{"10.0.0.7:5432", "10.0.0.7/32:5432"}, Case{"127.0.0.1:5432", "127.0.0.1/32:5432"},
        Case{"[fd00::1]:80", "[fd00::1]/128:80"},
        Case{"93.184.216.34:80", "93.184.216.34/32:80"}}) {
    EXPECT_EQ(propose_egress_rule(test.target).rule, test.rule);
    EXPECT_EQ(propose_egress_rule(test.target).why, "");
  }
}

TEST(EgressProposal, IsNoneThatCheckRefusesOrThatHandsOutCredentials) {
  for (const char* target :
       {"0.0.0.0:80", "[::]:80", "[fe80::1]:80", "169.254.169.254:80", "100.100.100.200:80",
        "[fd00:ec2::254]:80", "168.63.129.16:80", "224.0.0.1:80", "255.255.255.255:80",
        "[ff02::1]:80", "198.18.0.1:80", "localhost:80", "a.localhost:80", "10.0.0.1:53",
        "(others)", "", "127.1:80"}) {
    EXPECT_EQ(propose_egress_rule(target).rule, "") << target;
    EXPECT_NE(propose_egress_rule(target).why, "") << target;
  }
}

TEST(EgressProposal, MayAlwaysBeDeclared) {
  for (const char* target : {"a.org:443", "10.0.0.7:5432", "127.0.0.1:1", "[2606:4700::1]:443"}) {
    const std::string text = propose_egress_rule(target).rule;
    const auto rule = parse_egress_rule(text);
    ASSERT_TRUE(rule.has_value()) << text;
    EXPECT_EQ(declaration_problem(*rule, text), "") << text;
  }
}

}  // namespace
}  // namespace cellblock
