#include <gmock/gmock.h>

#include <string>

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
  FlowLabels sends = FlowLabels::all();
  policy().flows.join(7, "", FlowContexts::Entry::fresh, soon);
  EXPECT_TRUE(policy().flows.trifecta(7, sends));
  policy().flows.leave(7, soon);
  policy().flows.join(8, "", FlowContexts::Entry::fresh, soon + FlowContexts::lingers);
  EXPECT_FALSE(policy().flows.trifecta(8, sends));
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
