#include <gmock/gmock.h>

#include <string>

#include "supervisor/gateway/checks/schema_book.h"
#include "tests/unit/session_rig.h"

/// A call that could carry away what the agent has read.
namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class FlowTest : public SessionTest {
 protected:
  FlowTest() {
    Server& server = config_.servers[0];
    server.rules = {short_form({1000}, {}, {{"", true}})};
    server.network = NetworkMode::egress;
    server.flows = {.untrusted = {{{"fetch", false}}},
                    .private_data = {{{"read", false}}},
                    .egress = {{{"send", false}}}};
    config_.flows.trifecta = FlowEffect::deny;
  }

  void call(const char* tool) {
    host_says(R"({"jsonrpc":"2.0","id":)" + std::to_string(++last_) +
              R"(,"method":"tools/call","params":{"name":")" + tool + R"("}})");
  }
  void read_both() {
    attach_and_run();
    call("fetch");
    call("read");
    ASSERT_THAT(effects_.cell, SizeIs(2));
    effects_.cell.clear();
    effects_.host.clear();
    effects_.notes.clear();
  }
  std::string told() { return effects_.last_to_host()["result"]["content"][0]["text"]; }

  std::string advised() { return effects_.last_to_host()["result"]["content"][1]["text"]; }

  bool is_trifecta(std::uint64_t session) {
    FlowLabels sends;
    sends.add(FlowLabel::egress);
    return policy()
        .flows
        .judge({.session = session,
                .target = {.server = "files", .tool = "send", .labels = sends},
                .arguments = "{}"})
        .has_value();
  }

  int last_ = 10;
};

TEST_F(FlowTest, IsRefusedAfterUntrustedContentAndPrivateDataAndSaysWhatBroughtThem) {
  read_both();
  call("send");
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_EQ(effects_.last_to_host()["result"]["isError"], true);
  EXPECT_THAT(told(), HasSubstr("\"fetch\" of files (session 12"));
  EXPECT_THAT(told(), HasSubstr("\"read\" of files (session 12"));
  for (const char* way_out :
       {"connect --label context=NAME", "10 minutes after", "[flows]", "[server.files.flows]"}) {
    EXPECT_THAT(advised(), HasSubstr(way_out));
  }
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::flow, AuditOutcome::denied)));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call, AuditOutcome::denied)));
}

TEST_F(FlowTest, IsMadeBeforeTheOtherTwoCameTogether) {
  attach_and_run();
  call("send");
  call("read");
  call("send");
  EXPECT_THAT(effects_.cell, SizeIs(3));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::flow, AuditOutcome::none)).Times(1))
      << "the label that was new";
}

TEST_F(FlowTest, IsMadeAndRecordedWhereThatIsDeclared) {
  config_.flows.trifecta = FlowEffect::log;
  read_both();
  call("send");
  EXPECT_THAT(effects_.cell, SizeIs(1));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::flow, AuditOutcome::none)));
}

TEST_F(FlowTest, IsMadeAndNotRecordedWhereNothingIsDeclared) {
  config_.flows.trifecta = FlowEffect::off;
  read_both();
  call("send");
  EXPECT_THAT(effects_.cell, SizeIs(1));
  EXPECT_THAT(effects_.notes, Not(Contains(std::pair(AuditKind::flow, AuditOutcome::none))));
}

TEST_F(FlowTest, WaitsForAPersonWhoIsToldWhyAndIsMadeAfterTheWord) {
  config_.flows.trifecta = FlowEffect::ask;
  read_both();
  call("send");
  EXPECT_THAT(effects_.cell, IsEmpty());
  ASSERT_THAT(policy().approvals.entries(), SizeIs(1));
  EXPECT_THAT(policy().approvals.entries().front().request.rule,
              HasSubstr("flows.trifecta: it can send to others"));
  policy().approvals.decide(1, Approvals::Word::allow, 0, now_);
  effects_.ring(now_);
  EXPECT_THAT(effects_.cell, SizeIs(1));
}

TEST_F(FlowTest, IsAskedAboutByTheRuleThatAsksAnyway) {
  config_.flows.trifecta = FlowEffect::ask;
  Rule asks{.name = "rule[1]", .effect = Effect::ask, .uids = {1000}};
  asks.tools = {{"send", false}};
  config_.servers[0].rules.push_back(asks);
  read_both();
  call("send");
  ASSERT_THAT(policy().approvals.entries(), SizeIs(1));
  EXPECT_EQ(policy().approvals.entries().front().request.rule, "rule[1]");
}

TEST_F(FlowTest, WaitsForTheAdministratorWhereItsOwnRuleAsksTheUser) {
  config_.flows.trifecta = FlowEffect::ask;
  Rule asks{.name = "rule[1]", .effect = Effect::ask, .approver = Approver::user, .uids = {1000}};
  asks.tools = {{"send", false}};
  config_.servers[0].rules.push_back(asks);
  read_both();
  call("send");
  EXPECT_THAT(effects_.cell, IsEmpty());
  ASSERT_THAT(policy().approvals.entries(), SizeIs(1));
  EXPECT_THAT(policy().approvals.entries().front().request.rule, HasSubstr("flows.trifecta"));
}

TEST_F(FlowTest, IsRefusedAlsoWhereItsRulesWouldAsk) {
  Rule asks{.name = "rule[1]", .effect = Effect::ask, .uids = {1000}};
  asks.tools = {{"send", false}};
  config_.servers[0].rules.push_back(asks);
  read_both();
  call("send");
  EXPECT_THAT(policy().approvals.entries(), IsEmpty());
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST_F(FlowTest, IsRefusedAfterItWaitedWhereBothCameMeanwhile) {
  Rule asks{.name = "rule[1]", .effect = Effect::ask, .uids = {1000}};
  asks.tools = {{"send", false}};
  config_.servers[0].rules.push_back(asks);
  attach_and_run();
  call("send");
  call("fetch");
  call("read");
  ASSERT_THAT(effects_.cell, SizeIs(2));
  policy().approvals.decide(1, Approvals::Word::allow, 0, now_);
  effects_.ring(now_);
  EXPECT_THAT(effects_.cell, SizeIs(2)) << "what was said yes to was another thing";
  EXPECT_THAT(told(), HasSubstr("flows.trifecta"));
}

TEST_F(FlowTest, OfAnotherContextIsMade) {
  policy().flows.join(7, "other", FlowContexts::Entry::fresh, now_);
  policy().flows.take({.session = 7, .call = 1, .server = "web", .name = "get"}, FlowLabels::all());
  attach_and_run();
  call("send");
  EXPECT_THAT(effects_.cell, SizeIs(1));
}

TEST_F(FlowTest, ASessionWithAllServersIsInItsContextUntilItEnds) {
  host_says(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  policy().flows.take({.session = 12, .call = 1, .server = "web", .name = "get"},
                      FlowLabels::all());
  session().host_ended(HostEnd::gone, now_);
  const Time soon = now_ + FlowContexts::lingers - std::chrono::seconds{1};
  policy().flows.join(7, "", FlowContexts::Entry::fresh, soon);
  EXPECT_TRUE(is_trifecta(7));
  policy().flows.leave(7, soon);
  policy().flows.join(8, "", FlowContexts::Entry::fresh, soon + FlowContexts::lingers);
  EXPECT_FALSE(is_trifecta(8));
}

FlowRule rule_about(FlowLabel after, FlowLabel before, FlowEffect effect) {
  FlowRule rule{.name = "flows.rule[1]", .line = 7, .effect = effect, .binds_everybody = true};
  rule.after.add(after);
  rule.before.add(before);
  return rule;
}

TEST_F(FlowTest, ARuleRefusesWhatDeletesAfterUntrustedContentAndIsNamed) {
  config_.flows.trifecta = FlowEffect::off;
  config_.flows.rules = {
      rule_about(FlowLabel::untrusted, FlowLabel::destructive, FlowEffect::deny)};
  config_.servers[0].flows.destructive = {{{"delete_", true}}};
  attach_and_run();
  call("delete_all");
  call("fetch");
  ASSERT_THAT(effects_.cell, SizeIs(2)) << "nothing untrusted was read before it";
  call("delete_all");
  EXPECT_THAT(effects_.cell, SizeIs(2));
  EXPECT_THAT(told(), HasSubstr("it can delete or overwrite, after untrusted content came from "
                                "\"fetch\" of files"));
  EXPECT_THAT(told(), HasSubstr("(flows.rule[1])"));
  EXPECT_THAT(advised(), HasSubstr("rule[1] in [flows]"));
}

TEST(DestructiveHint, AddsTheLabelOnlyWhereItIsTrue) {
  EXPECT_TRUE(calls_itself_destructive(R"({"annotations":{"destructiveHint":true}})"));
  for (const char* other : {R"({"annotations":{"destructiveHint":false}})", R"({})", "",
                            R"({"annotations":{"destructiveHint":"true"}})",
                            R"({"annotations":{"readOnlyHint":false}})"}) {
    EXPECT_FALSE(calls_itself_destructive(other)) << other;
  }
}

TEST_F(FlowTest, ACopiedRuleStopsWhatRepeatsAnAnswerAndLetsTheRestPass) {
  config_.flows.trifecta = FlowEffect::off;
  FlowRule rule = rule_about(FlowLabel::private_data, FlowLabel::egress, FlowEffect::deny);
  rule.copied = true;
  config_.flows.rules = {rule};
  attach_and_run();
  call("read");
  const std::string own_id = effects_.last_to_cell()["id"].dump();
  cell_says(R"({"jsonrpc":"2.0","id":)" + own_id +
            R"(,"result":{"content":[{"type":"text","text":"account DE89370400440532013000"}]}})");
  const auto send = [this](const std::string& text) {
    host_says(R"({"jsonrpc":"2.0","id":)" + std::to_string(++last_) +
              R"(,"method":"tools/call","params":{"name":"send","arguments":{"text":")" + text +
              R"("}}})");
  };
  send("thanks, see you at noon");
  EXPECT_THAT(effects_.cell, SizeIs(2));
  send("it is de89370400440532013000!");
  EXPECT_THAT(effects_.cell, SizeIs(2));
  EXPECT_THAT(told(), HasSubstr("its arguments may repeat what was read"));
}

TEST_F(FlowTest, ReadsOfResourcesCountAsWhatAnyToolBrings) {
  config_.servers[0].rules[0].resources = {{"", true}};
  attach_and_run();
  host_says(
      R"({"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"mail://inbox/1"}})");
  ASSERT_THAT(effects_.cell, SizeIs(1));
  call("send");
  EXPECT_THAT(told(), HasSubstr("\"mail://inbox/1\" of files"));
}

}  // namespace
}  // namespace cellblock::gateway::testing
