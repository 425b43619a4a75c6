#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cellblock/cellblock.h"
#include "cellblock/client.h"
#include "cellblock/connection.h"
#include "cellblock/session.h"
#include "tests/unit/fake_gateway.h"

/// A host that throws, calls back, destroys, moves and forks: it costs what it was doing.

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto nothing = R"({"content":[]})";

/// Answers every call; where it is a call of "notify", sends each of these lines first.
FakeGateway::Script answering(std::vector<std::string> lines = {}) {
  return [lines = std::move(lines)](FakeConnection& peer) {
    while (auto line = peer.read_line()) {
      if (line->find("\"method\"") == std::string::npos) continue;  // an answer of the host's
      if (FakeConnection::id_of(*line) == "null") continue;
      if (line->find("notify") != std::string::npos) {
        for (const auto& more : lines) peer.send(more + "\n");
      }
      peer.answer(*line, nothing);
    }
  };
}

constexpr auto progress =
    R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}})";
constexpr auto log_message =
    R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})";
constexpr auto question = R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})";

Client connect_to(const FakeGateway& gateway, Options options = {}) {
  options.socket = gateway.path();
  auto client = Client::connect(std::move(options));
  EXPECT_TRUE(client) << client.error().text;
  return *std::move(client);
}

[[noreturn]] void fail_badly() { throw std::runtime_error("out of\nluck"); }

TEST(HandlerThatThrows, OnPermissionDeniesItsCallAlone) {
  FakeGateway gateway(answering());
  std::vector<std::string> told;
  Options options;
  options.on_permission = [](const CallToApprove& call) -> Decision {
    if (call.name == "bad") fail_badly();
    return Decision::allow();
  };
  options.on_handler_failure = [&](const Error& what) { told.push_back(what.text); };
  auto client = connect_to(gateway, std::move(options));
  const auto denied = client.call_tool("bad");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, ErrorCode::denied_by_host);
  EXPECT_THAT(denied.error().text, HasSubstr(R"(on_permission threw: out of\x0aluck)"));
  EXPECT_THAT(told, ElementsAre(R"(on_permission threw: out of\x0aluck)"));
  EXPECT_TRUE(client.call_tool("good"));
}

TEST(HandlerThatThrows, OnApprovalDeniesItsCallAlone) {
  FakeGateway gateway(answering());
  Options options;
  options.permission.rules = {{.name = "bad", .verdict = Verdict::ask}};
  options.on_approval = [](const CallToApprove&, const ApprovalAnswer&) { throw 1; };
  auto client = connect_to(gateway, std::move(options));
  const auto denied = client.call_tool("bad");
  EXPECT_EQ(denied.error().code, ErrorCode::denied_by_host);
  EXPECT_THAT(denied.error().text, HasSubstr("on_approval threw: what is no std::exception"));
  EXPECT_TRUE(client.call_tool("good"));
}

TEST(HandlerThatThrows, OnProgressFailsItsCallAlone) {
  FakeGateway gateway(answering({progress}));
  auto client = connect_to(gateway);
  const auto failed =
      client.call_tool("notify", "{}", {.on_progress = [](const Progress&) { fail_badly(); }});
  EXPECT_EQ(failed.error().code, ErrorCode::handler_failed);
  EXPECT_THAT(failed.error().text, HasSubstr("on_progress threw"));
  EXPECT_TRUE(client.call_tool("good"));
}

TEST(HandlerThatThrows, OnANoticeCostsNoCallAndIsTold) {
  FakeGateway gateway(answering({log_message}));
  std::vector<std::string> told;
  Options options;
  options.on_notification = [](std::string_view, std::string_view) { fail_badly(); };
  options.notices.on_log = [](const LogMessage&) { fail_badly(); };
  options.on_handler_failure = [&](const Error& what) {
    told.push_back(what.text);
    fail_badly();
  };
  auto client = connect_to(gateway, std::move(options));
  EXPECT_TRUE(client.call_tool("notify"));
  EXPECT_THAT(told, ElementsAre(HasSubstr("on_notification threw"), HasSubstr("on_log threw")));
}

TEST(HandlerThatThrows, OnARequestIsAnErrorToTheServerThatSaysNothingOfIt) {
  for (const bool later : {false, true}) {
    std::string answer;
    FakeGateway gateway([&](FakeConnection& peer) {
      const auto call = peer.read_line().value_or("");
      peer.send(std::string(question) + "\n");
      answer = peer.read_line().value_or("");
      peer.answer(call, nothing);
      (void)peer.read_line();
    });
    Options options;
    if (later) {
      options.on_server_request = [](const ServerRequest&, const RequestAnswer&) { fail_badly(); };
    } else {
      options.on_request = [](std::string_view, std::string_view) -> Result<std::string> {
        fail_badly();
      };
    }
    auto client = connect_to(gateway, std::move(options));
    EXPECT_TRUE(client.call_tool("x"));
    EXPECT_EQ(answer, R"({"jsonrpc":"2.0","id":"q","error":{"code":-32603,)"
                      R"("message":"the host failed to answer"}})");
  }
}

TEST(HandlerThatCallsBack, IsRefusedAtOnceAndItsCallGoesOn) {
  FakeGateway gateway(answering({log_message}));
  Client* self = nullptr;
  std::vector<ErrorCode> seen;
  Options options;
  options.on_notification = [&](std::string_view, std::string_view) {
    seen.push_back(self->call_tool("again").error().code);
    seen.push_back(self->notify("x").error().code);
    seen.push_back(self->serve_for(std::chrono::hours(1)).error().code);
    seen.push_back(self->reconnect().error().code);
  };
  auto client = connect_to(gateway, std::move(options));
  self = &client;
  EXPECT_TRUE(client.call_tool("notify"));
  EXPECT_THAT(seen, ElementsAre(ErrorCode::in_use, ErrorCode::in_use, ErrorCode::in_use,
                                ErrorCode::in_use));
  EXPECT_TRUE(client.call_tool("good"));
}

TEST(HandlerThatDestroys, ItsClientEndsTheCallThatWaits) {
  FakeGateway gateway(answering({log_message}));
  std::optional<Client> client;
  Options options;
  options.on_notification = [&](std::string_view, std::string_view) { client.reset(); };
  client = connect_to(gateway, std::move(options));
  EXPECT_EQ(client->call_tool("notify").error().code, ErrorCode::cancelled);
  EXPECT_FALSE(client);
}

TEST(HandlerThatDestroys, ItsClientWhileAskedForPermissionEndsTheCall) {
  FakeGateway gateway(answering());
  std::optional<Client> client;
  Options options;
  options.on_permission = [&](const CallToApprove&) {
    client.reset();
    return Decision::allow();
  };
  client = connect_to(gateway, std::move(options));
  EXPECT_EQ(client->call_tool("x").error().code, ErrorCode::disconnected) << "not sent";
}

TEST(HandlerThatCloses, ItsClientEndsTheCallThatWaits) {
  FakeGateway gateway(answering({log_message}));
  Client* self = nullptr;
  Options options;
  options.on_notification = [&](std::string_view, std::string_view) { self->close(); };
  auto client = connect_to(gateway, std::move(options));
  self = &client;
  EXPECT_EQ(client.call_tool("notify").error().code, ErrorCode::cancelled);
  EXPECT_EQ(client.call_tool("x").error().code, ErrorCode::disconnected);
  EXPECT_TRUE(client.reconnect());
  EXPECT_TRUE(client.call_tool("x"));
}

TEST(HandlerThatCloses, ItsClientWhenItSeesTheCallLeaveEndsTheCall) {
  FakeGateway gateway(answering());
  Client* self = nullptr;
  Options options;
  options.on_frame = [&](FrameDirection direction, std::string_view) {
    if (direction == FrameDirection::to_daemon) self->close();
  };
  auto client = connect_to(gateway, std::move(options));
  self = &client;
  EXPECT_EQ(client.call_tool("x").error().code, ErrorCode::cancelled);
}

TEST(Close, FromAnotherThreadEndsTheCallThatWaits) {
  std::latch called(1);
  FakeGateway gateway([&](FakeConnection& peer) {
    (void)peer.read_line();
    called.count_down();
    (void)peer.read_line();
  });
  auto client = connect_to(gateway);
  const std::jthread closing([&] {
    called.wait();
    client.close();
  });
  EXPECT_EQ(client.call_tool("slow").error().code, ErrorCode::cancelled);
}

TEST(HandlerThatDestroys, ItsSessionEndsEveryCallOnce) {
  FakeGateway gateway(answering({log_message}));
  boost::asio::io_context context;
  std::optional<Session> session;
  std::vector<ErrorCode> ends;
  Options options{.socket = gateway.path()};
  options.on_notification = [&](std::string_view, std::string_view) { session.reset(); };
  session.emplace(context.get_executor(), std::move(options));
  session->connect([&](const Result<void>& connected) {
    ASSERT_TRUE(connected);
    session->call_tool("notify", "{}", no_deadline,
                       [&](const Result<ToolResult>& done) { ends.push_back(done.error().code); });
  });
  context.run();
  EXPECT_THAT(ends, ElementsAre(ErrorCode::cancelled));
}

// Inside process(), and where nothing will call that again.
TEST(HandlerThatDestroys, ItsConnectionWhileAskedForPermissionCompletesEveryCallOnce) {
  for (const bool is_processing : {true, false}) {
    FakeGateway gateway([](FakeConnection& peer) {
      while (peer.read_line()) {
      }
    });
    Options options;
    options.socket = gateway.path();
    std::unique_ptr<Connection> connection;
    std::vector<std::string> ends;
    options.on_permission = [&](const CallToApprove& call) {
      if (call.name == "last") connection.reset();
      return Decision::allow();
    };
    connection = std::make_unique<Connection>(std::move(options));
    const auto call = [&](const char* tool) {
      connection->call_tool(tool, "{}", {}, [&ends, tool](const Result<ToolResult>& result) {
        ends.push_back(std::string(tool) + " " + std::string(name_of(result.error().code)));
      });
    };
    bool is_connected = false;
    connection->connect([&](const Result<void>&) {
      is_connected = true;
      call("first");
      if (is_processing) call("last");
    });
    while (connection && !is_connected) {
      pollfd waited{.fd = connection->descriptor(), .events = POLLIN, .revents = 0};
      (void)::poll(&waited, 1, -1);
      ASSERT_TRUE(connection->process());
    }
    if (!is_processing) call("last");
    EXPECT_FALSE(connection);
    EXPECT_THAT(ends, ElementsAre("first cancelled", "last disconnected"));
  }
}

TEST(HandlerThatDestroys, ItsSessionWhileAskedForPermissionCompletesTheCallOnce) {
  FakeGateway gateway(answering());
  boost::asio::io_context context;
  std::optional<Session> session;
  std::vector<std::string> ends;
  Options options;
  options.socket = gateway.path();
  options.on_permission = [&](const CallToApprove&) {
    session.reset();
    return Decision::allow();
  };
  session.emplace(context.get_executor(), std::move(options));
  session->connect([&](const Result<void>& connected) {
    ASSERT_TRUE(connected);
    // Not in process(), where the rest would run anyway.
    boost::asio::post(context, [&] {
      session->call_tool("x", "{}", no_deadline, [&](const Result<ToolResult>& result) {
        ends.emplace_back(name_of(result.error().code));
      });
    });
  });
  context.run();
  EXPECT_THAT(ends, ElementsAre("disconnected"));
}

TEST(MovedFrom, ClientIsDisconnectedInEveryFunction) {
  FakeGateway gateway(answering());
  auto client = connect_to(gateway);
  auto other = std::move(client);
  // NOLINTBEGIN(bugprone-use-after-move): what it says then
  EXPECT_EQ(client.call_tool("x").error().code, ErrorCode::disconnected);
  EXPECT_EQ(client.attach("files").error().code, ErrorCode::disconnected);
  EXPECT_EQ(client.initialize().error().code, ErrorCode::disconnected);
  EXPECT_EQ(client.list_tools().error().code, ErrorCode::disconnected);
  EXPECT_EQ(client.request("x").error().code, ErrorCode::disconnected);
  EXPECT_EQ(client.notify("x").error().code, ErrorCode::disconnected);
  EXPECT_EQ(client.reconnect().error().code, ErrorCode::disconnected);
  EXPECT_EQ(client.serve_for({}).error().code, ErrorCode::disconnected);
  client.close();
  EXPECT_TRUE(other.call_tool("x"));
  client = std::move(other);
  EXPECT_TRUE(client.call_tool("x"));
  // NOLINTEND(bugprone-use-after-move)
}

TEST(MovedFrom, SessionCompletesWithDisconnected) {
  boost::asio::io_context context;
  Session session(context.get_executor(), {});
  const Session other = std::move(session);
  std::vector<ErrorCode> ends;
  const auto note = [&](const auto& result) { ends.push_back(result.error().code); };
  // NOLINTBEGIN(bugprone-use-after-move): what it says then
  session.connect(note);
  session.attach("files", no_deadline, note);
  session.initialize(no_deadline, note);
  session.list_tools(no_deadline, note);
  EXPECT_EQ(session.call_tool("x", "{}", no_deadline, note), CallId::none);
  EXPECT_EQ(session.request("x", "{}", no_deadline, note), CallId::none);
  session.reconnect({}, note);
  EXPECT_EQ(session.notify("x", "{}").error().code, ErrorCode::disconnected);
  session.cancel(CallId::none);
  session.cancel_all();
  session.close();
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(ends.empty()) << "never inside the call";
  context.run();
  EXPECT_EQ(ends, std::vector(7, ErrorCode::disconnected));
}

/// 0: `act` said so in a child.
int in_child(const std::function<bool()>& act) {
  const auto child = ::fork();
  if (child == 0) ::_exit(act() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(Fork, LeavesTheConnectionToTheParentWhateverTheChildDoes) {
  FakeGateway gateway(answering());
  std::optional<Client> client = connect_to(gateway);
  ASSERT_TRUE(client->call_tool("x"));
  EXPECT_EQ(in_child([&] {
              const bool refused = client->call_tool("x").error().code == ErrorCode::other_process;
              const auto noted = client->notify("x").error().code == ErrorCode::other_process;
              client->close();
              client.reset();
              return refused && noted;
            }),
            0);
  EXPECT_TRUE(client->call_tool("x"));
  EXPECT_EQ(client->call_tool("slow", "{}", {.timeout = std::chrono::minutes(1)}).has_value(), true)
      << "its timer too";
}

TEST(Fork, ClosesTheDescriptorOfAClientThatTheChildDestroys) {
  std::latch over(1);
  FakeGateway gateway([&](FakeConnection& peer) {
    while (peer.read_line()) {
    }
    over.count_down();
  });
  std::optional<Client> client = connect_to(gateway);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  int stay[2];
  ASSERT_EQ(::pipe(stay), 0);
  const auto child = ::fork();
  if (child == 0) {
    ::close(stay[1]);
    client.reset();
    char byte = 'r';
    (void)!::write(ready[1], &byte, 1);
    (void)!::read(stay[0], &byte, 1);
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  client.reset();
  over.wait();  // the daemon sees the end, though the child lives on
  ::close(stay[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  for (const int fd : {ready[0], ready[1], stay[0]}) ::close(fd);
}

TEST(Fork, LeavesASessionToTheParent) {
  FakeGateway gateway(answering());
  boost::asio::io_context context;
  std::optional<Session> session;
  session.emplace(context.get_executor(), Options{.socket = gateway.path()});
  bool answered = false;
  session->connect([&](const Result<void>& connected) {
    ASSERT_TRUE(connected);
    EXPECT_EQ(in_child([&] {
                const bool refused =
                    session->notify("x", "{}").error().code == ErrorCode::other_process;
                session.reset();
                return refused;
              }),
              0);
    session->call_tool("x", "{}", no_deadline, [&](const Result<ToolResult>& done) {
      answered = done.has_value();
      session->close();
    });
  });
  context.run();
  EXPECT_TRUE(answered);
}

/// A host in C that does the same.
struct CHost {
  cellblock_client* client = nullptr;
  std::vector<cellblock_code> seen = {};
  bool frees = false;
};

void on_notification(void* user, const char*, const char*) {
  auto& host = *static_cast<CHost*>(user);
  cellblock_result* result = nullptr;
  host.seen.push_back(
      cellblock_call_tool(host.client, "again", nullptr, nullptr, &result, nullptr));
  if (host.frees) cellblock_client_free(std::exchange(host.client, nullptr));
}

TEST(InC, ACallbackThatCallsItsClientIsRefusedAndOneThatFreesItEndsTheCall) {
  FakeGateway gateway(answering({log_message}));
  for (const bool frees : {false, true}) {
    CHost host{.frees = frees};
    auto* const options = cellblock_options_new();
    cellblock_options_socket(options, gateway.path().c_str());
    cellblock_options_on_notification(options, on_notification, &host);
    ASSERT_EQ(cellblock_connect(options, &host.client, nullptr), CELLBLOCK_OK);
    cellblock_result* result = nullptr;
    EXPECT_EQ(cellblock_call_tool(host.client, "notify", nullptr, nullptr, &result, nullptr),
              frees ? CELLBLOCK_CANCELLED : CELLBLOCK_OK);
    EXPECT_THAT(host.seen, ElementsAre(CELLBLOCK_IN_USE));
    cellblock_result_free(result);
    cellblock_client_free(host.client);
    cellblock_options_free(options);
  }
}

}  // namespace
}  // namespace cellblock::client
