#include <gmock/gmock.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cellblock/cellblock_async.h"
#include "cellblock/connection.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using std::chrono::milliseconds;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto nothing = R"({"content":[{"type":"text","text":"done"}]})";

Options options_for(const FakeGateway& gateway) {
  Options options;
  options.socket = gateway.path();
  return options;
}

/// Answers every request.
FakeGateway::Script answering_all() {
  return [](FakeConnection& peer) {
    while (const auto line = peer.read_line()) peer.answer(*line, nothing);
  };
}

/// A host's loop: nothing else waits.
void run_until(Connection& connection, const std::function<bool()>& over) {
  while (!over()) {
    pollfd waited{.fd = connection.descriptor(), .events = connection.events(), .revents = 0};
    const auto wait = connection.timeout();
    (void)::poll(&waited, 1, wait == no_deadline ? -1 : static_cast<int>(wait.count()));
    ASSERT_TRUE(connection.process());
  }
}

TEST(LoopOfTheHosts, WaitsForOneDescriptorThatStaysOverReconnecting) {
  std::atomic<int> connections = 0;
  FakeGateway gateway([&](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"server":"files","session":"1"})");
    const auto call = peer.read_line().value_or("");
    if (connections++ == 0) return;
    peer.answer(call, nothing);
    (void)peer.read_line();
  });
  Connection connection(options_for(gateway));
  const int descriptor = connection.descriptor();
  std::vector<std::string> order;
  bool over = false;
  const auto call_again = [&](const Result<Attached>& attached) {
    order.emplace_back(attached ? "attached again" : attached.error().text);
    connection.call_tool("two", "{}", {}, [&](const Result<ToolResult>& result) {
      order.emplace_back(result ? result->text : result.error().text);
      over = true;
    });
  };
  connection.connect([&](const Result<void>& connected) {
    ASSERT_TRUE(connected);
    connection.attach("files", {}, no_deadline, [&](const Result<Attached>& attached) {
      ASSERT_TRUE(attached);
      connection.call_tool("one", "{}", {}, [&](const Result<ToolResult>& result) {
        order.emplace_back(name_of(result.error().code));
        connection.reconnect({.first_wait = milliseconds(0)}, call_again);
      });
    });
  });
  EXPECT_TRUE(order.empty()) << "never inside the call";
  run_until(connection, [&] { return over; });
  EXPECT_THAT(order, ElementsAre("disconnected", "attached again", "done"));
  EXPECT_EQ(connection.descriptor(), descriptor);
}

TEST(LoopOfTheHosts, IsToldOfTheNextDeadline) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  Connection connection(options_for(gateway));
  EXPECT_EQ(connection.timeout(), no_deadline);
  EXPECT_FALSE(connection.is_active());
  std::optional<ErrorCode> end;
  connection.connect([&](const Result<void>& connected) {
    ASSERT_TRUE(connected);
    connection.call_tool("slow", "{}", {.timeout = milliseconds(20)},
                         [&](const Result<ToolResult>& result) { end = result.error().code; });
    EXPECT_LE(connection.timeout(), milliseconds(20));
  });
  EXPECT_EQ(connection.timeout(), milliseconds(0)) << "a completion is due";
  run_until(connection, [&] { return end.has_value(); });
  EXPECT_EQ(end, ErrorCode::timed_out);
  EXPECT_EQ(connection.timeout(), no_deadline);
}

TEST(LoopOfTheHosts, IsWokenByAnAnswerToAnApprovalFromAnotherThread) {
  FakeGateway gateway(answering_all());
  auto options = options_for(gateway);
  options.permission.otherwise = Verdict::ask;
  std::jthread person;
  options.on_approval = [&](const CallToApprove&, const ApprovalAnswer& answer) {
    person = std::jthread([answer] { answer(Decision::allow()); });
  };
  Connection connection(std::move(options));
  std::string text;
  connection.connect([&](const Result<void>&) {
    connection.call_tool("write", "{}", {}, [&](const Result<ToolResult>& result) {
      text = result ? result->text : result.error().text;
    });
  });
  run_until(connection, [&] { return !text.empty(); });
  EXPECT_EQ(text, "done");
}

TEST(LoopOfTheHosts, RunsWhatAnotherThreadPosts) {
  Connection connection(Options{});
  std::thread::id where;
  const std::jthread other([&] { connection.post([&] { where = std::this_thread::get_id(); }); });
  run_until(connection, [&] { return where != std::thread::id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(LoopOfTheHosts, SendsWhatDoesNotFitIntoTheSocketAtOnce) {
  const std::string large(4'000'000, 'x');
  std::latch filled(1);
  FakeGateway gateway([&](FakeConnection& peer) {
    filled.wait();
    while (const auto line = peer.read_line()) {
      peer.answer(*line, R"({"content":[{"type":"text","text":")" + std::to_string(line->size()) +
                             R"("}]})");
    }
  });
  Connection connection(options_for(gateway));
  std::vector<std::string> texts;
  const auto note = [&](const Result<ToolResult>& result) {
    texts.push_back(result ? result->text : result.error().text);
  };
  connection.connect([&](const Result<void>&) {
    for (int i = 0; i < 3; ++i) {
      connection.call_tool("take", R"({"text":")" + large + R"("})", {}, note);
    }
    filled.count_down();
  });
  run_until(connection, [&] { return texts.size() == 3; });
  for (const auto& text : texts) EXPECT_THAT(text, HasSubstr("40000"));
}

TEST(LoopOfTheHosts, KeepsTheCompletionsBehindOneThatThrows) {
  FakeGateway gateway(answering_all());
  Connection connection(options_for(gateway));
  bool over = false;
  connection.connect([](const Result<void>&) { throw std::runtime_error("host"); });
  connection.post([&] { over = true; });
  EXPECT_THROW((void)connection.process(), std::runtime_error);
  EXPECT_FALSE(over);
  ASSERT_TRUE(connection.process());
  EXPECT_TRUE(over);
}

TEST(DestroyedConnection, CompletesEveryCallOnce) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  std::vector<ErrorCode> ends;
  {
    Connection connection(options_for(gateway));
    bool called = false;
    connection.connect([&](const Result<void>&) {
      connection.call_tool("a", "{}", {}, [&](const Result<ToolResult>& result) {
        ends.push_back(result.error().code);
        throw std::runtime_error("host");
      });
      connection.call_tool("b", "{}", {}, [&](const Result<ToolResult>& result) {
        ends.push_back(result.error().code);
      });
      called = true;
    });
    run_until(connection, [&] { return called; });
    EXPECT_TRUE(ends.empty());
  }
  EXPECT_THAT(ends, ElementsAre(ErrorCode::cancelled, ErrorCode::cancelled));
}

TEST(DestroyedConnection, InItsOwnCompletionHasTheRestRunBehindIt) {
  FakeGateway gateway(answering_all());
  auto connection = std::make_unique<Connection>(options_for(gateway));
  std::vector<std::string> order;
  connection->connect([&](const Result<void>&) {
    connection->call_tool("a", "{}", {}, [&](const Result<ToolResult>& result) {
      order.emplace_back(name_of(result.error().code));
    });
    connection.reset();
    order.emplace_back("destroyed");
  });
  while (connection) {
    pollfd waited{.fd = connection->descriptor(), .events = POLLIN, .revents = 0};
    (void)::poll(&waited, 1, -1);
    ASSERT_TRUE(connection->process());
  }
  EXPECT_THAT(order, ElementsAre("destroyed", "cancelled"));
}

TEST(MovedFromConnection, IsDisconnectedAndHasNothingToWaitFor) {
  Connection connection(Options{});
  const Connection other = std::move(connection);
  // NOLINTBEGIN(bugprone-use-after-move): what it says then
  EXPECT_EQ(connection.descriptor(), -1);
  EXPECT_EQ(connection.timeout(), no_deadline);
  EXPECT_EQ(connection.process().error().code, ErrorCode::disconnected);
  std::optional<ErrorCode> end;
  connection.call_tool("a", "{}", {},
                       [&](const Result<ToolResult>& result) { end = result.error().code; });
  EXPECT_EQ(end, ErrorCode::disconnected);
  connection.close();
  connection.discard();
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_GE(other.descriptor(), 0);
}

TEST(Permission, HandlerThatMakesARequestIsRefusedThatOneAlone) {
  FakeGateway gateway(answering_all());
  auto options = options_for(gateway);
  std::optional<Connection> connection;
  std::vector<std::string> ends;
  const auto note = [&](const Result<ToolResult>& result) {
    ends.emplace_back(result ? result->text : name_of(result.error().code));
  };
  options.on_permission = [&](const CallToApprove&) {
    connection->call_tool("inner", "{}", {}, note);
    return Decision::allow();
  };
  connection.emplace(std::move(options));
  connection->connect([&](const Result<void>&) { connection->call_tool("outer", "{}", {}, note); });
  run_until(*connection, [&] { return ends.size() == 2; });
  EXPECT_THAT(ends, ElementsAre("in_use", "done"));
}

/// A host in C++ by the C interface: what became of what it began.
struct AsyncHost {
  explicit AsyncHost(const FakeGateway& gateway) {
    cellblock_options_socket(options, gateway.path().c_str());
  }
  ~AsyncHost() {
    cellblock_client_free(client);
    cellblock_options_free(options);
  }
  AsyncHost(const AsyncHost&) = delete;
  AsyncHost& operator=(const AsyncHost&) = delete;

  void connect() {
    ASSERT_EQ(cellblock_connect_async(options, done, this, &client, nullptr), CELLBLOCK_OK);
  }
  void call(const char* tool, std::uint64_t* id = nullptr) {
    ASSERT_EQ(
        cellblock_call_tool_async(client, tool, nullptr, nullptr, result_fn, this, id, nullptr),
        CELLBLOCK_OK);
  }
  void run_until(std::size_t count) {
    while (ends.size() < count) {
      pollfd waited{.fd = cellblock_fd(client), .events = cellblock_events(client), .revents = 0};
      (void)::poll(&waited, 1, cellblock_timeout(client));
      ASSERT_EQ(cellblock_process(client, nullptr), CELLBLOCK_OK);
    }
  }

  static void done(void* user, cellblock_code code, cellblock_error* error) {
    static_cast<AsyncHost*>(user)->ends.emplace_back(cellblock_code_name(code));
    EXPECT_EQ(code == CELLBLOCK_OK, error == nullptr);
    cellblock_error_free(error);
  }
  static void result_fn(void* user, cellblock_code code, cellblock_result* result,
                        cellblock_error* error) {
    static_cast<AsyncHost*>(user)->ends.emplace_back(
        code == CELLBLOCK_OK ? cellblock_result_text(result, nullptr) : cellblock_code_name(code));
    cellblock_result_free(result);
    cellblock_error_free(error);
  }

  cellblock_options* options = cellblock_options_new();
  cellblock_client* client = nullptr;
  std::vector<std::string> ends;
};

TEST(AsyncInC, CompletesACallOnceWhosePermissionHandlerFreesTheClient) {
  FakeGateway gateway(answering_all());
  AsyncHost host(gateway);
  const auto free_client = [](void* user, const cellblock_call*, cellblock_decision* decision) {
    cellblock_client_free(std::exchange(static_cast<AsyncHost*>(user)->client, nullptr));
    cellblock_decide(decision, CELLBLOCK_ALLOW, nullptr);
  };
  ASSERT_EQ(cellblock_options_on_permission(host.options, free_client, &host), CELLBLOCK_OK);
  host.connect();
  host.run_until(1);
  host.call("a");
  EXPECT_THAT(host.ends, ElementsAre("ok", AnyOf("cancelled", "disconnected")));
}

TEST(AsyncInC, ConnectsAttachesListsAndCallsWithoutWaiting) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    peer.answer(peer.read_line().value_or(""), R"({"tools":[{"name":"a"}]})");
    const auto first = peer.read_line().value_or("");
    peer.answer(peer.read_line().value_or(""), nothing);
    peer.answer(first, R"({"content":[{"type":"text","text":"first"}]})");
    (void)peer.read_line();
  });
  AsyncHost host(gateway);
  host.connect();
  EXPECT_TRUE(host.ends.empty());
  host.run_until(1);
  ASSERT_EQ(cellblock_attach_async(host.client, "files", nullptr, AsyncHost::done, &host, nullptr),
            CELLBLOCK_OK);
  host.run_until(2);
  ASSERT_EQ(cellblock_initialize_async(
                host.client, 60'000,
                [](void* user, cellblock_code code, cellblock_result* result, cellblock_error*) {
                  static_cast<AsyncHost*>(user)->ends.emplace_back(cellblock_code_name(code));
                  EXPECT_THAT(cellblock_result_json(result, nullptr), HasSubstr("2025-11-25"));
                  cellblock_result_free(result);
                },
                &host, nullptr),
            CELLBLOCK_OK);
  host.run_until(3);
  ASSERT_EQ(cellblock_list_tools_async(
                host.client, 60'000,
                [](void* user, cellblock_code, cellblock_tools* tools, cellblock_error*) {
                  static_cast<AsyncHost*>(user)->ends.emplace_back(cellblock_tools_name(tools, 0));
                  cellblock_tools_free(tools);
                },
                &host, nullptr),
            CELLBLOCK_OK);
  host.run_until(4);
  host.call("one");
  host.call("two");
  host.run_until(6);
  EXPECT_THAT(host.ends, ElementsAre("ok", "ok", "ok", "a", "done", "first"));
}

TEST(AsyncInC, CancelsACallFromAnotherThread) {
  std::latch called(1);
  std::string told;
  FakeGateway gateway([&](FakeConnection& peer) {
    (void)peer.read_line();
    called.count_down();
    told = peer.read_line().value_or("");
    peer.answer(peer.read_line().value_or(""), nothing);
  });
  AsyncHost host(gateway);
  host.connect();
  host.run_until(1);
  std::uint64_t id = 0;
  host.call("slow", &id);
  const std::jthread other([&] {
    called.wait();
    cellblock_cancel_call(host.client, id);
  });
  host.run_until(2);
  host.call("next");
  host.run_until(3);
  EXPECT_THAT(host.ends, ElementsAre("ok", "cancelled", "done"));
  EXPECT_THAT(told, HasSubstr(R"("requestId":1)"));
}

TEST(AsyncInC, AnswersAQuestionOfTheServerLaterFromAnotherThread) {
  std::string answer;
  FakeGateway gateway([&](FakeConnection& peer) {
    const auto call = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}})"
              "\n");
    answer = peer.read_line().value_or("");
    peer.answer(call, nothing);
    (void)peer.read_line();
  });
  AsyncHost host(gateway);
  std::jthread person;
  cellblock_options_on_request(
      host.options,
      [](void* user, const char* method, const char*, cellblock_reply* reply) {
        EXPECT_STREQ(method, "elicitation/create");
        *static_cast<std::jthread*>(user) = std::jthread([kept = cellblock_reply_keep(reply)] {
          cellblock_reply_result(kept, R"({"action":"cancel"})");
          cellblock_reply_free(kept);
        });
      },
      &person);
  host.connect();
  host.run_until(1);
  host.call("asks");
  host.run_until(2);
  EXPECT_THAT(host.ends, ElementsAre("ok", "done"));
  EXPECT_THAT(answer, HasSubstr(R"("id":"q","result":{"action":"cancel"})"));
}

TEST(AsyncInC, CompletesInFreeWhatIsOpen) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  std::vector<std::string> ends;
  {
    AsyncHost host(gateway);
    host.connect();
    host.run_until(1);
    host.call("a");
    cellblock_client_free(std::exchange(host.client, nullptr));
    ends = host.ends;
  }
  EXPECT_THAT(ends, ElementsAre("ok", "cancelled"));
}

TEST(AsyncInC, ACompletionMayFreeItsClient) {
  FakeGateway gateway(answering_all());
  AsyncHost host(gateway);
  host.connect();
  host.run_until(1);
  const auto frees = [](void* user, cellblock_code, cellblock_result* result, cellblock_error*) {
    auto& all = *static_cast<AsyncHost*>(user);
    cellblock_result_free(result);
    cellblock_client_free(std::exchange(all.client, nullptr));
    all.ends.emplace_back("freed");
  };
  ASSERT_EQ(
      cellblock_call_tool_async(host.client, "a", nullptr, nullptr, frees, &host, nullptr, nullptr),
      CELLBLOCK_OK);
  auto* const client = host.client;
  while (host.client != nullptr) {
    pollfd waited{.fd = cellblock_fd(client), .events = POLLIN, .revents = 0};
    (void)::poll(&waited, 1, -1);
    EXPECT_EQ(cellblock_process(client, nullptr), CELLBLOCK_OK);
  }
  EXPECT_THAT(host.ends, ElementsAre("ok", "freed"));
}

TEST(AsyncInC, ACompletionMayStartACallAndNotWaitForOne) {
  FakeGateway gateway(answering_all());
  AsyncHost host(gateway);
  host.connect();
  host.run_until(1);
  const auto next = [](void* user, cellblock_code, cellblock_result* result, cellblock_error*) {
    auto& all = *static_cast<AsyncHost*>(user);
    cellblock_result_free(result);
    cellblock_result* other = nullptr;
    all.ends.emplace_back(cellblock_code_name(
        cellblock_call_tool(all.client, "waits", nullptr, nullptr, &other, nullptr)));
    all.call("again");
  };
  ASSERT_EQ(
      cellblock_call_tool_async(host.client, "a", nullptr, nullptr, next, &host, nullptr, nullptr),
      CELLBLOCK_OK);
  host.run_until(3);
  EXPECT_THAT(host.ends, ElementsAre("ok", "in_use", "done"));
}

TEST(AsyncInC, ACompletionThatThrowsIsAnErrorOfProcessAndTheClientGoesOn) {
  FakeGateway gateway(answering_all());
  AsyncHost host(gateway);
  host.connect();
  host.run_until(1);
  const auto throws = [](void*, cellblock_code, cellblock_result* result, cellblock_error*) {
    cellblock_result_free(result);
    throw std::runtime_error("host");
  };
  ASSERT_EQ(cellblock_call_tool_async(host.client, "a", nullptr, nullptr, throws, &host, nullptr,
                                      nullptr),
            CELLBLOCK_OK);
  auto code = CELLBLOCK_OK;
  while (code == CELLBLOCK_OK) {
    pollfd waited{.fd = cellblock_fd(host.client), .events = POLLIN, .revents = 0};
    (void)::poll(&waited, 1, -1);
    code = cellblock_process(host.client, nullptr);
  }
  EXPECT_EQ(code, CELLBLOCK_HANDLER_FAILED);
  host.call("b");
  host.run_until(2);
  EXPECT_EQ(host.ends.back(), "done");
}

TEST(AsyncInC, SharesAClientWithABlockingCall) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto first = peer.read_line().value_or("");
    const auto second = peer.read_line().value_or("");
    peer.answer(first, R"({"content":[{"type":"text","text":"async"}]})");
    peer.answer(second, nothing);
    (void)peer.read_line();
  });
  AsyncHost host(gateway);
  host.connect();
  host.run_until(1);
  host.call("a");
  cellblock_result* result = nullptr;
  ASSERT_EQ(cellblock_call_tool(host.client, "b", nullptr, nullptr, &result, nullptr),
            CELLBLOCK_OK);
  EXPECT_STREQ(cellblock_result_text(result, nullptr), "done");
  cellblock_result_free(result);
  EXPECT_THAT(host.ends, ElementsAre("ok", "async"));
}

TEST(AsyncInC, SaysInItsCompletionThatNobodyListens) {
  AsyncHost host((FakeGateway([](FakeConnection&) {})));
  host.connect();
  host.run_until(1);
  EXPECT_THAT(host.ends, ElementsAre("unreachable"));
}

TEST(AsyncInC, WakesTheLoop) {
  FakeGateway gateway(answering_all());
  AsyncHost host(gateway);
  host.connect();
  host.run_until(1);
  const std::jthread other([&] { cellblock_wake(host.client); });
  pollfd waited{.fd = cellblock_fd(host.client), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waited, 1, -1), 1);
}

TEST(AsyncInC, RefusesWhatIsNotThere) {
  cellblock_error* error = nullptr;
  cellblock_client* client = nullptr;
  EXPECT_EQ(cellblock_connect_async(nullptr, nullptr, nullptr, &client, &error),
            CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_STRNE(cellblock_error_text(error), "");
  cellblock_error_free(error);
  EXPECT_EQ(cellblock_attach_async(nullptr, "x", nullptr, AsyncHost::done, nullptr, nullptr),
            CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_process(nullptr, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_fd(nullptr), -1);
  EXPECT_EQ(cellblock_timeout(nullptr), -1);
  cellblock_wake(nullptr);
  cellblock_cancel_call(nullptr, 1);
}

// The example: two calls at once, each of which the user is asked about.
TEST(AsyncInC, IsShownByAHostThatPolls) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    peer.answer(peer.read_line().value_or(""), nothing);
    (void)peer.read_line();
  });
  const auto ended =
      cellblock::testing::run({"/bin/sh", "-c",
                               "printf 'n\\ny\\n' | CELLBLOCK_SOCKET=" + gateway.path() +
                                   " " CELLBLOCK_POLL_HOST R"( files write '{"path": "/data"}')"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_EQ(ended.out, "done\n");
  EXPECT_THAT(ended.err, HasSubstr(R"(write {"path": "/data"}? [y/n])"));
  EXPECT_THAT(ended.err, HasSubstr("denied this call: the user said no"));
}

}  // namespace
}  // namespace cellblock::client
