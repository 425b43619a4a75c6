#include <gmock/gmock.h>
#include <poll.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>

#include "cellblock/cellblock.h"
#include "cellblock/cellblock_async.h"
#include "cellblock/client.h"
#include "cellblock/connection.h"
#include "cellblock/session.h"
#include "tests/unit/fake_gateway.h"

// How often a call of a tool allocates memory, in the thread of the host.

namespace {

// Of each thread its own: the fake gateway has others.
thread_local std::size_t allocations = 0;

void* counted_memory(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size); memory != nullptr) return memory;
  std::abort();
}

}  // namespace

// The library's are these, too: it asks for them by name.
void* operator new(std::size_t size) { return counted_memory(size); }
void* operator new[](std::size_t size) { return counted_memory(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted_memory(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted_memory(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;

constexpr int calls = 100;
constexpr const char* arguments = R"({"text":"hello, world"})";
constexpr const char* echo = R"({"content":[{"type":"text","text":"hello, world"}]})";

void answer_all(FakeConnection& peer) {
  while (const auto line = peer.read_line()) peer.answer(*line, echo);
}

Options options_for(const FakeGateway& gateway) {
  Options options;
  options.socket = gateway.path();
  return options;
}

/// Of each of many calls, once some have warmed it up.
double allocations_of(const std::function<void()>& call) {
  for (int i = 0; i < 10; ++i) call();
  const std::size_t before = allocations;
  for (int i = 0; i < calls; ++i) call();
  return static_cast<double>(allocations - before) / calls;
}

void tell(const char* face, double count) {
  ::testing::Test::RecordProperty(face, std::to_string(count));
  std::printf("%s: %.1f allocations a call\n", face, count);
}

// The bounds are what was counted, and a few: who makes more may say why.

TEST(AllocationsOfACall, ByTheBlockingClientAreFew) {
  const FakeGateway gateway(answer_all);
  auto client = Client::connect(options_for(gateway));
  ASSERT_TRUE(client);
  const double count = allocations_of([&] { ASSERT_TRUE(client->call_tool("echo", arguments)); });
  tell("blocking", count);
  EXPECT_LT(count, 50);
}

TEST(AllocationsOfACall, ByTheCInterfaceInPollAreFew) {
  const FakeGateway gateway(answer_all);
  cellblock_options* options = cellblock_options_new();
  cellblock_options_socket(options, gateway.path().c_str());
  cellblock_client* client = nullptr;
  ASSERT_EQ(cellblock_connect(options, &client, nullptr), CELLBLOCK_OK);
  cellblock_options_free(options);
  bool is_over = false;
  const auto end = [](void* user, cellblock_code, cellblock_result* result, cellblock_error*) {
    EXPECT_NE(result, nullptr);
    cellblock_result_free(result);
    *static_cast<bool*>(user) = true;
  };
  const double count = allocations_of([&] {
    is_over = false;
    (void)cellblock_call_tool_async(client, "echo", arguments, nullptr, end, &is_over, nullptr,
                                    nullptr);
    while (!is_over) {
      pollfd waited{.fd = cellblock_fd(client), .events = cellblock_events(client), .revents = 0};
      (void)::poll(&waited, 1, cellblock_timeout(client));
      (void)cellblock_process(client, nullptr);
    }
  });
  cellblock_client_free(client);
  tell("C in poll", count);
  EXPECT_LT(count, 50);
}

boost::asio::awaitable<void> call_often(Session& session, double& count) {
  (void)co_await session.connect(boost::asio::use_awaitable);
  std::size_t before = 0;
  for (int i = 0; i < 10 + calls; ++i) {
    if (i == 10) before = allocations;
    const auto result = co_await session.call_tool("echo", arguments, boost::asio::use_awaitable);
    EXPECT_TRUE(result);
  }
  count = static_cast<double>(allocations - before) / calls;
  session.close();
}

TEST(AllocationsOfACall, ByCoroutinesOnAsioAreFew) {
  const FakeGateway gateway(answer_all);
  boost::asio::io_context context;
  Session session(context.get_executor(), options_for(gateway));
  double count = 0;
  boost::asio::co_spawn(context, call_often(session, count), boost::asio::detached);
  context.run();
  tell("coroutines", count);
  EXPECT_LT(count, 50);
}

}  // namespace
}  // namespace cellblock::client
