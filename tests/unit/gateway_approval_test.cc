#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/session_rig.h"

/// A call that a rule asks about: held until somebody has said yes.
namespace cellblock::gateway::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Word = Approvals::Word;

constexpr std::uint32_t admin = 0;
constexpr const char* push =
    R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"push","arguments":{"to":"a"}}})";

class ApprovalTest : public SessionTest {
 protected:
  ApprovalTest() {
    Rule asks{.name = "rule[1]", .effect = Effect::ask, .uids = {1000}};
    asks.tools = {{"push", false}};
    config_.servers[0].rules.push_back(asks);
  }

  void ask_the_user() { config_.servers[0].rules.back().approver = Approver::user; }

  void initialize(const char* capabilities) {
    host_says(std::string(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":)") +
              R"({"protocolVersion":"2025-11-25","capabilities":)" + capabilities + "}}");
    cell_says(R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() +
              R"(,"result":{"protocolVersion":"2025-11-25"}})");
    effects_.cell.clear();
    effects_.host.clear();
  }

  const Approvals& approvals() { return policy().approvals; }
  void say(Word word, std::uint64_t number = 1) {
    policy().approvals.decide(number, word, admin, now_);
    effects_.ring(now_);
  }
  std::string failure() {
    return effects_.last_to_host()["result"]["_meta"]["cellblock/error"]["code"];
  }
};

TEST_F(ApprovalTest, IsHeldUntilSomebodyAllowsItAndSentAsItWasShown) {
  attach_and_run();
  host_says(push);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_THAT(effects_.host, IsEmpty());
  ASSERT_THAT(approvals().entries(), SizeIs(1));
  const ApprovalRequest& request = approvals().entries().front().request;
  EXPECT_EQ(request.name, "push");
  EXPECT_EQ(request.arguments, R"({"to":"a"})");
  EXPECT_EQ(request.session, 12U);
  EXPECT_EQ(request.cell, 37U);
  say(Word::allow);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  EXPECT_EQ(effects_.last_to_cell()["params"]["arguments"], Json({{"to", "a"}}));
  EXPECT_THAT(approvals().entries(), IsEmpty()) << "used once";
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::approval, AuditOutcome::none)));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::approval, AuditOutcome::ok)));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call, AuditOutcome::ok)));
}

TEST_F(ApprovalTest, TheNextCallIsSentWhereItWasAllowedBeforehandAndIsOnRecord) {
  attach_and_run();
  policy().approvals.allow_next(
      {.method = "tools/call", .name = "push", .by = 7, .until = now_ + Milliseconds{60'000}},
      now_);
  host_says(push);
  effects_.ring(now_);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  EXPECT_THAT(approvals().entries(), IsEmpty()) << "used once";
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::approval, AuditOutcome::ok)));
  EXPECT_THAT(effects_.notes, Not(Contains(std::pair(AuditKind::approval, AuditOutcome::none))))
      << "nobody is asked";
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call, AuditOutcome::ok)));
  effects_.cell.clear();
  host_says(
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"push","arguments":{"to":"b"}}})");
  effects_.ring(now_);
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST_F(ApprovalTest, TellsWhoAskedForProgressHowItIsAllowedAndGoesOnTelling) {
  policy().approvals.belong_to(1000);
  attach_and_run();
  host_says(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"push","arguments":{"to":"a"},"_meta":{"progressToken":"p"}}})");
  const Json first = effects_.last_to_host();
  EXPECT_EQ(first["method"], "notifications/progress");
  EXPECT_EQ(first["params"]["progressToken"], "p");
  EXPECT_EQ(
      first["params"]["message"],
      "waits for an administrator's approval (\"cellblock approve allow 1000.1\"), 120 s left");
  effects_.ring(now_ += 14s);
  EXPECT_THAT(effects_.host, SizeIs(1)) << "not oftener than every 15 s";
  effects_.ring(now_ += 1s);
  const Json second = effects_.last_to_host();
  EXPECT_THAT(std::string(second["params"]["message"]), HasSubstr("105 s left"));
  EXPECT_GT(second["params"]["progress"], first["params"]["progress"]) << "it rises";
  EXPECT_LT(second["params"]["progress"], 0.001) << "below what the server says later";
  say(Word::allow);
  EXPECT_THAT(effects_.cell, SizeIs(1));
}

TEST_F(ApprovalTest, HoldsUpTheDeadlineOfNoOtherCall) {
  ask_the_user();
  attach_and_run();
  initialize(R"({"elicitation":{}})");
  host_says(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_a"}})");
  host_says(push);
  effects_.host.clear();
  now_ += 61s;
  effects_.ring(now_);
  ASSERT_THAT(effects_.host, SizeIs(1));
  EXPECT_EQ(failure(), "timeout");
}

constexpr const char* push_with_more =
    R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"push","arguments":{"to":"a"},)"
    R"("task":{"ttl":5},"inputResponses":{"q":{"action":"accept"}},"_meta":{"trace":"é"}}})";

TEST_F(ApprovalTest, IsAskedForWithAllThatTheServerWillGet) {
  attach_and_run();
  host_says(push_with_more);
  ASSERT_THAT(approvals().entries(), SizeIs(1));
  const std::string shown = approvals().entries().front().request.params;
  EXPECT_THAT(shown, HasSubstr(R"("task":{"ttl":5})"));
  EXPECT_THAT(shown, HasSubstr(R"("inputResponses":{"q":{"action":"accept"}})"));
  EXPECT_THAT(shown, HasSubstr(R"("_meta":{"trace":"é"})"));
  say(Word::allow);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  EXPECT_THAT(effects_.cell.back(), HasSubstr(R"("params":)" + shown)) << "byte for byte";
}

TEST_F(ApprovalTest, TheUserIsShownAllThatTheServerWillGet) {
  ask_the_user();
  config_.servers[0].lines = {.to_host = 500'000, .from_host = 65'000};
  attach_and_run();
  initialize(R"({"elicitation":{}})");
  const std::string middle = std::string(20'000, 'x') + "danger" + std::string(20'000, 'x');
  std::string call = push_with_more;
  call.replace(call.find("{\"to\":\"a\"}"), 10, R"({"to":")" + middle + "\"}");
  host_says(call);
  const Json question = effects_.last_to_host()["params"];
  const std::string message = question["message"];
  EXPECT_THAT(message, HasSubstr(middle));
  EXPECT_THAT(message, HasSubstr("\ntask: {\"ttl\":5}"));
  EXPECT_THAT(message, HasSubstr("\ninputResponses: {"));
  EXPECT_THAT(message, HasSubstr("\n_meta: {"));
  EXPECT_EQ(question["_meta"]["cellblock/approval"]["params"],
            approvals().entries().front().request.params);
}

TEST_F(ApprovalTest, IsNotAskedForWhereNobodyWouldSeeAllOfIt) {
  config_.servers[0].lines.from_host = 100'000;
  attach_and_run();
  std::string call = push_with_more;
  call.replace(call.find("é"), 2, std::string(Approvals::max_params, 'x'));
  host_says(call);
  EXPECT_EQ(failure(), "approval_required");
  EXPECT_THAT(effects_.host.back(), HasSubstr("too large"));
  EXPECT_THAT(approvals().entries(), IsEmpty());
}

TEST_F(ApprovalTest, IsRefusedWhenSomebodyDeniesIt) {
  attach_and_run();
  host_says(push);
  say(Word::deny);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_EQ(failure(), "approval_required");
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::approval, AuditOutcome::denied)));
  EXPECT_THAT(effects_.notes, Not(Contains(std::pair(AuditKind::call, AuditOutcome::ok))));
}

TEST_F(ApprovalTest, IsRefusedWhenItsTimeIsOver) {
  attach_and_run();
  host_says(push);
  EXPECT_EQ(effects_.next_alarm(), Milliseconds{120'000});
  now_ += 120s;
  effects_.ring(now_);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_EQ(failure(), "approval_required");
  EXPECT_THAT(approvals().entries(), IsEmpty());
}

TEST_F(ApprovalTest, EndsWithTheCallThatItsHostHasGivenUp) {
  attach_and_run();
  host_says(push);
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  EXPECT_THAT(approvals().entries(), IsEmpty());
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST_F(ApprovalTest, EndsWithItsSession) {
  attach_and_run();
  host_says(push);
  session_.reset();
  EXPECT_THAT(approvals().entries(), IsEmpty());
}

TEST_F(ApprovalTest, TheUserIsAskedNoMoreWhenHisHostLeaves) {
  ask_the_user();
  attach_and_run();
  initialize(R"({"elicitation":{}})");
  host_says(push);
  const Json question = effects_.last_to_host()["id"];
  session().host_ended(HostEnd::end_of_input, now_);
  session().deadline(now_);
  EXPECT_THAT(approvals().entries(), IsEmpty());
  const Json last = effects_.last_to_host();
  EXPECT_EQ(last["method"], "notifications/cancelled") << last;
  EXPECT_EQ(last["params"]["requestId"], question);
}

TEST_F(ApprovalTest, IsAskedForAnewWhenTheCallIsMadeAgain) {
  config_.servers[0].era = ServerEra::modern;
  config_.servers[0].calls.tools = {{.name = "push", .repeatable = Repeatable::yes}};
  attach(R"(,"start":"on_demand")");
  host_says(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"push","arguments":{},)"
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{}}}})");
  cell().started(37, now_);
  cell().running(now_);
  EXPECT_THAT(approvals().entries(), SizeIs(1));
  const std::string list = ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/list","params":{)"
                               R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                               R"("io.modelcontextprotocol/clientCapabilities":{}}}})");
  cell_says(R"({"jsonrpc":"2.0","id":)" + list +
            R"(,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}})");
  cell().ended({.kind = EndKind::exited, .exit_code = 1}, now_);
  EXPECT_THAT(approvals().entries(), IsEmpty()) << "of the cell that is gone";
  effects_.ring(now_);
  cell().started(38, now_);
  cell().running(now_);
  ASSERT_THAT(approvals().entries(), SizeIs(1));
  EXPECT_EQ(approvals().entries().front().request.cell, 38U);
  say(Word::allow, 2);
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "push");
}

TEST_F(ApprovalTest, EndsWithTheCell) {
  attach_and_run();
  host_says(push);
  cell().ended({}, now_);
  EXPECT_THAT(approvals().entries(), IsEmpty());
}

TEST_F(ApprovalTest, TheTimeOfTheCallBeginsWhenItIsSent) {
  attach_and_run();
  host_says(push);
  now_ += 100s;
  say(Word::allow);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  now_ += 59s;
  effects_.ring(now_);
  EXPECT_THAT(effects_.host, IsEmpty());
  now_ += 2s;
  effects_.ring(now_);
  EXPECT_EQ(failure(), "timeout");
}

TEST_F(ApprovalTest, AStormOfOneCallIsRefusedButForTheFirst) {
  attach_and_run();
  host_says(push);
  std::string again = push;
  again.replace(again.find("\"id\":2"), 6, "\"id\":3");
  host_says(again);
  EXPECT_EQ(effects_.last_to_host()["id"], 3);
  EXPECT_EQ(failure(), "approval_required");
  ASSERT_THAT(approvals().entries(), SizeIs(1));
  EXPECT_EQ(approvals().entries().front().times, 2U);
}

TEST_F(ApprovalTest, WhatIsNotAskedAboutDoesNotWait) {
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a"}})");
  EXPECT_THAT(effects_.cell, SizeIs(1));
}

TEST_F(ApprovalTest, TheUserIsAskedByAHostThatCan) {
  ask_the_user();
  attach_and_run();
  initialize(R"({"elicitation":{}})");
  host_says(push);
  EXPECT_THAT(effects_.cell, IsEmpty());
  const Json question = effects_.last_to_host();
  EXPECT_EQ(question["method"], "elicitation/create");
  EXPECT_THAT(std::string(question["params"]["message"]), HasSubstr("[server files]"));
  EXPECT_THAT(std::string(question["params"]["message"]), HasSubstr(R"({"to":"a"})"));
  host_says(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() +
            R"(,"result":{"action":"accept","content":{"allow":true}}})");
  effects_.ring(now_);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "push");
}

TEST_F(ApprovalTest, WhateverTheUserSaysBesidesAcceptIsANo) {
  for (const char* answer :
       {R"("result":{"action":"decline"})", R"("result":{"action":"cancel"})",
        R"("result":{"action":"accept"})", R"("result":{"action":"accept","content":{}})",
        R"("result":{"action":"accept","content":{"allow":false}})",
        R"("result":{"action":"accept","content":{"allow":"true"}})",
        R"("result":{"action":"Accept"})", R"("result":{})", R"("result":{"action":true})",
        R"("error":{"code":-32601,"message":"no"})"}) {
    session_.reset();
    policy_.reset();
    ask_the_user();
    attach_and_run();
    initialize(R"({"elicitation":{"form":{}}})");
    host_says(push);
    const std::string id = effects_.last_to_host()["id"].dump();
    host_says(R"({"jsonrpc":"2.0","id":)" + id + "," + answer + "}");
    effects_.ring(now_);
    EXPECT_THAT(effects_.cell, IsEmpty()) << answer;
    EXPECT_EQ(failure(), "approval_required") << answer;
  }
}

TEST_F(ApprovalTest, TheServerHearsNothingOfTheQuestion) {
  ask_the_user();
  attach_and_run();
  initialize(R"({"elicitation":{}})");
  host_says(push);
  cell_says(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"approval"}})");
  EXPECT_THAT(approvals().entries(), SizeIs(1));
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST_F(ApprovalTest, TheUserIsAskedNoMoreAboutWhatIsOver) {
  ask_the_user();
  attach_and_run();
  initialize(R"({"elicitation":{}})");
  host_says(push);
  const Json question = effects_.last_to_host()["id"];
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  EXPECT_EQ(effects_.last_to_host()["method"], "notifications/cancelled");
  EXPECT_EQ(effects_.last_to_host()["params"]["requestId"], question);
  host_says(R"({"jsonrpc":"2.0","id":)" + question.dump() +
            R"(,"result":{"action":"accept","content":{"allow":true}}})");
  effects_.ring(now_);
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST_F(ApprovalTest, TheUserIsNotAskedByAHostThatCannot) {
  ask_the_user();
  attach_and_run();
  for (const char* capabilities : {"{}", R"({"elicitation":{"url":{}}})"}) {
    initialize(capabilities);
    host_says(push);
    EXPECT_EQ(failure(), "approval_required");
    EXPECT_THAT(effects_.host.back(), HasSubstr("his host has not declared elicitation"));
    EXPECT_THAT(effects_.host.back(), HasSubstr("an administrator could be asked instead"));
    EXPECT_THAT(approvals().entries(), IsEmpty());
  }
}

/// A host that has not attached: all servers are one to it, and one of them is a legacy one.
class ApprovalAmongAll : public ApprovalTest {
 protected:
  ApprovalAmongAll() {
    ask_the_user();
    config_.servers[0].era = ServerEra::legacy;
    config_.servers[0].lines = {};
    Catalogue catalogue;
    catalogue.era = Era::legacy;
    catalogue.server_info = R"({"name":"x","version":"1"})";
    catalogue.capabilities = R"({"tools":{}})";
    catalogue.lists[0] = R"([{"name":"push","inputSchema":{"type":"object"}}])";
    effects_.fake_catalogues.known = catalogue;
  }

  /// Up to where the call has reached the server's conversation.
  void cell_runs() {
    effects_.fake_catalogues.tell();
    cell().started(37, now_);
    cell().running(now_);
    ASSERT_EQ(effects_.last_to_cell()["method"], "initialize");
    EXPECT_TRUE(effects_.last_to_cell()["params"]["capabilities"].empty())
        << "the server may not ask him: " << effects_.cell.back();
    cell_says(R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() +
              R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
              R"("serverInfo":{"name":"f","version":"1"}}})");
    now_ += 50ms;  // questions of the same moment go together
    effects_.ring(now_);
  }
};

TEST_F(ApprovalAmongAll, ALegacyHostAsksItsUser) {
  host_says(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{"elicitation":{}},"clientInfo":{"name":"h","version":"1"}}})");
  effects_.fake_catalogues.tell();
  host_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  host_says(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"files__push","arguments":{}}})");
  cell_runs();
  Json question = effects_.last_to_host();
  ASSERT_EQ(question["method"], "elicitation/create") << question;
  EXPECT_THAT(std::string(question["params"]["message"]), HasSubstr("[server files]"));
  host_says(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() +
            R"(,"result":{"action":"accept","content":{"allow":true}}})");
  effects_.ring(now_);
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "push");
}

TEST_F(ApprovalAmongAll, AModernHostAsksItsUser) {
  const std::string more =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientInfo":{"name":"h","version":"1"},)"
      R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}})";
  const std::string call =
      R"("method":"tools/call","params":{"name":"files__push","arguments":{},)";
  host_says(R"({"jsonrpc":"2.0","id":2,)" + call + more);
  cell_runs();
  Json asked = effects_.last_to_host()["result"];
  ASSERT_EQ(asked["resultType"], "input_required") << effects_.last_to_host();
  const std::string key = asked["inputRequests"].items().begin().key();
  host_says(R"({"jsonrpc":"2.0","id":3,)" + call + R"("requestState":)" +
            asked["requestState"].dump() + R"(,"inputResponses":{")" + key +
            R"(":{"action":"accept","content":{"allow":true}}},)" + more);
  effects_.ring(now_);
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "push");
}

TEST_F(ApprovalTest, TheUserIsNotAskedAboutACallOfAModernServer) {
  ask_the_user();
  config_.servers[0].era = ServerEra::modern;
  attach(R"(,"start":"on_demand")");
  host_says(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"push","arguments":{},)"
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}})");
  cell().started(37, now_);
  cell().running(now_);
  EXPECT_EQ(failure(), "approval_required");
  EXPECT_THAT(effects_.host.back(), HasSubstr("MCP 2026-07-28"));
  EXPECT_THAT(effects_.host.back(), HasSubstr("an administrator could be asked instead"));
  EXPECT_THAT(effects_.cell, IsEmpty());
}

}  // namespace
}  // namespace cellblock::gateway::testing
