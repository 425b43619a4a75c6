#include <gmock/gmock.h>

#include "cellblock/cellblock.h"
#include "cellblock/client.h"
#include "tests/unit/fake_gateway.h"

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// What connect() says of options; "connected" where it says nothing.
std::string said_of(Options options) {
  FakeGateway gateway([](FakeConnection& peer) { (void)peer.read_line(); });
  options.socket = options.socket.empty() ? gateway.path() : options.socket;
  const auto client = Client::connect(std::move(options));
  if (client) return "connected";
  EXPECT_EQ(client.error().code, ErrorCode::invalid_argument) << client.error().text;
  return client.error().text;
}

std::string said_of(PermissionRule rule) {
  Options options;
  options.permission.rules = {{.name = "fine_*"}, std::move(rule)};
  return said_of(std::move(options));
}

TEST(Options, WithARuleThatCanNeverMatchAreRefusedInTheDaemonsWords) {
  EXPECT_EQ(said_of({.name = "*crash", .verdict = Verdict::deny}),
            "permission.rules[1]: \"*crash\" is no tool name; allowed: at most 128 of A-Z a-z 0-9 "
            "_ . / -, with or without one * at the end");
  EXPECT_THAT(said_of({.name = ""}), HasSubstr("\"\" is no tool name"));
  EXPECT_THAT(said_of({.name = "read\nfile"}), HasSubstr("is no tool name"));
  EXPECT_THAT(said_of({.kind = CallKind::resource, .name = "file:///a/../b*"}),
              HasSubstr("is no URI; allowed: a scheme"));
  EXPECT_THAT(said_of({.kind = CallKind::prompt, .name = "a*b"}), HasSubstr("is no prompt's name"));
  EXPECT_THAT(said_of({.server = "Files"}),
              HasSubstr("\"Files\" is no server name; allowed: [a-z][a-z0-9-]{0,62}"));
}

TEST(Options, WithARuleAboutARequestThatNoRuleDecidesAreRefused) {
  EXPECT_THAT(said_of({.kind = CallKind::other, .name = "tools/list"}),
              HasSubstr("sent without asking any rule"));
  EXPECT_THAT(said_of({.kind = CallKind::other, .name = "tools/call"}),
              HasSubstr("decided by rules of another kind"));
  EXPECT_EQ(said_of({.kind = CallKind::other, .name = "vendor/*"}), "connected");
  EXPECT_EQ(said_of({.kind = CallKind::other, .name = "*"}), "connected");
}

TEST(Options, WithAVerdictOrKindThatIsNoneAreRefused) {
  EXPECT_THAT(said_of({.verdict = static_cast<Verdict>(3)}), HasSubstr("none of allow, ask, deny"));
  EXPECT_THAT(said_of({.kind = static_cast<CallKind>(4)}), HasSubstr("none of tool"));
  Options options;
  options.permission.otherwise = static_cast<Verdict>(9);
  EXPECT_THAT(said_of(std::move(options)), HasSubstr("permission.otherwise"));
}

TEST(Options, WithALimitThatLetsNothingThroughAreRefused) {
  for (std::size_t Limits::* const limit :
       {&Limits::incoming_line, &Limits::outgoing_line, &Limits::outgoing_queue,
        &Limits::calls_in_flight, &Limits::list_pages, &Limits::list_items}) {
    Options options;
    options.limits.*limit = 0;
    EXPECT_THAT(said_of(std::move(options)), HasSubstr(" is 0; allowed: at least "));
  }
}

TEST(Options, WithTextsThatAreNotWhatTheyAreCalledAreRefused) {
  EXPECT_EQ(said_of(Options{.client_name = "a\xff"}), "client_name is no UTF-8");
  EXPECT_EQ(said_of(Options{.client_version = "\xc0\x80"}), "client_version is no UTF-8");
  for (const char* text : {"", "[]", "{", "1", "{}{}"}) {
    EXPECT_EQ(said_of(Options{.capabilities = text}), "capabilities is no JSON object") << text;
  }
  EXPECT_EQ(said_of(Options{.approval_timeout = milliseconds(0)}),
            "approval_timeout is 0 ms; allowed: at least 1");
  EXPECT_EQ(said_of(Options{.socket = std::string("/a\0b", 4)}), "socket has a NUL inside");
}

TEST(Options, WithTwoAnswersToOneQuestionAreRefused) {
  Options options;
  options.on_request = [](std::string_view, std::string_view) { return "{}"; };
  options.on_server_request = [](const ServerRequest&, const RequestAnswer&) {};
  EXPECT_THAT(said_of(std::move(options)), HasSubstr("allowed: one of them"));
}

TEST(Reconnect, WithoutAnAttemptIsRefused) {
  FakeGateway gateway([](FakeConnection& peer) { (void)peer.read_line(); });
  auto client = Client::connect({.socket = gateway.path()});
  ASSERT_TRUE(client);
  EXPECT_EQ(client->reconnect({.attempts = 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(client->reconnect({.first_wait = milliseconds(-1)}).error().code,
            ErrorCode::invalid_argument);
}

TEST(CallOptions, AtMostBelowTheTimeoutIsTheDeadline) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  auto client = Client::connect({.socket = gateway.path()});
  ASSERT_TRUE(client);
  EXPECT_EQ(
      client
          ->call_tool("slow", "{}", {.timeout = std::chrono::hours(1), .at_most = milliseconds(1)})
          .error()
          .code,
      ErrorCode::timed_out);
}

/// The same in C, where a setter's answer is easily not looked at.
TEST(OptionsInC, ThatASetterRefusedDoNotConnect) {
  FakeGateway gateway([](FakeConnection& peer) { (void)peer.read_line(); });
  const auto connect = [&](auto set) {
    auto* const options = cellblock_options_new();
    cellblock_options_socket(options, gateway.path().c_str());
    set(options);
    cellblock_client* client = nullptr;
    cellblock_error* error = nullptr;
    EXPECT_EQ(cellblock_connect(options, &client, &error), CELLBLOCK_INVALID_ARGUMENT);
    std::string said = cellblock_error_text(error);
    cellblock_error_free(error);
    cellblock_client_free(client);
    cellblock_options_free(options);
    return said;
  };
  EXPECT_THAT(connect([](cellblock_options* options) {
                cellblock_options_rule(options, nullptr, CELLBLOCK_TOOL, "delete",
                                       static_cast<cellblock_verdict>(3), nullptr);
              }),
              HasSubstr("a rule has a kind, a name and a verdict"));
  EXPECT_THAT(connect([](cellblock_options* options) {
                cellblock_options_rule(options, nullptr, CELLBLOCK_TOOL, "*crash", CELLBLOCK_DENY,
                                       nullptr);
              }),
              HasSubstr("\"*crash\" is no tool name"));
  EXPECT_EQ(
      connect([](cellblock_options* options) { cellblock_options_capabilities(options, "[]"); }),
      "capabilities is no JSON object");
}

}  // namespace
}  // namespace cellblock::client
