#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "policy/config_check/config_check.h"

namespace cellblock {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

HostFacts facts_of_host() {
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 4096;
  facts.landlock_abi = 7;
  facts.users = {{"cellblock", {990, 991}}, {"alice", {1001, 1001}}, {"bob", {1002, 1002}}};
  facts.groups = {{"cellblock", 991}, {"agents", 2000}};
  return facts;
}

struct Checked {
  Config config;
  std::vector<std::string> errors;  ///< what is more than a warning: also what leaves out
  std::vector<std::string> warnings;
  const std::vector<Rule>& rules() const { return config.servers.at(0).rules; }
};

Checked check(const std::string& text) {
  Complaints complaints;
  const std::vector<ConfigText> texts{
      parse_config_text(text, "c.toml", FileRole::main, complaints)};
  Checked checked;
  checked.config = check_config({RunMode::system, {}, texts}, facts_of_host(), complaints);
  for (const Complaint& complaint : complaints.take_sorted()) {
    const bool is_error = complaint.severity != Complaint::Severity::warning;
    (is_error ? checked.errors : checked.warnings).push_back(complaint.key + ": " + complaint.text);
  }
  return checked;
}

const std::string roles =
    "[role.coder]\nusers = [\"alice\"]\n[role.tester]\ngroups = [\"agents\"]\n";
const std::string server = "[server.git]\ncommand = [\"/usr/bin/git-mcp\"]\n";

Checked with_rule(const std::string& lines) {
  return check(roles + server + "[[server.git.rule]]\n" + lines);
}

TEST(ConfigRules, AreReadInTheirOrderAfterTheShortForm) {
  const auto checked = check(roles + server + R"(
allow = { users = ["alice"], tools = ["git_*"], prompts = ["review"] }
[[server.git.rule]]
effect = "deny"
tools = ["git_push"]
[[server.git.rule]]
effect = "allow"
users = ["bob"]
groups = ["agents"]
roles = ["tester", "coder"]
tools = ["git_log"]
arguments = { path = { below = "/w" }, mode = { one_of = ["a", 1, true] }, n = { min = 1, max = 2.5 }, x = { equals = "y", optional = true }, z = { any = true } }
)");
  EXPECT_THAT(checked.errors, IsEmpty());
  ASSERT_EQ(checked.rules().size(), 3U);
  const Rule& allow = checked.rules()[0];
  EXPECT_EQ(allow.name, "allow");
  EXPECT_THAT(allow.prompts, ElementsAre(NamePattern{"review", false}));
  EXPECT_THAT(allow.resources, ElementsAre(NamePattern{"", true}));
  const Rule& deny = checked.rules()[1];
  EXPECT_EQ(deny.name, "rule[1]");
  EXPECT_EQ(deny.effect, Effect::deny);
  EXPECT_TRUE(deny.binds_everybody);
  EXPECT_FALSE(deny.is_about_everything);
  const Rule& last = checked.rules()[2];
  EXPECT_EQ(last.name, "rule[2]");
  EXPECT_THAT(last.uids, ElementsAre(1002U));
  EXPECT_THAT(last.gids, ElementsAre(2000U));
  EXPECT_EQ(last.roles, 3U);
  ASSERT_EQ(last.arguments.size(), 5U);
  EXPECT_EQ(last.arguments[0].argument, "mode") << "by name, as TOML has them";
  EXPECT_EQ(last.arguments[0].one_of.size(), 3U);
  EXPECT_EQ(last.arguments[1].max, 2.5);
  EXPECT_EQ(last.arguments[2].below, "/w");
  EXPECT_TRUE(last.arguments[3].is_optional);
  EXPECT_EQ(last.arguments[4].kind, ConditionKind::any);
}

TEST(ConfigRules, SayWhoIsAskedAndForHowLong) {
  const auto checked = check(roles + server + R"(
[[server.git.rule]]
effect = "ask"
users = ["alice"]
tools = ["x"]

[[server.git.rule]]
effect = "ask"
users = ["alice"]
tools = ["y"]
approver = "user"
approval_timeout = "30s"
)");
  EXPECT_THAT(checked.errors, IsEmpty());
  ASSERT_EQ(checked.rules().size(), 2U);
  EXPECT_EQ(checked.rules()[0].approver, Approver::admin);
  EXPECT_EQ(checked.rules()[0].approval_time, std::chrono::minutes{2});
  EXPECT_EQ(checked.rules()[1].approver, Approver::user);
  EXPECT_EQ(checked.rules()[1].approval_time, std::chrono::seconds{30});
}

TEST(ConfigRules, SayWhatIsWrongWithThem) {
  struct Row {
    const char* rule;
    const char* said;
  };
  const std::array rows = {
      Row{"tools = [\"x\"]", "rule[1].effect: is missing"},
      Row{"effect = \"permit\"\ntools = [\"x\"]", "\"permit\" is not known"},
      Row{"effect = \"allow\"\ntools = [\"x\"]", "rule[1].users: is missing"},
      Row{"effect = \"ask\"\ntools = [\"x\"]", "rule[1].users: is missing"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\napprover = \"user\"",
          "approver: is only of effect = \"ask\""},
      Row{"effect = \"allow\"\nusers = [\"alice\"]\ntools = [\"x\"]\napproval_timeout = \"1min\"",
          "approval_timeout: is only of effect"},
      Row{"effect = \"ask\"\nusers = [\"alice\"]\ntools = [\"x\"]\napprover = \"root\"",
          "\"root\" is not known"},
      Row{"effect = \"ask\"\nusers = [\"alice\"]\ntools = [\"x\"]\napproval_timeout = \"1d\"",
          "approval_timeout: "},
      Row{"effect = \"allow\"\nusers = [\"alice\"]", "rule[1].tools: is missing"},
      Row{"effect = \"deny\"\nroles = [\"codder\"]", "did you mean \"coder\"?"},
      Row{"effect = \"deny\"\nusers = [\"nobody-here\"]", "no user \"nobody-here\""},
      Row{"effect = \"deny\"\ntools = [\"a*b\"]", "is no tool name"},
      Row{"effect = \"deny\"\nresources = [\"a*b\"]", "is no URI"},
      Row{"effect = \"deny\"\nresources = [\"file:///a/../b/*\"]", "is no URI"},
      Row{"effect = \"deny\"\nresources = [\"x://a%2Fb/*\"]", "is no URI"},
      Row{"effect = \"deny\"\nresources = [\"/data/*\"]", "is no URI"},
      Row{"effect = \"deny\"\nprompts = [\"\"]", "is no prompt's name"},
      Row{"effect = \"deny\"\nfeatures = [\"samplings\"]", "is no feature"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\nargument = {}", "did you mean \"arguments\"?"},
      Row{"effect = \"deny\"\nprompts = [\"x\"]\narguments = { a = { any = true } }",
          "are those of tools"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\narguments = { a = {} }", "says not what"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\narguments = { a = { any = false } }",
          "says not what"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\narguments = { a = { min = 1, equals = 2 } }",
          "a: has 2 conditions at once; allowed: one of"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\narguments = { a = { min = 2, max = 1 } }",
          "above max"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\narguments = { a = { below = \"w\" } }", "below"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\narguments = { a = { one_of = [] } }", "1 to 256"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\narguments = { a = { equals = 9007199254740993 } }",
          "all parsers agree"},
      Row{"effect = \"deny\"\ntools = [\"x\"]\narguments = { a = { equals = nan } }",
          "all parsers agree"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(with_rule(row.rule).errors, Contains(HasSubstr(row.said))) << row.rule;
  }
}

TEST(ConfigRules, AreNotAnalysedWhereOneIsWrong) {
  const auto effect = with_rule("effect = \"alow\"\ntools = [\"x\"]\napprover = \"user\"");
  EXPECT_THAT(effect.errors, ElementsAre(HasSubstr("rule[1].effect: \"alow\" is not known")));
  EXPECT_THAT(effect.warnings, IsEmpty());
  const auto user = with_rule("effect = \"deny\"\nusers = [\"alise\"]\ntools = [\"x\"]");
  EXPECT_THAT(user.errors, ElementsAre(HasSubstr("no user \"alise\"")));
  EXPECT_THAT(user.warnings, IsEmpty());
  const auto key = with_rule(
      "effect = \"allow\"\nusers = [\"alice\"]\ntools = [\"x\"]\n"
      "[[server.git.rule]]\neffect = \"deny\"\ntols = [\"x\"]");
  EXPECT_THAT(key.errors, ElementsAre(HasSubstr("tols: unknown key")));
  EXPECT_THAT(key.warnings, IsEmpty());
}

TEST(ConfigRules, SayHowManyConditionsThereMayBe) {
  std::string conditions;
  for (int i = 0; i < 65; ++i) conditions += "arguments.a" + std::to_string(i) + ".any = true\n";
  const auto checked = with_rule("effect = \"deny\"\ntools = [\"x\"]\n" + conditions);
  EXPECT_THAT(checked.errors,
              ElementsAre(HasSubstr("rule[1].arguments: has 65 entries; allowed: at most 64")));
}

TEST(ConfigRules, AreWarnedOfWhereTheyCanNeverMatch) {
  struct Row {
    const char* rules;
    const char* said;
  };
  const std::array rows = {
      Row{"[[server.git.rule]]\neffect = \"deny\"\nusers = []\ntools = [\"x\"]",
          "rule[1]: can never match: it names no user"},
      Row{"[[server.git.rule]]\neffect = \"allow\"\nusers = [\"alice\"]\ntools = []",
          "rule[1]: can never match: it names no tool"},
      Row{"[[server.git.rule]]\neffect = \"allow\"\nusers = [\"alice\"]\ntools = [\"push\"]\n"
          "[[server.git.rule]]\neffect = \"deny\"\ntools = [\"p*\"]",
          "rule[1].tools: \"push\" can never match: rule[2]"},
      Row{"[[server.git.rule]]\neffect = \"ask\"\nroles = [\"coder\"]\ntools = [\"push*\"]\n"
          "[[server.git.rule]]\neffect = \"deny\"\nroles = [\"coder\"]",
          "\"push*\" can never match"},
      Row{"[[server.git.rule]]\neffect = \"allow\"\nusers = [\"alice\"]\n"
          "features = [\"sampling\"]",
          "client_features does not name it"},
      Row{"[[server.git.rule]]\neffect = \"ask\"\nusers = [\"alice\"]\n"
          "features = [\"roots\"]",
          "for which nobody is asked"},
      Row{"[[server.git.rule]]\neffect = \"deny\"\ntools = [\"x\"]", "nobody can use"},
  };
  for (const Row& row : rows) {
    const auto checked = check(roles + server + row.rules);
    EXPECT_THAT(checked.errors, IsEmpty()) << row.rules;
    EXPECT_THAT(checked.warnings, Contains(HasSubstr(row.said))) << row.rules;
  }
}

TEST(ConfigRules, AreNotWarnedOfWhereTheyCan) {
  const auto checked = check(roles + server + R"(
[[server.git.rule]]
effect = "allow"
users = ["alice", "bob"]
tools = ["push", "pull"]
[[server.git.rule]]
effect = "deny"
users = ["bob"]
tools = ["push"]
[[server.git.rule]]
effect = "deny"
tools = ["pull"]
arguments = { force = { equals = true } }
)");
  EXPECT_THAT(checked.errors, IsEmpty());
  EXPECT_THAT(checked.warnings, IsEmpty());
}

TEST(ConfigRoles, AreSortedByNameAndChecked) {
  const auto checked = check("[role.b]\nusers = [\"alice\"]\n[role.a]\ngroups = [\"agents\"]\n" +
                             server + "allow = { users = [\"alice\"], tools = [\"*\"] }\n");
  ASSERT_EQ(checked.config.roles.size(), 2U);
  EXPECT_EQ(checked.config.roles[0].name, "a");
  EXPECT_THAT(checked.config.roles[1].uids, ElementsAre(1001U));
  EXPECT_THAT(check("[role.X]\nusers = [\"alice\"]\n").errors,
              Contains(HasSubstr("is no role's name")));
  EXPECT_THAT(check("[role.x]\nusers = [\"who\"]\n").errors, Contains(HasSubstr("no user")));
  EXPECT_THAT(check("[role.x]\n").warnings, Contains(HasSubstr("nobody can take it")));
}

}  // namespace
}  // namespace cellblock
