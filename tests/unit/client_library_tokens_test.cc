#include <gmock/gmock.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <csignal>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <optional>

#include "cellblock/session.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/recording_gateway.h"
#include "tests/unit/subprocess.h"

/// Operations of a Session with tokens of Asio: coroutines, futures, handlers with an executor or a
/// cancellation slot of their own.
namespace cellblock::client {
namespace {

using boost::asio::awaitable;
using boost::asio::cancellation_signal;
using boost::asio::cancellation_type;
using boost::asio::io_context;
using boost::asio::use_awaitable;
using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using cellblock::testing::RecordedLines;
using cellblock::testing::RecordingGateway;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto nothing = R"({"content":[]})";

/// Answers what is not called "slow".
struct Recorder : RecordingGateway {
  Recorder()
      : RecordingGateway(RecordedLines::all,
                         [](const std::string& line) -> std::optional<std::string> {
                           if (line.contains("slow")) return std::nullopt;
                           return nothing;
                         }) {}
};

void run(io_context& context, std::function<awaitable<void>()> body) {
  boost::asio::co_spawn(context, std::move(body), [](const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
  });
  context.run();
}

template <class T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result);
  return result ? ErrorCode::protocol : result.error().code;
}

/// A session that is connected, and its context.
struct Connected {
  explicit Connected(Options options) : session(context.get_executor(), std::move(options)) {
    session.connect([](const Result<void>& connected) { EXPECT_TRUE(connected); });
    context.run_one();
  }
  io_context context;
  Session session;
};

TEST(SessionTokens, AreAwaitedInACoroutine) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    peer.answer(peer.read_line().value_or(""), R"({"content":[{"type":"text","text":"hi"}]})");
    (void)peer.read_line();
  });
  io_context context;
  Session session(context.get_executor(), {.socket = gateway.path()});
  std::string text;
  run(context, [&]() -> awaitable<void> {
    EXPECT_TRUE(co_await session.connect(use_awaitable));
    EXPECT_TRUE(co_await session.attach("files", use_awaitable));
    EXPECT_TRUE(co_await session.initialize(use_awaitable));
    const auto result = co_await session.call_tool("read_file", R"({"path":"a"})", use_awaitable);
    text = result ? result->text : result.error().text;
    session.close();
  });
  EXPECT_EQ(text, "hi");
}

TEST(SessionTokens, GiveAnErrorAsAValueAndThrowNothing) {
  io_context context;
  Session session(context.get_executor(), {.socket = "/nonexistent/cellblock.sock"});
  auto code = ErrorCode::protocol;
  run(context,
      [&]() -> awaitable<void> { code = code_of(co_await session.connect(use_awaitable)); });
  EXPECT_EQ(code, ErrorCode::unreachable);
}

TEST(SessionTokens, GiveAFuture) {
  Recorder recorder;
  Connected host(recorder.options());
  auto outcome = host.session.call_tool("a", "{}", boost::asio::use_future);
  host.session.ping([&](const Result<void>&) { host.session.close(); });
  host.context.run();
  EXPECT_TRUE(outcome.get());
}

TEST(SessionTokens, BeginADeferredOperationWithItsOwnCopiesWhenItIsCalled) {
  Recorder recorder;
  Connected host(recorder.options());
  std::string tool = "later";
  auto operation = host.session.call_tool(tool, "{}", boost::asio::deferred);
  tool.assign("gone!");
  host.session.ping([&](const Result<void>&) {
    std::move(operation)([&](const Result<ToolResult>& result) {
      EXPECT_TRUE(result);
      host.session.close();
    });
  });
  host.context.run();
  EXPECT_THAT(recorder.lines(), ElementsAre(HasSubstr("ping"), HasSubstr(R"("name":"later")")));
}

TEST(SessionTokens, OfASessionThatHasGoneCompleteAsDisconnected) {
  Recorder recorder;
  Connected host(recorder.options());
  auto operation = host.session.ping(boost::asio::deferred);
  {
    const Session gone = std::move(host.session);
  }
  std::optional<ErrorCode> code;
  std::move(operation)([&](const Result<void>& result) { code = code_of(result); });
  EXPECT_FALSE(code) << "never inside the call";
  host.context.run();
  EXPECT_EQ(code, ErrorCode::disconnected);
}

TEST(SessionTokens, CallAHandlerOnItsOwnExecutor) {
  Recorder recorder;
  Connected host(recorder.options());
  io_context other;
  bool called = false;
  host.session.ping(boost::asio::bind_executor(other, [&](const Result<void>& answer) {
    EXPECT_TRUE(answer);
    called = true;
  }));
  host.session.ping([&](const Result<void>&) { host.session.close(); });
  host.context.run();
  EXPECT_FALSE(called);
  other.run();
  EXPECT_TRUE(called);
}

TEST(SessionTokens, LetAPlainFunctionHaveItsCallsNumber) {
  Recorder recorder;
  Connected host(recorder.options());
  std::optional<ErrorCode> code;
  const CallId call = host.session.call_tool("slow", "{}", [&](const Result<ToolResult>& result) {
    code = code_of(result);
    host.session.close();
  });
  host.session.cancel(call);
  host.context.run();
  EXPECT_EQ(code, ErrorCode::cancelled);
}

TEST(CancellationSlot, EndsItsCallAloneOnceAndTellsTheServer) {
  Recorder recorder;
  Connected host(recorder.options());
  cancellation_signal signal;
  std::vector<ErrorCode> codes;
  host.session.call_tool(
      "slow", "{}",
      boost::asio::bind_cancellation_slot(signal.slot(), [&](const Result<ToolResult>& result) {
        codes.push_back(code_of(result));
        EXPECT_FALSE(signal.slot().has_handler());
        signal.emit(cancellation_type::terminal);
        host.session.ping([&](const Result<void>& answer) {
          EXPECT_TRUE(answer);
          host.session.close();
        });
      }));
  host.session.call_tool("other", "{}", [&](const Result<ToolResult>& result) {
    EXPECT_TRUE(result);
    signal.emit(cancellation_type::partial);
    EXPECT_TRUE(codes.empty()) << "never inside the call";
    signal.emit(cancellation_type::terminal);
  });
  host.context.run();
  EXPECT_THAT(codes, ElementsAre(ErrorCode::cancelled));
  EXPECT_THAT(
      recorder.lines(),
      ElementsAre(HasSubstr("slow"), HasSubstr("other"),
                  HasSubstr(R"("method":"notifications/cancelled","params":{"requestId":1)"),
                  HasSubstr("ping")));
}

TEST(CancellationSlot, IsNotHeardWhereItPromisesThatNothingHasHappened) {
  Recorder recorder;
  Connected host(recorder.options());
  cancellation_signal signal;
  host.session.call_tool(
      "a", "{}",
      boost::asio::bind_cancellation_slot(signal.slot(), [&](const Result<ToolResult>& result) {
        EXPECT_TRUE(result);
        host.session.close();
      }));
  signal.emit(cancellation_type::total);
  host.context.run();
}

TEST(CancellationSlot, LeavesTheStopOfTheOptionsInForce) {
  Recorder recorder;
  Connected host(recorder.options());
  cancellation_signal signal;
  std::stop_source stop;
  std::optional<ErrorCode> code;
  host.session.call_tool(
      "slow", "{}", {.stop = stop.get_token()},
      boost::asio::bind_cancellation_slot(signal.slot(), [&](const Result<ToolResult>& result) {
        code = code_of(result);
        host.session.close();
      }));
  stop.request_stop();
  host.context.run();
  EXPECT_EQ(code, ErrorCode::cancelled);
}

TEST(CancellationSlot, EndsTheSlowerOfTwoAwaitedCalls) {
  using namespace boost::asio::experimental::awaitable_operators;
  Recorder recorder;
  Connected host(recorder.options());
  std::size_t winner = 2;
  run(host.context, [&]() -> awaitable<void> {
    const auto first = co_await (host.session.call_tool("slow", "{}", use_awaitable) ||
                                 host.session.call_tool("fast", "{}", use_awaitable));
    winner = first.index();
    host.session.close();
  });
  EXPECT_EQ(winner, 1U);
  EXPECT_THAT(recorder.lines(), ElementsAre(HasSubstr("slow"), HasSubstr("fast"),
                                            HasSubstr("notifications/cancelled")));
}

TEST(CancellationSlot, EndsAListAtWhicheverPageItIs) {
  std::string told;
  std::latch heard(1);
  FakeGateway gateway([&](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"tools":[{"name":"a"}],"nextCursor":"2"})");
    (void)peer.read_line();
    told = peer.read_line().value_or("");
    heard.count_down();
    (void)peer.read_line();
  });
  io_context context;
  cancellation_signal signal;
  Options options{.socket = gateway.path()};
  options.on_frame = [&](FrameDirection, std::string_view frame) {
    if (frame.find(R"("cursor":"2")") == std::string_view::npos) return;
    boost::asio::post(context, [&] { signal.emit(cancellation_type::terminal); });
  };
  Session session(context.get_executor(), std::move(options));
  std::optional<ErrorCode> code;
  session.connect([&](const Result<void>&) {
    session.list_tools(boost::asio::bind_cancellation_slot(
        signal.slot(), [&](const Result<std::vector<Tool>>& tools) {
          code = code_of(tools);
          session.close();
        }));
  });
  context.run();
  heard.wait();
  EXPECT_EQ(code, ErrorCode::cancelled);
  EXPECT_THAT(told, HasSubstr(R"("params":{"requestId":2)"));
}

TEST(CancellationSlot, EndsReconnectingThatWaits) {
  std::optional<Connected> host;
  {
    Recorder recorder;
    host.emplace(recorder.options());
    host->session.close();
    host->context.run();
    host->context.restart();
    (void)recorder.lines();
  }
  cancellation_signal signal;
  std::optional<ErrorCode> code;
  const std::chrono::hours long_wait(1);
  host->session.reconnect(
      {.first_wait = long_wait, .longest_wait = long_wait},
      boost::asio::bind_cancellation_slot(
          signal.slot(), [&](const Result<Attached>& attached) { code = code_of(attached); }));
  host->context.poll();
  EXPECT_FALSE(code);
  signal.emit(cancellation_type::terminal);
  host->context.run();
  EXPECT_EQ(code, ErrorCode::cancelled);
}

awaitable<void> hold_a_session(io_context& context, Options options, std::shared_ptr<int> held) {
  Session session(context.get_executor(), std::move(options));
  EXPECT_TRUE(co_await session.connect(use_awaitable));
  const auto result = co_await session.call_tool("slow", "{}", use_awaitable);
  ADD_FAILURE() << "nobody runs the context any more: " << *held;
}

TEST(SessionTokens, LetACoroutineThatHoldsItsSessionGoWithItsContext) {
  Recorder recorder;
  const auto held = std::make_shared<int>();
  {
    io_context context;
    boost::asio::co_spawn(context, hold_a_session(context, recorder.options(), held),
                          [](const std::exception_ptr&) {});
    context.run_one();
    context.poll();
    EXPECT_GT(held.use_count(), 1);
  }
  EXPECT_EQ(held.use_count(), 1);
}

using cellblock::testing::Subprocess;

std::vector<std::string> coroutine_host(const FakeGateway& gateway) {
  return {"/usr/bin/env", "CELLBLOCK_SOCKET=" + gateway.path(), CELLBLOCK_COROUTINE_HOST, "files",
          "slow"};
}

TEST(CoroutineHost, PrintsWhatItsToolSays) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    peer.answer(peer.read_line().value_or(""), R"({"content":[{"type":"text","text":"hi"}]})");
    (void)peer.read_line();
  });
  const auto ended = cellblock::testing::run(coroutine_host(gateway));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "hi\n");
}

TEST(CoroutineHost, TellsTheServerThatItsUserHasInterruptedIt) {
  std::latch called(1);
  std::latch heard(1);
  std::string told;
  FakeGateway gateway([&](FakeConnection& peer) {
    peer.greet();
    (void)peer.read_line();
    called.count_down();
    told = peer.read_line().value_or("");
    heard.count_down();
    (void)peer.read_line();
  });
  Subprocess host(coroutine_host(gateway));
  called.wait();
  host.kill(SIGINT);
  heard.wait();
  const auto ended = host.wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.err, "coroutine_host: interrupted\n");
  EXPECT_THAT(told, HasSubstr("notifications/cancelled"));
}

}  // namespace
}  // namespace cellblock::client
