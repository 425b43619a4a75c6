#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "policy/flows/rule_match.h"
#include "policy/flows/tool_labels.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;

using enum FlowLabel;

enum class Holds { nothing, file, workspace, secret };

Server server_with(NetworkMode network, Holds holds) {
  Server server;
  server.name = "s";
  server.network = network;
  if (holds == Holds::file) server.binds.emplace_back();
  if (holds == Holds::workspace) server.workspace.emplace();
  if (holds == Holds::secret) server.secrets.push_back({.name = "KEY", .from = "/key"});
  return server;
}

FlowLabels labels(const std::vector<FlowLabel>& list) {
  FlowLabels all;
  for (const FlowLabel label : list) all.add(label);
  return all;
}

struct Row {
  NetworkMode network;
  Holds holds;
  std::vector<FlowLabel> expected;
};

TEST(ToolLabels, OfAServerThatDeclaresNoneAreWhatItsCellPermits) {
  const Row rows[] = {
      {NetworkMode::none, Holds::nothing, {}},
      {NetworkMode::none, Holds::file, {private_data}},
      {NetworkMode::none, Holds::workspace, {private_data}},
      {NetworkMode::none, Holds::secret, {private_data}},
      {NetworkMode::loopback, Holds::nothing, {}},
      {NetworkMode::loopback, Holds::file, {private_data}},
      {NetworkMode::loopback, Holds::workspace, {private_data}},
      {NetworkMode::loopback, Holds::secret, {private_data}},
      {NetworkMode::egress, Holds::nothing, {untrusted, egress}},
      {NetworkMode::egress, Holds::file, {untrusted, private_data, egress}},
      {NetworkMode::egress, Holds::workspace, {untrusted, private_data, egress}},
      {NetworkMode::egress, Holds::secret, {untrusted, private_data, egress}},
      {NetworkMode::host, Holds::nothing, {untrusted, egress}},
      {NetworkMode::host, Holds::file, {untrusted, private_data, egress}},
      {NetworkMode::host, Holds::workspace, {untrusted, private_data, egress}},
      {NetworkMode::host, Holds::secret, {untrusted, private_data, egress}},
  };
  for (const Row& row : rows) {
    const Server server = server_with(row.network, row.holds);
    EXPECT_EQ(labels_of_tool(server, "t"), labels(row.expected))
        << static_cast<int>(row.network) << " " << static_cast<int>(row.holds);
    EXPECT_EQ(labels_of_content(server), labels(row.expected));
  }
}

TEST(ToolLabels, AreThoseThatAreDeclared) {
  Server server = server_with(NetworkMode::egress, Holds::secret);
  server.flows.untrusted = {{"get_issue", false}};
  server.flows.private_data = {};
  server.flows.egress = {{"create_", true}};
  EXPECT_EQ(labels_of_tool(server, "get_issue"), labels({untrusted, private_data}))
      << "an absent list leaves it to the cell";
  server.flows.private_data.emplace();
  EXPECT_EQ(labels_of_tool(server, "get_issue"), labels({untrusted}));
  EXPECT_EQ(labels_of_tool(server, "create_issue"), labels({egress}));
  EXPECT_EQ(labels_of_tool(server, "get_issues"), FlowLabels());
  EXPECT_EQ(labels_of_content(server), labels({untrusted, egress}))
      << "no list names resources: what any tool may have";
}

TEST(ToolLabels, MayBeDeclaredBeyondWhatTheCellShows) {
  Server server = server_with(NetworkMode::none, Holds::nothing);
  server.flows.untrusted = {{"read_mail", false}};
  server.flows.private_data = {{"read_mail", false}};
  EXPECT_EQ(labels_of_tool(server, "read_mail"), labels({untrusted, private_data}));
}

TEST(ToolLabels, NeverSayThatWhoReachesNobodyCanSend) {
  Server server = server_with(NetworkMode::loopback, Holds::file);
  server.flows.egress = {{"", true}};
  EXPECT_FALSE(labels_of_tool(server, "send").has(egress));
  EXPECT_FALSE(labels_of_content(server).has(egress));
  EXPECT_THAT(label_sentence(server, egress), HasSubstr("none of its tools: its network"));
}

TEST(ToolLabels, OfACellThatSeesItsProgramAloneAreNotPrivateAndSayWhy) {
  Server server = server_with(NetworkMode::egress, Holds::file);
  server.flows.sees_program_alone = true;
  EXPECT_EQ(labels_of_tool(server, "t"), labels({untrusted, egress}));
  EXPECT_EQ(label_sentence(server, private_data),
            "none of its tools: its cell has no file of the host but its program, and no secret");
  server.flows.private_data = {{"t", false}};
  EXPECT_TRUE(labels_of_tool(server, "t").has(private_data)) << "what is declared decides";
}

TEST(ToolLabels, AreDestructiveWhereThatIsDeclaredAlone) {
  Server server = server_with(NetworkMode::egress, Holds::workspace);
  EXPECT_FALSE(labels_of_tool(server, "delete_all").has(destructive));
  server.flows.destructive = {{"delete_", true}};
  EXPECT_TRUE(labels_of_tool(server, "delete_all").has(destructive));
  EXPECT_FALSE(labels_of_tool(server, "list").has(destructive));
  EXPECT_FALSE(labels_of_content(server).has(destructive)) << "to read deletes nothing";
  EXPECT_EQ(label_sentence(server, destructive),
            "delete_*: declared; those whose annotations have destructiveHint = true have it");
}

TEST(ToolLabels, AreExplainedByWhatDecided) {
  Server server = server_with(NetworkMode::egress, Holds::nothing);
  EXPECT_EQ(label_sentence(server, untrusted), "all of its tools: its network reaches others");
  EXPECT_EQ(label_sentence(server, private_data),
            "none of its tools: its cell has no file of the host and no secret");
  server.flows.untrusted = {{"get_", true}, {"fetch", false}};
  server.flows.egress.emplace();
  EXPECT_EQ(label_sentence(server, untrusted), "get_*, fetch: declared");
  EXPECT_EQ(label_sentence(server, egress), "none of its tools: declared");
}

FlowRule asking(std::vector<FlowLabel> before) {
  return {.name = "flows.rule[1]",
          .after = labels({untrusted}),
          .before = labels(before),
          .effect = FlowEffect::ask,
          .binds_everybody = true};
}

TEST(FlowRules, AskAnAdministratorOnlyAboutToolsAndUsersThatARuleIsAbout) {
  const Server server = server_with(NetworkMode::none, Holds::nothing);
  const FlowPerson alice{.uid = 1000, .gid = 1000, .groups = {}};
  const auto ask = [&](const FlowRule& rule) {
    return flows_may_ask_administrator({.rules = {rule}}, server, "remove", alice);
  };
  EXPECT_FALSE(flows_may_ask_administrator({}, server, "remove", alice));
  EXPECT_TRUE(ask(asking({destructive}))) << "annotations may say so";
  EXPECT_FALSE(ask(asking({egress}))) << "its cell sends nothing";
  FlowRule rule = asking({destructive});
  rule.tools = {{"create_", true}};
  EXPECT_FALSE(ask(rule));
  rule = asking({destructive});
  rule.approver = Approver::user;
  EXPECT_FALSE(ask(rule));
  rule = asking({destructive});
  rule.binds_everybody = false;
  rule.uids = {1001};
  EXPECT_FALSE(ask(rule));
  rule.uids = {1000};
  EXPECT_TRUE(ask(rule));
}

TEST(FlowRules, AskAnAdministratorByTheTrifectaWhereTheToolCanSend) {
  const FlowPerson alice{.uid = 1000, .gid = 1000, .groups = {}};
  const FlowRules rules{.trifecta = FlowEffect::ask};
  EXPECT_TRUE(flows_may_ask_administrator(rules, server_with(NetworkMode::egress, Holds::nothing),
                                          "post", alice));
  EXPECT_FALSE(flows_may_ask_administrator(rules, server_with(NetworkMode::none, Holds::file),
                                           "post", alice));
}

}  // namespace
}  // namespace cellblock
