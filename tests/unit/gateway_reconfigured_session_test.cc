#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/reload/merge.h"
#include "tests/unit/session_rig.h"

// A session that is open while the configuration changes.

namespace cellblock::gateway::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view push =
    R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"push","arguments":{}}})";

Rule about_push(Effect effect) {
  Rule rule{.name = "rule[1]", .effect = effect, .uids = {1000}};
  rule.tools = {{"push", false}};
  return rule;
}

class ReconfiguredSession : public SessionTest {
 protected:
  ReconfiguredSession() { config_.servers.reserve(max_servers); }

  Server& server() { return config_.servers[0]; }

  /// As a gateway does it.
  template <class Change>
  void reload(Change change) {
    Config declared = config_;
    change(declared);
    take_over(config_, merged(config_, std::move(declared)));
    ServerSet all;
    for (std::size_t i = 0; i < config_.servers.size(); ++i) all.add(i);
    session().renew_rules();
    policy().reconfigure();
    session().reconfigure(all, now_);
  }
  void reload_effect(Effect effect) {
    reload([effect](Config& config) { config.servers[0].rules.back() = about_push(effect); });
  }

  void forget_what_was_said() {
    effects_.cell.clear();
    effects_.host.clear();
  }
  /// What became of the call that was made last.
  Effect fate() {
    if (!effects_.cell.empty()) return Effect::allow;
    return effects_.host.empty() ? Effect::ask : Effect::deny;
  }
  bool is_waiting_for_approval() { return !policy().approvals.entries().empty(); }
};

TEST_F(ReconfiguredSession, JudgesTheNextCallByTheNewRuleWhateverTheOldOneWas) {
  const std::vector effects{Effect::allow, Effect::deny, Effect::ask};
  server().rules.push_back(about_push(Effect::deny));
  attach_and_run();
  for (const Effect before : effects) {
    for (const Effect after : effects) {
      reload_effect(before);
      reload_effect(after);
      forget_what_was_said();
      host_says(std::string(push));
      EXPECT_EQ(fate(), after) << "from " << static_cast<int>(before);
      EXPECT_EQ(is_waiting_for_approval(), after == Effect::ask);
      host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
      effects_.ring(now_);
      EXPECT_FALSE(is_waiting_for_approval());
    }
  }
}

TEST_F(ReconfiguredSession, LetsACallInFlightEndAsItBegan) {
  server().rules.push_back(about_push(Effect::allow));
  attach_and_run();
  host_says(std::string(push));
  reload_effect(Effect::deny);
  server_answers(R"({"content":[]})");
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  EXPECT_TRUE(effects_.last_to_host().contains("result"));
}

TEST_F(ReconfiguredSession, SendsNothingThatIsDeniedByTheTimeItIsApproved) {
  server().rules.push_back(about_push(Effect::ask));
  attach_and_run();
  host_says(std::string(push));
  ASSERT_TRUE(is_waiting_for_approval());
  reload_effect(Effect::deny);
  effects_.cell.clear();
  policy().approvals.decide(1, Approvals::Word::allow, 0, now_);
  effects_.ring(now_);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
}

TEST_F(ReconfiguredSession, SendsWhatIsApprovedWhenTheRuleThatAskedIsWhereItWas) {
  server().rules.push_back(about_push(Effect::ask));
  attach_and_run();
  host_says(std::string(push));
  reload([](Config& config) {
    for (Rule& rule : config.servers[0].rules) rule.line += 10;
    config.servers[0].results.bounds.bounding = Bounding::off;
  });
  effects_.cell.clear();
  policy().approvals.decide(1, Approvals::Word::allow, 0, now_);
  effects_.ring(now_);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "push");
}

TEST_F(ReconfiguredSession, EndsWithAnErrorWhenItsServerIsRemoved) {
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/list"})");
  reload([](Config& config) { config.servers.clear(); });
  EXPECT_EQ(effects_.last_to_host()["id"], 5);
  EXPECT_TRUE(effects_.last_to_host().contains("error"));
  EXPECT_THAT(effects_.did, Contains("close_host"));
  EXPECT_THAT(effects_.did, Contains("close_cell_input"));
}

TEST_F(ReconfiguredSession, EndsWithAnErrorWhenItsServerIsSwitchedOff) {
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/list"})");
  reload([](Config& config) { config.servers[0].enabled = false; });
  EXPECT_THAT(effects_.last_to_host().dump(), HasSubstr("switched off by its declaration"));
  EXPECT_THAT(effects_.did, Contains("close_host"));
}

TEST_F(ReconfiguredSession, EndsWithAnErrorWhenItsUserMayNotUseItsServerAnyMore) {
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/list"})");
  reload([](Config& config) { config.servers[0].rules[0].uids = {1001}; });
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -31001);
  EXPECT_THAT(effects_.did, Contains("close_host"));
}

TEST_F(ReconfiguredSession, AnswersAnAttachThatIsUnderWayWhenItsServerIsRemoved) {
  attach();
  reload([](Config& config) { config.servers.clear(); });
  ASSERT_THAT(effects_.control, SizeIs(1));
  EXPECT_EQ(Json::parse(effects_.control.back())["error"]["code"], -31001);
}

TEST_F(ReconfiguredSession, GoesOnWhenSomethingElseIsRemoved) {
  Server other = server();
  other.name = "other";
  config_.servers.push_back(other);
  attach_and_run();
  reload([](Config& config) { config.servers.pop_back(); });
  forget_what_was_said();
  host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_a"}})");
  EXPECT_THAT(effects_.cell, SizeIs(1));
}

TEST_F(ReconfiguredSession, MayAttachToAServerThatIsNew) {
  reload([](Config& config) {
    config.servers.push_back(config.servers[0]);
    config.servers[0].name = "first";
    config.servers[1].name = "second";
  });
  host_says(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"second"}})");
  EXPECT_THAT(effects_.cells, SizeIs(1));
}

TEST_F(ReconfiguredSession, MayAttachToAServerThatIsBack) {
  const Server was = server();
  reload([](Config& config) { config.servers.clear(); });
  reload([&was](Config& config) { config.servers = {was}; });
  attach_and_run();
  EXPECT_THAT(effects_.cells, SizeIs(1));
  EXPECT_THAT(effects_.control, SizeIs(1));
}

TEST_F(ReconfiguredSession, EndsWhenTheRoleThatItHasTakenIsGone) {
  config_.roles = {{.name = "reader", .uids = {1000}, .gids = {}}};
  server().rules[0].roles = 1;
  attach_and_run(R"(,"role":"reader")");
  host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/list"})");
  reload([](Config& config) { config.roles.clear(); });
  EXPECT_EQ(effects_.last_to_host()["id"], 5);
  EXPECT_THAT(effects_.did, Contains("close_host"));
}

TEST_F(ReconfiguredSession, RefusesWhatIsOverABoundThatIsNew) {
  attach_and_run();
  reload([](Config& config) { config.servers[0].calls.bounds.in_flight = 1; });
  host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_a"}})");
  forget_what_was_said();
  host_says(R"({"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read_a"}})");
  EXPECT_EQ(fate(), Effect::deny);
  EXPECT_EQ(effects_.last_to_host()["id"], 6);
}

TEST_F(ReconfiguredSession, GivesBackThePlaceOfACallWhoseBoundWasLifted) {
  server().calls.bounds.in_flight = 1;
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_a"}})");
  const Json call = effects_.last_to_cell();
  reload([](Config& config) { config.servers[0].calls.bounds.in_flight.reset(); });
  reload([](Config& config) { config.servers[0].calls.bounds.in_flight = 1; });
  cell_says(R"({"jsonrpc":"2.0","id":)" + call["id"].dump() + R"(,"result":{"content":[]}})");
  forget_what_was_said();
  host_says(R"({"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read_a"}})");
  EXPECT_EQ(fate(), Effect::allow);
}

TEST_F(ReconfiguredSession, LetsAWaitingCallInWhenItsBoundIsLifted) {
  server().calls.bounds.in_flight = 1;
  server().calls.queue.most = 1;
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_a"}})");
  host_says(R"({"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read_a"}})");
  effects_.cell.clear();
  reload([](Config& config) { config.servers[0].calls.bounds.in_flight.reset(); });
  effects_.ring(now_);
  EXPECT_THAT(effects_.cell, SizeIs(1));
}

TEST_F(ReconfiguredSession, SendsNothingThatWaitedWhileWhatIsRedactedChanged) {
  server().rules.push_back(about_push(Effect::ask));
  attach_and_run();
  host_says(std::string(push));
  ASSERT_TRUE(is_waiting_for_approval());
  reload([](Config& config) {
    config.servers[0].redaction.expressions = {
        {"case", "CASE-[0-9]+", {RedactionAction::redact, RedactionAction::off}}};
  });
  effects_.cell.clear();
  policy().approvals.decide(1, Approvals::Word::allow, 0, now_);
  effects_.ring(now_);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_THAT(effects_.last_to_host().dump(), HasSubstr("call again"));
}

TEST_F(ReconfiguredSession, OfAllServersTakesNoLongerLinesThanTheNewBoundsAllow) {
  server().lines.from_host = 1U << 20;
  reload([](Config&) {});
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":")" +
                           std::string(100'000, 'x') + R"("}})";
  const auto is_too_long = [&] {
    forget_what_was_said();
    host_says(ping);
    return !effects_.host.empty() && effects_.host.back().contains("are allowed");
  };
  EXPECT_FALSE(is_too_long());
  reload([](Config& config) {
    for (Server& one : config.servers) one.lines.from_host = 64U << 10;
  });
  EXPECT_TRUE(is_too_long());
}

TEST_F(ReconfiguredSession, EndsWhereItsTokenIsRevokedAndNoOthers) {
  config_.http.emplace().tokens.resize(2);
  config_.http->tokens.reserve(max_token_places);
  config_.http->tokens[1].sha256 = {1};
  peer_.via = wire::SessionVia::http_token;
  peer_.token_index = 1;
  attach_and_run();
  reload([](Config& config) { config.http->tokens.erase(config.http->tokens.begin()); });
  EXPECT_THAT(effects_.did, Not(Contains("close_host")));
  host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_a"}})");
  reload([](Config& config) { config.http->tokens.clear(); });
  EXPECT_THAT(effects_.did, Contains("close_host"));
  EXPECT_THAT(effects_.last_to_host().dump(), HasSubstr("was revoked"));
}

TEST_F(ReconfiguredSession, AnswersNothingWhereItsTokenWasRevokedBeforeItBegan) {
  config_.http.emplace().tokens.resize(2);
  config_.http->tokens[1].revoked = true;
  peer_.via = wire::SessionVia::http_token;
  peer_.token_index = 1;
  for (const char* method : {"cellblock/attach", "cellblock/status", "initialize", "tools/list"}) {
    forget_what_was_said();
    effects_.did.clear();
    session_.reset();
    host_says(
        Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", {{"server", "files"}}}}
            .dump());
    EXPECT_THAT(effects_.last_to_host().dump(), HasSubstr("was revoked")) << method;
    EXPECT_THAT(effects_.did, AllOf(Contains("close_host"), Not(Contains("start_cell")))) << method;
  }
}

TEST_F(ReconfiguredSession, OfATokenThatNoConfigurationHasAnswersNothing) {
  peer_.via = wire::SessionVia::http_token;
  host_says(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/status","params":{}})");
  EXPECT_THAT(effects_.last_to_host().dump(), HasSubstr("was revoked"));
}

TEST_F(ReconfiguredSession, RedactsByTheNewRules) {
  attach_and_run();
  const auto reads = [this] {
    host_says(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_a"}})");
    server_answers(R"({"content":[{"type":"text","text":"CASE-17"}]})");
    return effects_.last_to_host().dump();
  };
  EXPECT_THAT(reads(), HasSubstr("CASE-17"));
  reload([](Config& config) {
    config.servers[0].redaction.expressions = {
        {"case", "CASE-[0-9]+", {RedactionAction::off, RedactionAction::redact}}};
  });
  EXPECT_THAT(reads(), HasSubstr("[redacted: case]"));
  reload([](Config& config) { config.servers[0].redaction.expressions.clear(); });
  EXPECT_THAT(reads(), HasSubstr("CASE-17"));
}

}  // namespace
}  // namespace cellblock::gateway::testing
