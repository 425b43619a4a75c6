#include <gmock/gmock.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <latch>
#include <thread>

#include "cellblock/client.h"
#include "cellblock/session.h"
#include "tests/unit/fake_gateway.h"

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Client connect_to(const FakeGateway& gateway, Options options = {}) {
  options.socket = gateway.path();
  auto client = Client::connect(std::move(options));
  EXPECT_TRUE(client) << client.error().text;
  return *std::move(client);
}

TEST(ClientLibrary, AttachesAndCallsATool) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr(R"("params":{"name":"echo","arguments":{"text":"hi"}})"));
    peer.answer(call,
                R"({"content":[{"type":"text","text":"hi"},{"type":"text","text":"there"}]})");
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  const auto attached = client.attach("files");
  ASSERT_TRUE(attached);
  EXPECT_EQ(attached->cell, "2");
  ASSERT_TRUE(client.initialize());
  const auto result = client.call_tool("echo", R"({"text":"hi"})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "hi\nthere");
  EXPECT_FALSE(result->is_error);
}

TEST(ClientLibrary, ReadsAllPagesOfTools) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"tools":[{"name":"a"}],"nextCursor":"2"})");
    const auto second = peer.read_line().value_or("");
    EXPECT_THAT(second, HasSubstr(R"("params":{"cursor":"2"})"));
    peer.answer(second, R"({"tools":[{"name":"b","description":"B"}]})");
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  const auto tools = client.list_tools();
  ASSERT_TRUE(tools);
  ASSERT_EQ(tools->size(), 2U);
  EXPECT_EQ(tools->back().json, R"({"name":"b","description":"B"})");
}

TEST(ClientLibrary, StopsListingAServerThatNeverEnds) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (auto line = peer.read_line()) {
      peer.answer(*line, R"({"tools":[{"name":"a"}],"nextCursor":"again"})");
    }
  });
  Options options;
  options.limits.list_pages = 3;
  auto client = connect_to(gateway, std::move(options));
  EXPECT_EQ(client.list_tools().error().code, ErrorCode::too_large);
}

TEST(ClientLibrary, TellsTheServerWhenADeadlinePasses) {
  std::string told;
  std::latch heard(1);
  FakeGateway gateway([&](FakeConnection& peer) {
    (void)peer.read_line();
    told = peer.read_line().value_or("");
    heard.count_down();
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  const auto result = client.call_tool("slow", "{}", {.timeout = milliseconds(1), .stop = {}});
  EXPECT_EQ(result.error().code, ErrorCode::timed_out);
  heard.wait();
  EXPECT_THAT(told, HasSubstr(R"("method":"notifications/cancelled","params":{"requestId":1)"));
}

TEST(ClientLibrary, CancelsFromAnotherThread) {
  std::stop_source stop;
  std::string told;
  std::latch heard(1);
  FakeGateway gateway([&](FakeConnection& peer) {
    (void)peer.read_line();
    stop.request_stop();
    told = peer.read_line().value_or("");
    heard.count_down();
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  const auto result =
      client.call_tool("slow", "{}", {.timeout = milliseconds(60'000), .stop = stop.get_token()});
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
  heard.wait();
  EXPECT_THAT(told, HasSubstr("notifications/cancelled"));
}

TEST(ClientLibrary, EndsOpenCallsWhenTheConnectionDoes) {
  FakeGateway gateway([](FakeConnection& peer) { (void)peer.read_line(); });
  auto client = connect_to(gateway);
  EXPECT_EQ(client.call_tool("a").error().code, ErrorCode::disconnected);
  EXPECT_EQ(client.call_tool("a").error().code, ErrorCode::disconnected);
}

TEST(ClientLibrary, RefusesALineOverItsBound) {
  FakeGateway gateway([](FakeConnection& peer) {
    (void)peer.read_line();
    peer.send(std::string(5000, 'x'));
    (void)peer.read_line();
  });
  Options options;
  options.limits.incoming_line = 4096;
  auto client = connect_to(gateway, std::move(options));
  EXPECT_EQ(client.call_tool("a").error().code, ErrorCode::too_large);
}

TEST(ClientLibrary, ClosesOnGarbage) {
  FakeGateway gateway([](FakeConnection& peer) {
    (void)peer.read_line();
    peer.send("oh no\n");
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  EXPECT_EQ(client.call_tool("a").error().code, ErrorCode::protocol);
}

TEST(ClientLibrary, HandsNotificationsOnAndAnswersRequests) {
  std::vector<std::string> answers;
  FakeGateway gateway([&](FakeConnection& peer) {
    const auto call = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}})"
              "\n"
              R"({"jsonrpc":"2.0","id":"p","method":"ping"})"
              "\n"
              R"({"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"})"
              "\n");
    answers = {peer.read_line().value_or(""), peer.read_line().value_or("")};
    peer.answer(call, R"({"content":[]})");
    (void)peer.read_line();
  });
  std::vector<std::string> seen;
  Options options;
  options.on_notification = [&](std::string_view method, std::string_view params) {
    seen.push_back(std::string(method) + std::string(params));
  };
  auto client = connect_to(gateway, std::move(options));
  ASSERT_TRUE(client.call_tool("a"));
  EXPECT_THAT(seen, ElementsAre(R"(notifications/progress{"progress":1})"));
  EXPECT_THAT(
      answers,
      ElementsAre(
          R"({"jsonrpc":"2.0","id":"p","result":{}})",
          R"({"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}})"));
}

TEST(ClientLibrary, ShowsAnObserverWhatIsSentAndWhatComes) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({ "x":1 })");
    (void)peer.read_line();
  });
  std::vector<std::string> seen;
  Options options;
  options.on_frame = [&seen](FrameDirection direction, std::string_view frame) {
    seen.push_back((direction == FrameDirection::to_daemon ? "to " : "from ") + std::string(frame));
  };
  auto client = connect_to(gateway, std::move(options));
  ASSERT_TRUE(client.request("a/b"));
  ASSERT_TRUE(client.notify("notifications/c"));
  EXPECT_THAT(seen, ElementsAre(R"(to {"jsonrpc":"2.0","id":1,"method":"a/b","params":{}})",
                                HasSubstr(R"("result":{ "x":1 })"),
                                R"(to {"jsonrpc":"2.0","method":"notifications/c","params":{}})"));
}

TEST(ClientLibrary, MakesAnErrorOfAFailureThatIsDressedForTheModel) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""),
                R"({"content":[{"type":"text","text":"crashed\nhere"},)"
                R"({"type":"text","text":"try again later"}],"isError":true,)"
                R"("_meta":{"cellblock/error":{"code":"server_failed","advice":"try again later",)"
                R"("cause":"exited"}}})");
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  const auto result = client.call_tool("a");
  EXPECT_EQ(result.error().code, ErrorCode::server_failed);
  EXPECT_EQ(result.error().text, "crashed here") << "one line";
  EXPECT_EQ(result.error().advice, "try again later");
}

TEST(ClientLibrary, ReportsWhyTheDaemonTurnedItAway) {
  std::latch connected(1);
  FakeGateway gateway([&](FakeConnection& peer) {
    peer.send(R"({"jsonrpc":"2.0","error":{"code":-31006,"message":"Too many connections."}})"
              "\n");
    connected.wait();
  });
  auto client = connect_to(gateway);
  ASSERT_TRUE(client.serve_for(milliseconds(1)));
  connected.count_down();
  EXPECT_EQ(client.attach("files").error().code, ErrorCode::too_many);
}

TEST(ClientLibrary, SaysThatNobodyListens) {
  Options options;
  options.socket = "/nonexistent/cellblock.sock";
  EXPECT_EQ(Client::connect(std::move(options)).error().code, ErrorCode::unreachable);
}

TEST(Session, RunsManyCallsAtOnceAndMatchesTheirAnswers) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto first = peer.read_line().value_or("");
    const auto second = peer.read_line().value_or("");
    peer.answer(second, R"("second")");
    peer.answer(first, R"("first")");
    (void)peer.read_line();
  });
  boost::asio::io_context context;
  Session session(context.get_executor(), {.socket = gateway.path()});
  std::vector<std::string> order;
  const auto note = [&](Result<std::string> result) {
    order.push_back(result.value_or("failed"));
    if (order.size() == 2) session.close();
  };
  session.connect([&](Result<void> connected) {
    ASSERT_TRUE(connected);
    session.request("one", "{}", no_deadline, note);
    session.request("two", "{}", no_deadline, note);
  });
  context.run();
  EXPECT_THAT(order, ElementsAre(R"("second")", R"("first")"));
}

TEST(Session, CompletesEveryCallOnceWhenItIsDestroyed) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  boost::asio::io_context context;
  std::vector<ErrorCode> ends;
  auto session =
      std::make_unique<Session>(context.get_executor(), Options{.socket = gateway.path()});
  session->connect([&](Result<void>) {
    session->request("one", "{}", no_deadline,
                     [&](Result<std::string> result) { ends.push_back(result.error().code); });
    session.reset();
    EXPECT_TRUE(ends.empty()) << "never inside the call";
  });
  context.run();
  EXPECT_THAT(ends, ElementsAre(ErrorCode::cancelled));
}

TEST(Session, EndsACallAtItsDeadlineAndItsContextWithTheConnection) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  boost::asio::io_context context;
  Session session(context.get_executor(), {.socket = gateway.path()});
  std::vector<ErrorCode> ends;
  session.connect([&](Result<void>) {
    session.request("slow", "{}", no_deadline, [&](const Result<std::string>& result) {
      ends.push_back(result.error().code);
    });
    session.request("one", "{}", milliseconds(1), [&](const Result<std::string>& result) {
      ends.push_back(result.error().code);
      session.close();
    });
  });
  context.run();
  EXPECT_THAT(ends, ElementsAre(ErrorCode::timed_out, ErrorCode::cancelled));
}

TEST(Session, OfAContextThatHasEndedRunsNothingMore) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  const auto held = std::make_shared<int>();
  {
    boost::asio::io_context context;
    Session session(context.get_executor(), {.socket = gateway.path()});
    session.connect([held](const Result<void>&) { FAIL() << "nobody runs the context"; });
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace cellblock::client
