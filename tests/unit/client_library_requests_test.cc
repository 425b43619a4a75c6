#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <latch>

#include "cellblock/client.h"
#include "cellblock/session.h"
#include "client/connection/request_params.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/recording_gateway.h"

/// MCP's requests by name: what each sends, and what becomes of the answer.
namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using cellblock::testing::RecordedLines;
using cellblock::testing::RecordingGateway;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Answers everything with the same result.
struct Recorder : RecordingGateway {
  explicit Recorder(std::string result)
      : RecordingGateway(RecordedLines::all,
                         [result = std::move(result)](const auto&) { return result; }) {}

  /// Without their envelope.
  std::vector<std::string> said() {
    std::vector<std::string> texts;
    for (const auto& line : lines()) texts.push_back(line.substr(line.find(R"("method")")));
    return texts;
  }
};

TEST(NamedRequests, SendTheirMethodsAndGiveWhatTheServerWrote) {
  constexpr auto result = R"({"contents":[], "any":1})";
  Recorder recorder(result);
  {
    auto client = recorder.connect();
    EXPECT_EQ(client.read_resource("file:///a\"b"), result);
    EXPECT_TRUE(client.subscribe("file:///a"));
    EXPECT_TRUE(client.unsubscribe("file:///a"));
    EXPECT_EQ(client.get_prompt("review", R"({"language":"C++"})"), result);
    EXPECT_EQ(client.complete({.prompt = "review", .argument = "language", .value = "C"}), result);
    EXPECT_TRUE(client.set_log_level(LogLevel::warning));
    EXPECT_TRUE(client.ping());
  }
  EXPECT_THAT(
      recorder.said(),
      ElementsAre(
          R"("method":"resources/read","params":{"uri":"file:///a\"b"}})",
          R"("method":"resources/subscribe","params":{"uri":"file:///a"}})",
          R"("method":"resources/unsubscribe","params":{"uri":"file:///a"}})",
          R"("method":"prompts/get","params":{"name":"review","arguments":{"language":"C++"}}})",
          R"("method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"review"},)"
          R"("argument":{"name":"language","value":"C"}}})",
          R"("method":"logging/setLevel","params":{"level":"warning"}})",
          R"("method":"ping","params":{}})"));
}

TEST(NamedRequests, CompleteAnArgumentOfAResourceTemplateWithWhatIsKnownAlready) {
  EXPECT_EQ(
      completion_params({.resource_template = "repo://{owner}/{name}",
                         .argument = "name",
                         .value = "c",
                         .others = {{"owner", "a\"b"}, {"x", "y"}}}),
      R"({"ref":{"type":"ref/resource","uri":"repo://{owner}/{name}"},)"
      R"("argument":{"name":"name","value":"c"},"context":{"arguments":{"owner":"a\"b","x":"y"}}})");
}

TEST(NamedRequests, RefuseWhatCannotBeSent) {
  Recorder recorder("{}");
  {
    auto client = recorder.connect();
    EXPECT_EQ(client.get_prompt("p", "[]").error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(client.complete({.argument = "a"}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(client.complete({.prompt = "p", .resource_template = "t"}).error().code,
              ErrorCode::invalid_argument);
  }
  EXPECT_THAT(recorder.said(), IsEmpty());
}

TEST(NamedRequests, NameEveryLogLevelAsMcpDoes) {
  std::vector<std::string_view> names;
  for (int level = 0; level <= static_cast<int>(LogLevel::emergency); ++level) {
    names.push_back(name_of(static_cast<LogLevel>(level)));
  }
  EXPECT_THAT(names, ElementsAre("debug", "info", "notice", "warning", "error", "critical", "alert",
                                 "emergency"));
}

TEST(NamedRequests, GiveTheErrorOfOneThatIsAnsweredWithoutAValue) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto line = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","id":)" + FakeConnection::id_of(line) +
              R"(,"error":{"code":-32601,"message":"no subscriptions here"}})"
              "\n");
    (void)peer.read_line();
  });
  auto client = Client::connect({.socket = gateway.path()});
  ASSERT_TRUE(client);
  const auto refused = client->subscribe("file:///a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::rpc);
  EXPECT_EQ(refused.error().text, "no subscriptions here");
}

TEST(NamedLists, ReadAllPages) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto both = [&](std::string_view method, std::string_view first, std::string_view rest) {
      const auto asked = peer.read_line().value_or("");
      EXPECT_THAT(asked, HasSubstr(method));
      peer.answer(asked, first);
      const auto again = peer.read_line().value_or("");
      EXPECT_THAT(again, HasSubstr(R"("params":{"cursor":"2"})"));
      peer.answer(again, rest);
    };
    both(R"("resources/list")", R"({"resources":[{"uri":"a:1","name":"A"}],"nextCursor":"2"})",
         R"({"resources":[{"uri":"a:2","description":"two"}]})");
    both(R"("resources/templates/list")",
         R"({"resourceTemplates":[{"uriTemplate":"a:{n}"}],"nextCursor":"2"})",
         R"({"resourceTemplates":[]})");
    both(R"("prompts/list")", R"({"prompts":[],"nextCursor":"2"})",
         R"({"prompts":[{"name":"p","description":"P"}]})");
    (void)peer.read_line();
  });
  auto client = Client::connect({.socket = gateway.path()});
  ASSERT_TRUE(client);
  const auto resources = client->list_resources();
  ASSERT_TRUE(resources);
  ASSERT_EQ(resources->size(), 2U);
  EXPECT_EQ(resources->front().name, "A");
  EXPECT_EQ(resources->back().uri, "a:2");
  EXPECT_EQ(resources->back().json, R"({"uri":"a:2","description":"two"})");
  const auto templates = client->list_resource_templates();
  ASSERT_TRUE(templates);
  ASSERT_EQ(templates->size(), 1U);
  EXPECT_EQ(templates->front().uri_template, "a:{n}");
  const auto prompts = client->list_prompts();
  ASSERT_TRUE(prompts);
  ASSERT_EQ(prompts->size(), 1U);
  EXPECT_EQ(prompts->front().description, "P");
}

TEST(NamedLists, FailWhereAnItemHasNotWhatItIsCalledBy) {
  Recorder recorder(R"({"resources":[{"name":"A"}],"prompts":{}})");
  auto client = recorder.connect();
  const auto resources = client.list_resources();
  ASSERT_FALSE(resources);
  EXPECT_EQ(resources.error().code, ErrorCode::protocol);
  EXPECT_EQ(resources.error().text, "one of the resources has no uri");
  const auto prompts = client.list_prompts();
  ASSERT_FALSE(prompts);
  EXPECT_EQ(prompts.error().text, "the answer holds no list of prompts");
}

TEST(NamedLists, AreHeldToTheirBounds) {
  Recorder recorder(R"({"resources":[{"uri":"a:1"}],"nextCursor":"again"})");
  Options options;
  options.limits.list_pages = 3;
  auto client = recorder.connect(std::move(options));
  const auto resources = client.list_resources();
  ASSERT_FALSE(resources);
  EXPECT_EQ(resources.error().code, ErrorCode::too_large);
  EXPECT_EQ(resources.error().text, "the server's list of resources is too long");
}

TEST(NamedRequests, AreDeniedByTheRulesOfTheHost) {
  Recorder recorder("{}");
  Options options;
  options.permission.rules = {
      {.kind = CallKind::resource, .name = "file:///secret*", .verdict = Verdict::deny},
      {.kind = CallKind::prompt, .name = "*", .verdict = Verdict::deny},
      {.kind = CallKind::other, .name = "completion/complete", .verdict = Verdict::deny}};
  {
    auto client = recorder.connect(std::move(options));
    EXPECT_EQ(client.read_resource("file:///secrets").error().code, ErrorCode::denied_by_host);
    EXPECT_EQ(client.subscribe("file:///secrets").error().code, ErrorCode::denied_by_host);
    EXPECT_EQ(client.get_prompt("p").error().code, ErrorCode::denied_by_host);
    EXPECT_EQ(client.complete({.prompt = "p", .argument = "a"}).error().code,
              ErrorCode::denied_by_host);
    EXPECT_TRUE(client.read_resource("file:///open"));
  }
  EXPECT_THAT(recorder.said(), ElementsAre(HasSubstr("file:///open")));
}

TEST(NamedRequests, OfTheHostsOwnHouseAskNobody) {
  Recorder recorder(R"({"prompts":[]})");
  Options options;
  options.permission.otherwise = Verdict::deny;
  auto client = recorder.connect(std::move(options));
  EXPECT_TRUE(client.ping());
  EXPECT_TRUE(client.set_log_level(LogLevel::debug));
  EXPECT_TRUE(client.list_prompts());
}

TEST(NamedRequests, OfASessionAreThoseOfTheConnection) {
  Recorder recorder(R"({"resources":[],"resourceTemplates":[],"prompts":[]})");
  boost::asio::io_context context;
  Session session(context.get_executor(), {.socket = recorder.path()});
  std::size_t good = 0;
  const auto count = [&](const auto& result) { good += result ? 1U : 0U; };
  session.connect([&](const Result<void>&) {
    session.list_resources(count);
    session.list_resource_templates(count);
    session.read_resource("a:1", count);
    session.subscribe("a:1", count);
    session.unsubscribe("a:1", count);
    session.list_prompts(count);
    session.get_prompt("p", "{}", count);
    session.complete({.prompt = "p", .argument = "a"}, count);
    session.set_log_level(LogLevel::error, count);
    session.ping([&](const Result<void>& answer) {
      count(answer);
      session.close();
    });
  });
  context.run();
  EXPECT_EQ(good, 10U);
  EXPECT_THAT(recorder.said(),
              ElementsAre(HasSubstr("resources/list"), HasSubstr("resources/templates/list"),
                          HasSubstr("resources/read"), HasSubstr("resources/subscribe"),
                          HasSubstr("resources/unsubscribe"), HasSubstr("prompts/list"),
                          HasSubstr("prompts/get"), HasSubstr("completion/complete"),
                          HasSubstr("logging/setLevel"), HasSubstr("ping")));
}

TEST(NamedRequests, AreCancelledByTheirNumber) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  Connection connection({.socket = gateway.path()});
  std::vector<ErrorCode> ends;
  bool is_connected = false;
  connection.connect([&](const Result<void>&) { is_connected = true; });
  while (!is_connected) EXPECT_TRUE(connection.process());
  const auto call = connection.read_resource(
      "a:1", {}, [&](const Result<std::string>& result) { ends.push_back(result.error().code); });
  connection.cancel(call);
  EXPECT_TRUE(connection.process());
  EXPECT_THAT(ends, ElementsAre(ErrorCode::cancelled));
}

}  // namespace
}  // namespace cellblock::client
