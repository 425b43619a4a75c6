#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cellblock/connection.h"
#include "cellblock/session.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/wrong_servers.h"

/// Every function of Connection and Session, called by a host and with servers that do everything
/// wrong. tests/library/functions_test.py holds that none is missing here.

namespace cellblock::client {
namespace {

using cellblock::testing::FakeGateway;
using cellblock::testing::silent_server;
using cellblock::testing::talkative_server;
using cellblock::testing::wrong_servers;
using std::chrono::milliseconds;

constexpr milliseconds soon{20};
const ReconnectOptions once{.attempts = 1, .attach_timeout = soon};

Options options_for(const FakeGateway& gateway) {
  Options options;
  options.socket = gateway.path();
  options.limits.incoming_line = cellblock::testing::longest_line;
  options.limits.list_pages = 3;
  return options;
}

/// How often each operation has completed.
using Completed = std::map<std::string, int>;

auto counted(Completed& completed, const char* name, std::function<void()> then = {}) {
  completed.try_emplace(name, 0);
  return [&completed, name, then = std::move(then)](const auto&) {
    ++completed[name];
    if (then) then();
  };
}

/// Of both: their operations have the same names.
template <class Face>
void begin_everything(Face& on, Completed& completed, const std::function<void()>& then = {}) {
  const CallOptions how{.timeout = soon};
  const auto note = [&](const char* name) { return counted(completed, name, then); };
  on.attach("x", AttachOptions{}, how, note("attach"));
  on.initialize(how, note("initialize"));
  on.list_tools(how, note("list_tools"));
  on.call_tool("x", "{}", how, note("call_tool"));
  on.list_resources(how, note("list_resources"));
  on.list_resource_templates(how, note("list_resource_templates"));
  on.read_resource("x", how, note("read_resource"));
  on.subscribe("x", how, note("subscribe"));
  on.unsubscribe("x", how, note("unsubscribe"));
  on.list_prompts(how, note("list_prompts"));
  on.get_prompt("x", "{}", how, note("get_prompt"));
  on.complete(ArgumentToComplete{.prompt = "x", .argument = "x"}, how, note("complete"));
  on.set_log_level(LogLevel::info, how, note("set_log_level"));
  on.ping(how, note("ping"));
  on.request("x", "{}", how, note("request"));
  (void)on.notify("x", "{}");
  on.cancel(CallId{123456789});
}

bool is_over(const Completed& completed) {
  return std::ranges::all_of(completed, [](const auto& entry) { return entry.second > 0; });
}

void expect_once(const Completed& completed) {
  for (const auto& [name, times] : completed) EXPECT_EQ(times, 1) << name;
}

void run_until_over(Connection& connection, const Completed& completed) {
  while (!is_over(completed)) {
    EXPECT_TRUE(connection.is_active());
    pollfd waited{.fd = connection.descriptor(), .events = connection.events(), .revents = 0};
    const auto wait = connection.timeout();
    EXPECT_TRUE(wait != no_deadline || connection.deadline() == Connection::TimePoint::max());
    (void)::poll(&waited, 1, wait == no_deadline ? 1'000 : static_cast<int>(wait.count()));
    (void)connection.process();
  }
}

TEST(EveryFunctionOfAConnection, CompletesOnceWhateverTheServerDoes) {
  for (const auto& server : wrong_servers()) {
    SCOPED_TRACE("a server that " + server.what);
    const FakeGateway gateway(server.script);
    Connection connection(options_for(gateway));
    Completed completed;
    connection.connect(counted(completed, "connect"));
    begin_everything(connection, completed);
    run_until_over(connection, completed);
    expect_once(completed);
    Completed again;
    connection.reconnect(once, counted(again, "reconnect"));
    begin_everything(connection, again);
    run_until_over(connection, again);
    expect_once(again);
  }
}

TEST(EveryFunctionOfAConnection, CompletesOnceWhereItIsEnded) {
  const FakeGateway gateway(silent_server);
  const std::vector<std::function<void(std::optional<Connection>&)>> ends{
      [](auto& connection) { connection->close(); },
      [](auto& connection) { connection->cancel_all(); },
      [](auto& connection) { connection.reset(); },
      [](auto& connection) { connection->post([&connection] { connection.reset(); }); },
      [](auto& connection) { connection.emplace(Connection(Options{})); },
  };
  for (const auto& end : ends) {
    std::optional<Connection> connection(std::in_place, options_for(gateway));
    Completed completed;
    connection->connect(counted(completed, "connect"));
    begin_everything(*connection, completed);
    end(connection);
    while (connection && !is_over(completed)) (void)connection->process();
    expect_once(completed);
  }
}

TEST(EveryFunctionOfAConnection, CompletesOnceInsideTheCompletionsOfAnother) {
  const FakeGateway gateway(talkative_server);
  Connection connection(options_for(gateway));
  Completed outer;
  Completed inner;
  bool is_begun = false;
  connection.connect(counted(outer, "connect"));
  begin_everything(connection, outer, [&] {
    if (!std::exchange(is_begun, true)) begin_everything(connection, inner);
  });
  run_until_over(connection, outer);
  run_until_over(connection, inner);
  expect_once(outer);
  expect_once(inner);
}

TEST(EveryFunctionOfAConnection, IsDisconnectedInAChildAndOfAnotherProcess) {
  const FakeGateway gateway(talkative_server);
  Connection connection(options_for(gateway));
  Completed connecting;
  connection.connect(counted(connecting, "connect"));
  run_until_over(connection, connecting);
  const auto child = ::fork();
  if (child == 0) {
    Completed completed;
    begin_everything(connection, completed);
    while (!is_over(completed)) (void)connection.process();
    const bool is_so = connection.is_of_other_process() && connection.descriptor() == -1;
    connection.discard();
    ::_exit(is_so ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Completed completed;
  begin_everything(connection, completed);
  run_until_over(connection, completed);
  expect_once(completed);
}

TEST(EveryFunctionOfASession, CompletesOnceWhateverTheServerDoes) {
  for (const auto& server : wrong_servers()) {
    SCOPED_TRACE("a server that " + server.what);
    const FakeGateway gateway(server.script);
    boost::asio::io_context context;
    Session session(context.get_executor(), options_for(gateway));
    Completed completed;
    const auto end = [&] {
      if (is_over(completed)) session.close();
    };
    session.connect(counted(completed, "connect", end));
    begin_everything(session, completed, end);
    context.run();
    expect_once(completed);
    Completed again;
    session.reconnect(once, counted(again, "reconnect"));
    session.cancel_all();
    context.restart();
    context.run();
    expect_once(again);
    EXPECT_EQ(session.get_executor(), context.get_executor());
  }
}

TEST(EveryFunctionOfASession, CompletesOnceWhereItIsDestroyed) {
  const FakeGateway gateway(talkative_server);
  boost::asio::io_context context;
  std::optional<Session> session(std::in_place, context.get_executor(), options_for(gateway));
  Completed completed;
  session->connect(counted(completed, "connect"));
  begin_everything(*session, completed, [&] { session.reset(); });
  context.run();
  expect_once(completed);
}

}  // namespace
}  // namespace cellblock::client
