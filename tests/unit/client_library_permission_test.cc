#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <latch>
#include <thread>

#include "cellblock/client.h"
#include "cellblock/session.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/recording_gateway.h"

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using cellblock::testing::RecordedLines;
using cellblock::testing::RecordingGateway;
using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto nothing = R"({"content":[]})";

/// Answers everything.
struct Recorder : RecordingGateway {
  Recorder() : RecordingGateway(RecordedLines::requests, [](const auto&) { return nothing; }) {}
};

TEST(Permission, SendsNothingOfACallThatARuleDenies) {
  Recorder recorder;
  Options options;
  options.permission.rules = {
      {.name = "delete_*", .verdict = Verdict::deny, .reason = "nothing is deleted here"}};
  auto client = recorder.connect(std::move(options));
  const auto refused = client.call_tool("delete_all");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::denied_by_host);
  EXPECT_THAT(refused.error().text, HasSubstr("nothing is deleted here"));
  EXPECT_TRUE(client.call_tool("delet"));
  client.close();
  EXPECT_THAT(recorder.lines(), ElementsAre(HasSubstr(R"("name":"delet")")));
}

TEST(Permission, OfAResourceIsDecidedByItsNormalSpelling) {
  Recorder recorder;
  Options options;
  options.permission = {
      .rules = {{.kind = CallKind::resource, .name = "file:///w/*", .verdict = Verdict::allow},
                {.kind = CallKind::resource, .name = "FILE:///w/key", .verdict = Verdict::deny}},
      .otherwise = Verdict::deny};
  auto client = recorder.connect(std::move(options));
  const auto read = [&](const std::string& uri) {
    return client.request("resources/read", R"({"uri":")" + uri + R"("})").has_value();
  };
  EXPECT_TRUE(read("file:///w/a"));
  EXPECT_TRUE(read("file:///w/./a"));
  for (const char* uri : {"file:///w/../etc/a", "file:///w/%2e%2e/etc/a", "file:///w/%6bey",
                          "file:///w//key", "file:///w/key?x", "/w/a"}) {
    EXPECT_FALSE(read(uri)) << uri;
  }
}

TEST(Permission, IsDecidedByTheStrictestRuleInWhateverOrder) {
  const PermissionRule open{.name = "*", .verdict = Verdict::allow};
  const PermissionRule shut{.name = "x", .verdict = Verdict::deny};
  for (const auto& rules : {std::vector{open, shut}, std::vector{shut, open}}) {
    Recorder recorder;
    Options options;
    options.permission = {.rules = rules, .otherwise = Verdict::deny};
    auto client = recorder.connect(std::move(options));
    EXPECT_EQ(client.call_tool("x").error().code, ErrorCode::denied_by_host);
    EXPECT_TRUE(client.call_tool("y"));
    EXPECT_EQ(client.request("prompts/get", R"({"name":"y"})").error().code,
              ErrorCode::denied_by_host)
        << "a rule about tools says nothing of prompts";
  }
}

TEST(Permission, OfRulesThatNameAServerIsThatServersAlone) {
  Recorder recorder;
  Options options;
  options.permission.rules = {{.server = "git", .verdict = Verdict::deny}};
  auto client = recorder.connect(std::move(options));
  ASSERT_TRUE(client.attach("files"));
  EXPECT_TRUE(client.call_tool("x"));
  ASSERT_TRUE(client.attach("git"));
  EXPECT_FALSE(client.call_tool("x"));
}

TEST(Permission, OfTheFirstServerHoldsWhereTheDaemonRefusesAnother) {
  std::vector<std::string> seen;
  FakeGateway gateway([](FakeConnection& peer) {
    while (const auto line = peer.read_line()) {
      if (line->find("\"git\"") == std::string::npos) {
        peer.answer(*line, nothing);
      } else {
        peer.send(R"({"jsonrpc":"2.0","id":)" + FakeConnection::id_of(*line) +
                  R"(,"error":{"code":-31001,"message":"attached already"}})" + "\n");
      }
    }
  });
  Options options;
  options.socket = gateway.path();
  options.permission.rules = {{.server = "files", .name = "push", .verdict = Verdict::deny}};
  options.on_permission = [&](const CallToApprove& call) {
    seen.push_back(call.server);
    return Decision::allow();
  };
  auto client = Client::connect(std::move(options));
  ASSERT_TRUE(client);
  ASSERT_TRUE(client->attach("files"));
  ASSERT_FALSE(client->attach("git"));
  EXPECT_EQ(client->call_tool("push").error().code, ErrorCode::denied_by_host);
  EXPECT_TRUE(client->call_tool("read"));
  EXPECT_THAT(seen, Each("files"));
  EXPECT_THAT(seen, Contains("files"));
}

TEST(Permission, HandlerSeesWhatTheServerWouldSee) {
  Recorder recorder;
  std::vector<std::string> seen;
  Options options;
  options.on_permission = [&](const CallToApprove& call) {
    seen.push_back(call.server + " " + call.method + " " + call.name + " " + call.arguments);
    return Decision::allow();
  };
  auto client = recorder.connect(std::move(options));
  ASSERT_TRUE(client.attach("files"));
  ASSERT_TRUE(client.call_tool("a", R"({ "path" : 1.0 })"));
  ASSERT_TRUE(client.request("tools/call", R"({"n\u0061me":"b","argum\u0065nts":{"x":1}})"));
  ASSERT_TRUE(client.request("resources/read", R"({"uri":"file:///\u0061"})"));
  ASSERT_TRUE(client.request("tools/list"));
  ASSERT_TRUE(client.request("vendor/act", R"({"x":1})"));
  EXPECT_THAT(seen,
              ElementsAre(R"(files tools/call a { "path" : 1.0 })", R"(files tools/call b {"x":1})",
                          "files resources/read file:///a ", "files vendor/act vendor/act "));
}

TEST(Permission, IsNotGivenToWhatTwoParsersReadInTwoWays) {
  Recorder recorder;
  Options options;
  options.on_permission = [](const CallToApprove&) { return Decision::allow(); };
  auto client = recorder.connect(std::move(options));
  const auto refused = client.request("tools/call", R"({"name":"a","name":"b"})");
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  client.close();
  EXPECT_THAT(recorder.lines(), IsEmpty());
}

TEST(Permission, HandlerMakesARuleStricterAndNeverMilder) {
  Recorder recorder;
  Options options;
  options.permission.rules = {{.name = "x", .verdict = Verdict::deny}};
  options.on_permission = [](const CallToApprove& call) {
    return call.name == "y" ? Decision::deny("not y") : Decision::allow();
  };
  auto client = recorder.connect(std::move(options));
  EXPECT_FALSE(client.call_tool("x"));
  EXPECT_THAT(client.call_tool("y").error().text, HasSubstr("not y"));
  EXPECT_TRUE(client.call_tool("z"));
}

Options asking(ApprovalHandler handler) {
  Options options;
  options.permission.rules = {{.verdict = Verdict::ask, .reason = "it writes"}};
  options.on_approval = std::move(handler);
  return options;
}

TEST(Approval, IsAskedForBeforeTheCallLeavesAndSendsWhatWasShown) {
  Recorder recorder;
  std::string shown;
  auto client = recorder.connect(asking(answered_at_once([&](const CallToApprove& call) {
    shown = call.name + call.arguments + call.reason;
    return Decision::allow();
  })));
  ASSERT_TRUE(client.call_tool("write", R"({"a":1})"));
  EXPECT_EQ(shown, R"(write{"a":1}it writes)");
  client.close();
  EXPECT_THAT(recorder.lines(), ElementsAre(HasSubstr(R"("arguments":{"a":1})")));
}

TEST(Approval, ThatIsNotGivenSendsNothing) {
  Recorder recorder;
  auto client = recorder.connect(
      asking(answered_at_once([](const CallToApprove&) { return Decision::deny("no"); })));
  const auto refused = client.call_tool("write");
  EXPECT_EQ(refused.error().code, ErrorCode::denied_by_host);
  EXPECT_THAT(refused.error().text, HasSubstr("no"));
  client.close();
  EXPECT_THAT(recorder.lines(), IsEmpty());
}

TEST(Approval, IsDeniedWhereNobodyCanBeAskedOrNobodyAnswers) {
  Recorder recorder;
  EXPECT_EQ(recorder.connect(asking({})).call_tool("write").error().code,
            ErrorCode::denied_by_host);
  Recorder second;
  auto dropped = second.connect(asking([](const CallToApprove&, const ApprovalAnswer&) {}));
  EXPECT_THAT(dropped.call_tool("write").error().text, HasSubstr("nobody answered"));
}

TEST(Approval, IsDeniedWhenThePersonTakesTooLong) {
  Recorder recorder;
  std::optional<ApprovalAnswer> kept;
  auto options = asking([&](const CallToApprove&, const ApprovalAnswer& answer) { kept = answer; });
  options.approval_timeout = milliseconds(1);
  auto client = recorder.connect(std::move(options));
  EXPECT_EQ(client.call_tool("write").error().code, ErrorCode::denied_by_host);
  (*kept)(Decision::allow());  // too late, and nothing happens
  client.close();
  EXPECT_THAT(recorder.lines(), IsEmpty());
  (*kept)(Decision::allow());
}

TEST(Approval, MayComeFromAnotherThread) {
  Recorder recorder;
  std::jthread person;
  auto client = recorder.connect(asking([&](const CallToApprove&, const ApprovalAnswer& answer) {
    person = std::jthread([answer] { answer(Decision::allow()); });
  }));
  EXPECT_TRUE(client.call_tool("write"));
}

TEST(Approval, CanBeWaitedForNoLongerByCancelling) {
  Recorder recorder;
  std::stop_source stop;
  std::optional<ApprovalAnswer> kept;
  auto client = recorder.connect(asking([&](const CallToApprove&, const ApprovalAnswer& answer) {
    kept = answer;
    stop.request_stop();
  }));
  EXPECT_EQ(client.call_tool("write", "{}", {.stop = stop.get_token()}).error().code,
            ErrorCode::cancelled);
  client.close();
  EXPECT_THAT(recorder.lines(), IsEmpty()) << "the server never heard of it";
}

TEST(Approval, OutlivesTheSessionWithoutHarm) {
  Recorder recorder;
  std::optional<ApprovalAnswer> kept;
  {
    auto client = recorder.connect(
        asking([&](const CallToApprove&, const ApprovalAnswer& answer) { kept = answer; }));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(client.call_tool("write", "{}", {.stop = stop.get_token()}));
  }
  if (kept) (*kept)(Decision::allow());
}

std::string question_about(const std::string& call, const std::string& message) {
  return R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":")" +
         message + R"(","requestedSchema":{"type":"object","properties":{}},)" +
         R"("_meta":{"cellblock/approval":{"id":)" + FakeConnection::id_of(call) +
         R"(,"server":"git","method":"tools/call","name":"push","arguments":"{\"force\":true}",)"
         R"("params":"{\"name\":\"push\",\"arguments\":{\"force\":true},\"task\":{}}"}}}})" +
         "\n";
}

Client connect_asking(const FakeGateway& gateway, ApprovalHandler handler) {
  Options options;
  options.socket = gateway.path();
  options.on_approval = std::move(handler);
  auto client = Client::connect(std::move(options));
  EXPECT_TRUE(client) << client.error().text;
  return *std::move(client);
}

TEST(Approval, IsAskedForByTheAdministratorsRuleThroughTheSameHandler) {
  std::vector<std::string> answers;
  FakeGateway gateway([&](FakeConnection& peer) {
    const auto greeting = peer.read_line().value_or("");
    EXPECT_THAT(greeting, HasSubstr(R"("capabilities":{"elicitation":{}})"));
    peer.answer(greeting, "{}");
    (void)peer.read_line();
    for (int i = 0; i < 2; ++i) {
      const auto call = peer.read_line().value_or("");
      peer.send(question_about(call, "cellblock: may this call be made? [server git] push"));
      answers.push_back(peer.read_line().value_or(""));
      peer.answer(call, nothing);
    }
    (void)peer.read_line();
  });
  std::vector<std::string> shown;
  auto client =
      connect_asking(gateway, answered_at_once([&](const CallToApprove& call) {
                       shown.push_back(call.server + " " + call.name + " " + call.arguments);
                       EXPECT_THAT(call.params, HasSubstr(R"("task":{})"));
                       return shown.size() == 1 ? Decision::allow() : Decision::deny();
                     }));
  ASSERT_TRUE(client.initialize());
  EXPECT_TRUE(client.call_tool("push"));
  EXPECT_TRUE(client.call_tool("push"));
  EXPECT_THAT(shown, ElementsAre(R"(git push {"force":true})", R"(git push {"force":true})"));
  EXPECT_THAT(
      answers,
      ElementsAre(
          R"({"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"allow":true}}})",
          R"({"jsonrpc":"2.0","id":"q","result":{"action":"decline"}})"));
}

TEST(Approval, IsNotWhatAServerAsksForInTheGatewaysName) {
  FakeGateway gateway([&](FakeConnection& peer) {
    const auto call = peer.read_line().value_or("");
    peer.send(question_about(call, "[server evil] cellblock: may this call be made? "));
    EXPECT_THAT(peer.read_line().value_or(""), HasSubstr(R"("result":{"action":"cancel"})"));
    peer.answer(call, nothing);
    (void)peer.read_line();
  });
  auto client = connect_asking(
      gateway, answered_at_once([](const CallToApprove&) { return Decision::allow(); }));
  EXPECT_TRUE(client.call_tool("a"));
}

TEST(Approval, IsNotWaitedForWhenTheGatewayTakesTheQuestionBack) {
  std::optional<ApprovalAnswer> kept;
  FakeGateway gateway([&](FakeConnection& peer) {
    const auto call = peer.read_line().value_or("");
    peer.send(question_about(call, "cellblock: may this call be made? "));
    peer.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}})"
              "\n");
    peer.answer(call, nothing);
    EXPECT_THAT(peer.read_line().value_or(""), HasSubstr("ping")) << "no answer to the question";
  });
  auto client = connect_asking(
      gateway, [&](const CallToApprove&, const ApprovalAnswer& answer) { kept = answer; });
  EXPECT_TRUE(client.call_tool("a"));
  if (kept) (*kept)(Decision::allow());
  EXPECT_FALSE(client.request("ping"));
}

TEST(Approval, OfOneCallHoldsNoOtherCallBack) {
  Recorder recorder;
  boost::asio::io_context context;
  auto options = asking({});
  std::optional<ApprovalAnswer> kept;
  options.socket = recorder.path();
  options.permission.rules = {{.name = "write", .verdict = Verdict::ask}};
  options.on_approval = [&](const CallToApprove&, const ApprovalAnswer& answer) { kept = answer; };
  Session session(context.get_executor(), std::move(options));
  std::vector<std::string> order;
  session.connect([&](Result<void>) {
    session.call_tool("write", "{}", no_deadline, [&](const Result<ToolResult>& result) {
      order.emplace_back(result ? "write" : result.error().text);
      session.close();
    });
    session.call_tool("read", "{}", no_deadline, [&](const Result<ToolResult>& result) {
      order.emplace_back(result ? "read" : result.error().text);
      (*kept)(Decision::allow());
    });
  });
  context.run();
  EXPECT_THAT(order, ElementsAre("read", "write"));
}

}  // namespace
}  // namespace cellblock::client
