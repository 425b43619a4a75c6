#include <gmock/gmock.h>

#include <atomic>
#include <latch>

#include "cellblock/client.h"
#include "tests/unit/fake_gateway.h"

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ReconnectOptions soon{.attempts = 4, .first_wait = milliseconds(1)};

Client connect_to(const FakeGateway& gateway, Options options = {}) {
  options.socket = gateway.path();
  auto client = Client::connect(std::move(options));
  EXPECT_TRUE(client) << client.error().text;
  return *std::move(client);
}

TEST(Reconnect, AttachesAndGreetsAsBeforeAndRepeatsNoCall) {
  std::atomic<int> connections = 0;
  std::vector<std::string> second;
  std::latch heard(1);
  FakeGateway gateway([&](FakeConnection& peer) {
    if (connections++ == 0) {
      peer.greet();
      (void)peer.read_line();  // the call that is lost
      return;
    }
    for (const auto* answer : {R"({"server":"files","session":"3","cell":"4"})", "{}"}) {
      second.push_back(peer.read_line().value_or(""));
      peer.answer(second.back(), answer);
    }
    second.push_back(peer.read_line().value_or(""));
    second.push_back(peer.read_line().value_or(""));
    peer.answer(second.back(), R"({"content":[]})");
    heard.count_down();
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  ASSERT_TRUE(client.attach("files", {.labels = {{"org", "acme"}}, .role = "coder"}));
  ASSERT_TRUE(client.initialize());
  EXPECT_EQ(client.call_tool("lost").error().code, ErrorCode::disconnected);
  const auto attached = client.reconnect(soon);
  ASSERT_TRUE(attached) << attached.error().text;
  EXPECT_EQ(attached->session, "3");
  ASSERT_TRUE(client.call_tool("next"));
  heard.wait();
  EXPECT_THAT(second,
              ElementsAre(HasSubstr(R"("server":"files","role":"coder","labels":{"org":"acme"})"),
                          HasSubstr("initialize"), HasSubstr("notifications/initialized"),
                          HasSubstr(R"("name":"next")")));
}

TEST(Reconnect, TriesAgainWhileItMayPass) {
  std::atomic<int> connections = 0;
  FakeGateway gateway([&](FakeConnection& peer) {
    const int number = connections++;
    const auto line = peer.read_line().value_or("");
    if (number == 1) return;
    if (number == 2) {
      return peer.send(R"({"jsonrpc":"2.0","id":)" + FakeConnection::id_of(line) +
                       R"(,"error":{"code":-31006,"message":"Too many cells."}})"
                       "\n");
    }
    peer.answer(line, R"({"server":"files","session":"1","cell":"2"})");
    if (number > 0) (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  ASSERT_TRUE(client.attach("files"));
  EXPECT_TRUE(client.reconnect(soon));
  EXPECT_EQ(connections, 4);
}

TEST(Reconnect, EndsAfterItsAttemptsWithTheLastError) {
  std::atomic<int> connections = 0;
  FakeGateway gateway([&](FakeConnection& peer) {
    connections++;
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  EXPECT_FALSE(client.attach("files"));
  EXPECT_EQ(client.reconnect(soon).error().code, ErrorCode::disconnected);
  EXPECT_EQ(connections, 5);
}

TEST(Reconnect, DoesNotInsistOnWhatIsRefused) {
  std::atomic<int> connections = 0;
  FakeGateway gateway([&](FakeConnection& peer) {
    connections++;
    const auto line = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","id":)" + FakeConnection::id_of(line) +
              R"(,"error":{"code":-31001,"message":"No."}})"
              "\n");
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  EXPECT_FALSE(client.attach("files"));
  EXPECT_EQ(client.reconnect(soon).error().code, ErrorCode::refused);
  EXPECT_EQ(connections, 2);
}

TEST(Reconnect, SaysThatTheDaemonHasGone) {
  std::optional<Client> client;
  {
    FakeGateway gateway([](FakeConnection& peer) { peer.greet(); });
    client = connect_to(gateway);
    ASSERT_TRUE(client->attach("files"));
    ASSERT_TRUE(client->initialize());
  }
  EXPECT_EQ(client->reconnect(soon).error().code, ErrorCode::unreachable);
}

TEST(Reconnect, IsEndedFromAnotherThread) {
  std::optional<Client> client;
  {
    FakeGateway gateway([](FakeConnection&) {});
    client = connect_to(gateway);
  }
  std::stop_source stop;
  const std::jthread person([&] { stop.request_stop(); });
  const auto ended = client->reconnect(
      {.first_wait = milliseconds(600'000), .longest_wait = milliseconds(600'000)},
      {.stop = stop.get_token()});
  EXPECT_EQ(ended.error().code, ErrorCode::cancelled);
}

TEST(Reconnect, TellsTheEndOfAConnectionOnce) {
  std::atomic<int> connections = 0;
  FakeGateway gateway([&](FakeConnection& peer) {
    connections++;
    (void)peer.read_line();
  });
  int told = 0;
  Options options;
  options.on_ended = [&](const Error&) { told += 1; };
  auto client = connect_to(gateway, std::move(options));
  EXPECT_FALSE(client.attach("files"));
  EXPECT_FALSE(client.reconnect(soon));
  EXPECT_EQ(told, 1) << "what the attempts met is the answer of reconnect";
}

}  // namespace
}  // namespace cellblock::client
