#include <gmock/gmock.h>

#include "cellblock/client.h"
#include "tests/unit/fake_gateway.h"

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto nothing = R"({"content":[]})";

Client connect_to(const FakeGateway& gateway, Options options = {}) {
  options.socket = gateway.path();
  auto client = Client::connect(std::move(options));
  EXPECT_TRUE(client) << client.error().text;
  return *std::move(client);
}

void say(const FakeConnection& peer, std::string_view method, std::string_view params) {
  peer.send(R"({"jsonrpc":"2.0","method":")" + std::string(method) + R"(","params":)" +
            std::string(params) + "}\n");
}

void say_progress(const FakeConnection& peer, std::string_view params) {
  say(peer, "notifications/progress", params);
}

TEST(CallProgress, ReachesTheCallThatWantsIt) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr(R"("_meta":{"progressToken":1})"));
    say_progress(peer, R"({"progressToken":1,"progress":1,"total":4,"message":"one"})");
    say_progress(peer, R"({"progressToken":1,"progress":1})");
    say_progress(peer, R"({"progressToken":2,"progress":9})");
    say_progress(peer, R"({"progressToken":1})");
    say_progress(peer, R"({"progressToken":1,"progress":2.5})");
    peer.answer(call, nothing);
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  std::vector<std::string> seen;
  CallOptions options;
  options.on_progress = [&](const Progress& progress) {
    seen.push_back(std::to_string(progress.progress) + " " +
                   std::to_string(progress.total.value_or(0)) + " " + progress.message);
  };
  ASSERT_TRUE(client.call_tool("slow", "{}", options));
  EXPECT_THAT(seen, ElementsAre("1.000000 4.000000 one", "2.500000 0.000000 "));
}

TEST(CallProgress, IsNotAskedForByACallThatWantsNone) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, Not(HasSubstr("progressToken")));
    peer.answer(call, nothing);
    (void)peer.read_line();
  });
  EXPECT_TRUE(connect_to(gateway).call_tool("quick"));
}

TEST(CallProgress, EndsWithTheCap) {
  FakeGateway gateway([](FakeConnection& peer) {
    (void)peer.read_line();
    say_progress(peer, R"({"progressToken":1,"progress":1})");
    EXPECT_THAT(peer.read_line().value_or(""), HasSubstr("notifications/cancelled"));
  });
  auto client = connect_to(gateway);
  EXPECT_EQ(
      client.call_tool("slow", "{}", {.timeout = milliseconds(5), .at_most = milliseconds(10)})
          .error()
          .code,
      ErrorCode::timed_out);
}

TEST(Notices, AreReadForTheHandlersThatWantThem) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto call = peer.read_line().value_or("");
    say(peer, "notifications/message", R"({"level":"warning","logger":"db","data":{"x":1}})");
    say(peer, "notifications/message", R"({"data":"no level"})");
    say(peer, "notifications/tools/list_changed", "{}");
    say(peer, "notifications/resources/list_changed", "{}");
    say(peer, "notifications/resources/updated", R"({"uri":"file:///a"})");
    say(peer, "notifications/vendor", "{}");
    peer.answer(call, nothing);
    (void)peer.read_line();
  });
  std::vector<std::string> seen;
  std::size_t all = 0;
  Options options;
  options.on_notification = [&](std::string_view, std::string_view) { all += 1; };
  options.notices.on_log = [&](const LogMessage& message) {
    seen.push_back(message.level + " " + message.logger + " " + message.data);
  };
  options.notices.on_list_changed = [&](ListKind list) {
    seen.push_back("changed " + std::to_string(static_cast<int>(list)));
  };
  options.notices.on_resource_updated = [&](const std::string& uri) { seen.push_back(uri); };
  auto client = connect_to(gateway, std::move(options));
  ASSERT_TRUE(client.call_tool("a"));
  EXPECT_THAT(seen, ElementsAre(R"(warning db {"x":1})", "changed 0", "changed 1", "file:///a"));
  EXPECT_EQ(all, 6U);
}

TEST(Failure, HasItsStableCode) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""),
                R"({"content":[],"isError":true,"_meta":{"cellblock/error":)"
                R"({"code":"rate_limited","retry_after_ms":200}}})");
    const auto second = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","id":)" + FakeConnection::id_of(second) +
              R"(,"error":{"code":-31015,"message":"Ask.","data":{"code":"approval_required"}}})"
              "\n");
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  const auto limited = client.call_tool("a").error();
  EXPECT_EQ(limited.failure, "rate_limited");
  EXPECT_EQ(limited.code, ErrorCode::too_many);
  const auto asked = client.request("prompts/get", R"({"name":"p"})").error();
  EXPECT_EQ(asked.failure, "approval_required");
  EXPECT_EQ(asked.code, ErrorCode::approval_required);
  EXPECT_THAT(asked.data, HasSubstr("approval_required"));
}

}  // namespace
}  // namespace cellblock::client
