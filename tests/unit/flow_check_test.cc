#include "policy/config_check/flow_check.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "policy/config_reader/config_text.h"

namespace cellblock {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct CheckedFlows {
  FlowRules rules;
  FlowTools tools;
  std::vector<Complaint> complaints;
};

CheckedFlows check_text(const std::string& main, const std::string& server = "",
                        NetworkMode network = NetworkMode::egress) {
  Complaints complaints;
  const ConfigText text =
      parse_config_text(main + "\n[server.web]\n" + server, "c.toml", FileRole::main, complaints);
  CheckedFlows checked;
  HostFacts facts;
  facts.users["carol"].uid = 1001;
  const Identity identity;
  checked.rules = check_flows(complaints, text, {identity, facts});
  Server declared;
  declared.network = network;
  const Scope scope{complaints, "c.toml", "server.web."};
  checked.tools = check_flow_tools(scope, text.servers.at(0), declared);
  checked.complaints = complaints.take_sorted();
  return checked;
}

TEST(FlowCheck, WhatIsNotSaidIsOffAndLeftToTheCell) {
  const CheckedFlows checked = check_text("");
  EXPECT_EQ(checked.rules, FlowRules{});
  EXPECT_EQ(checked.rules.trifecta, FlowEffect::off);
  EXPECT_EQ(checked.tools, FlowTools{});
  EXPECT_THAT(checked.complaints, IsEmpty());
}

TEST(FlowCheck, TakesEachKey) {
  const CheckedFlows checked =
      check_text("[flows]\ntrifecta = \"ask\"\napprover = \"user\"\napproval_timeout = \"30s\"",
                 "flows = { untrusted = [\"get_*\"], private = [], egress = [\"send\"], "
                 "destructive = [\"delete_*\"] }");
  EXPECT_THAT(checked.complaints, IsEmpty());
  EXPECT_EQ(checked.rules, (FlowRules{FlowEffect::ask, Approver::user, 30s, {}}));
  EXPECT_EQ(checked.tools.untrusted, (std::vector<NamePattern>{{"get_", true}}));
  EXPECT_EQ(checked.tools.private_data, std::vector<NamePattern>{});
  EXPECT_EQ(checked.tools.egress, (std::vector<NamePattern>{{"send", false}}));
  EXPECT_EQ(checked.tools.destructive, (std::vector<NamePattern>{{"delete_", true}}));
}

const std::string whole_rule = R"([[flows.rule]]
after = ["untrusted", "private"]
before = ["egress", "destructive"]
copied = true
effect = "ask"
approver = "user"
approval_timeout = "30s"
users = ["carol"]
servers = ["web"]
tools = ["post", "delete_*"]
)";

TEST(FlowCheck, TakesEachKeyOfARule) {
  const CheckedFlows checked = check_text(whole_rule);
  EXPECT_THAT(checked.complaints, IsEmpty());
  ASSERT_THAT(checked.rules.rules, SizeIs(1));
  const FlowRule& rule = checked.rules.rules[0];
  EXPECT_EQ(rule.name, "flows.rule[1]");
  EXPECT_EQ(rule.line, 1U);
  EXPECT_TRUE(rule.after.has(FlowLabel::untrusted) && rule.after.has(FlowLabel::private_data));
  EXPECT_TRUE(rule.before.has(FlowLabel::egress) && rule.before.has(FlowLabel::destructive));
  EXPECT_FALSE(rule.before.has(FlowLabel::untrusted));
  EXPECT_TRUE(rule.copied);
  EXPECT_EQ(rule.effect, FlowEffect::ask);
  EXPECT_EQ(rule.approver, Approver::user);
  EXPECT_EQ(rule.approval_time, 30s);
  EXPECT_FALSE(rule.binds_everybody);
  EXPECT_EQ(rule.uids, std::vector<std::uint32_t>{1001});
  EXPECT_EQ(rule.servers, std::vector<std::string>{"web"});
  EXPECT_EQ(rule.tools, (std::vector<NamePattern>{{"post", false}, {"delete_", true}}));
}

TEST(FlowCheck, ARuleThatNamesNobodyBindsEverybody) {
  const CheckedFlows checked =
      check_text("[[flows.rule]]\nafter = [\"private\"]\nbefore = [\"egress\"]\neffect = \"log\"");
  EXPECT_THAT(checked.complaints, IsEmpty());
  EXPECT_TRUE(checked.rules.rules.at(0).binds_everybody);
}

TEST(FlowCheck, RefusesARuleThatSaysTooLittleOrTooMuch) {
  const std::string good =
      "[[flows.rule]]\nafter = [\"private\"]\nbefore = [\"egress\"]\neffect = \"log\"\n";
  const auto rule_with = [](const std::string& after, const std::string& before,
                            const std::string& effect) {
    return "[[flows.rule]]\n" + after + "\n" + before + "\n" + effect + "\n";
  };
  const std::string after = "after = [\"private\"]";
  const std::string before = "before = [\"egress\"]";
  const std::string effect = "effect = \"log\"";
  for (const std::string& wrong : {
           rule_with("", before, effect),
           rule_with(after, "", effect),
           rule_with(after, before, ""),
           rule_with("after = []", before, effect),
           rule_with("after = [\"egress\"]", before, effect),
           rule_with(after, "before = [\"secret\"]", effect),
           rule_with(after, before, "effect = \"off\""),
           good + "approver = \"user\"",
           good + "servers = []",
           good + "tools = []",
           good + "users = [\"nobody-here\"]",
       }) {
    EXPECT_THAT(check_text(wrong).complaints, SizeIs(1)) << wrong;
  }
  std::string many;
  for (int i = 0; i < 65; ++i) many += good;
  EXPECT_THAT(check_text(many).complaints, SizeIs(1));
}

TEST(FlowCheck, SaysOfAKeyOfTheWrongTypeThatAlone) {
  const CheckedFlows checked = check_text(
      "[[flows.rule]]\nafter = \"untrusted\"\nbefore = 5\neffect = 7\n[[flows.rule]]\n"
      "after = [\"private\"]\nbefore = [\"egress\"]");
  std::vector<std::string> lines;
  for (const Complaint& complaint : checked.complaints) lines.push_back(to_line(complaint));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("flows.rule[1].after: is a string"),
                                 HasSubstr("flows.rule[1].before: is an integer"),
                                 HasSubstr("flows.rule[1].effect: is an integer"),
                                 HasSubstr("flows.rule[2].effect: is missing")));
}

TEST(FlowCheck, TakesNoProgramForPrivateData) {
  Complaints complaints;
  const Scope scope{complaints, "c.toml", "server.web."};
  const auto tools_of = [&](const std::string& lines) {
    const ConfigText text =
        parse_config_text("[server.web]\n" + lines, "c.toml", FileRole::main, complaints);
    Server server;
    server.network = NetworkMode::egress;
    server.binds.push_back({.source = "/opt/web", .target = "/opt/web"});
    return check_flow_tools(scope, text.servers.at(0), server);
  };
  const std::string program = "program = \"/opt/web\"\n";
  EXPECT_TRUE(tools_of(program).sees_program_alone);
  EXPECT_EQ(tools_of(program).private_data, std::nullopt) << "nobody has declared a list";
  EXPECT_EQ(tools_of(program + "flows = { private = [\"get\"] }").private_data,
            (std::vector<NamePattern>{{"get", false}}));
  for (const char* more :
       {"read = [\"/srv\"]", "write = [\"/srv\"]", "home_files = { a = \"/a\" }"}) {
    EXPECT_FALSE(tools_of(program + more).sees_program_alone) << more;
    EXPECT_EQ(tools_of(program + more).private_data, std::nullopt) << more;
  }
}

TEST(FlowCheck, WarnsOfWhatDoesNothing) {
  const CheckedFlows whom = check_text("[flows]\ntrifecta = \"deny\"\napprover = \"user\"");
  ASSERT_THAT(whom.complaints, SizeIs(1));
  EXPECT_THAT(whom.complaints[0].text, HasSubstr("does nothing without trifecta = \"ask\""));
  const CheckedFlows sends = check_text("", "flows = { egress = [\"send\"] }", NetworkMode::none);
  ASSERT_THAT(sends.complaints, SizeIs(1));
  EXPECT_EQ(sends.complaints[0].key, "server.web.flows.egress");
  EXPECT_THAT(sends.complaints[0].text, HasSubstr("sends nothing to others"));
}

TEST(FlowCheck, RefusesWhatIsNoEffectAndNoPattern) {
  EXPECT_THAT(check_text("[flows]\ntrifecta = \"maybe\"").complaints, SizeIs(1));
  EXPECT_THAT(check_text("", "flows = { untrusted = [\"a*b\"] }").complaints, SizeIs(1));
  EXPECT_THAT(check_text("", "flows = { secret = [] }").complaints, SizeIs(1));
}

}  // namespace
}  // namespace cellblock
