#include <gmock/gmock.h>

#include <atomic>
#include <cstddef>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "cellblock/cellblock.h"
#include "cellblock/error.h"
#include "tests/unit/c_host.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto hello =
    R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}})";
constexpr auto done = R"({"content":[{"type":"text","text":"done"}]})";

/// A connection of the C interface, freed at the end.
class Connection {
 public:
  /// `denied`: a tool.
  explicit Connection(const FakeGateway& gateway, const char* denied = nullptr) {
    cellblock_options* options = cellblock_options_new();
    if (denied != nullptr) {
      cellblock_options_rule(options, nullptr, CELLBLOCK_TOOL, denied, CELLBLOCK_DENY, nullptr);
    }
    cellblock_options_socket(options, gateway.path().c_str());
    EXPECT_EQ(cellblock_connect(options, &client_, nullptr), CELLBLOCK_OK);
    cellblock_options_free(options);
  }
  ~Connection() { cellblock_client_free(client_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  cellblock_client* get() const { return client_; }

 private:
  cellblock_client* client_ = nullptr;
};

TEST(CInterface, IsAllThatAHostInCNeeds) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto attach = peer.read_line().value_or("");
    EXPECT_THAT(attach, HasSubstr(R"("start":"on_demand","labels":{"org":"acme"})"));
    peer.answer(attach, R"({"server":"files","session":"1"})");
    const auto greeting = peer.read_line().value_or("");
    EXPECT_THAT(greeting, HasSubstr(R"("capabilities":{"elicitation":{},"roots":{}})"));
    peer.answer(greeting, hello);
    (void)peer.read_line();  // notifications/initialized
    const auto list = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})"
              "\n"
              R"({"jsonrpc":"2.0","id":"r","method":"roots/list"})"
              "\n");
    EXPECT_THAT(peer.read_line().value_or(""), HasSubstr(R"("id":"r","result":{"roots":[]})"));
    peer.answer(list, R"({"tools":[{ "name":"write" }]})");
    const auto call = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","method":"notifications/progress",)"
              R"("params":{"progressToken":)" +
              FakeConnection::id_of(call) + R"(,"progress":0.5}})" + "\n");
    peer.answer(call, done);
    peer.answer(peer.read_line().value_or(""),
                R"({"content":[],"isError":true,"_meta":{"cellblock/error":)"
                R"({"code":"rate_limited"}}})");
    (void)peer.read_line();
  });
  EXPECT_EQ(run_c_host(gateway.path().c_str()), 0) << "a line of c_host.c";
}

TEST(CInterface, EndsFromAnotherThreadWhatWaits) {
  std::latch asked(1);
  FakeGateway gateway([&](FakeConnection& peer) {
    (void)peer.read_line();
    asked.count_down();
    EXPECT_THAT(peer.read_line().value_or(""), HasSubstr("notifications/cancelled"));
  });
  const Connection connection(gateway);
  const std::jthread other([&] {
    asked.wait();
    cellblock_cancel(connection.get());
  });
  cellblock_result* result = nullptr;
  EXPECT_EQ(cellblock_call_tool(connection.get(), "slow", nullptr, nullptr, &result, nullptr),
            CELLBLOCK_CANCELLED);
  EXPECT_EQ(result, nullptr);
}

TEST(CInterface, ReconnectsWithoutRepeatingACall) {
  std::atomic<int> connections = 0;
  FakeGateway gateway([&](FakeConnection& peer) {
    const auto attach = peer.read_line().value_or("");
    peer.answer(attach, R"({"server":"files","session":"1"})");
    const auto next = peer.read_line().value_or("");
    if (connections++ == 0) return;
    EXPECT_THAT(next, HasSubstr(R"("name":"two")"));
    peer.answer(next, done);
    (void)peer.read_line();
  });
  const Connection connection(gateway);
  cellblock_result* result = nullptr;
  ASSERT_EQ(cellblock_attach(connection.get(), "files", nullptr, nullptr), CELLBLOCK_OK);
  EXPECT_EQ(cellblock_call_tool(connection.get(), "one", nullptr, nullptr, &result, nullptr),
            CELLBLOCK_DISCONNECTED);
  ASSERT_EQ(cellblock_reconnect(connection.get(), 0, nullptr), CELLBLOCK_OK);
  ASSERT_EQ(cellblock_call_tool(connection.get(), "two", nullptr, nullptr, &result, nullptr),
            CELLBLOCK_OK);
  EXPECT_STREQ(cellblock_result_text(result, nullptr), "done");
  cellblock_result_free(result);
}

TEST(CInterface, RefusesWhatIsNotThere) {
  EXPECT_EQ(cellblock_connect(nullptr, nullptr, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_attach(nullptr, "x", nullptr, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  cellblock_error* error = nullptr;
  EXPECT_EQ(cellblock_bound_result(nullptr, nullptr, nullptr, &error), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_STRNE(cellblock_error_text(error), "");
  cellblock_error_free(error);
  EXPECT_EQ(cellblock_options_socket(nullptr, "x"), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_STREQ(cellblock_error_text(nullptr), "");
  EXPECT_STREQ(cellblock_result_json(nullptr, nullptr), "");
  cellblock_cancel(nullptr);
  cellblock_client_free(nullptr);
}

TEST(CInterface, RefusesANameWithAZeroByteAndCutsNone) {
  std::vector<std::string> heard;
  {
    FakeGateway gateway([&](FakeConnection& peer) {
      while (const auto line = peer.read_line()) {
        heard.push_back(*line);
        peer.answer(*line, R"({"tools":[{"name":"write\u0000x"},{"name":"read"}]})");
      }
    });
    const Connection connection(gateway, "write");
    const auto code_of_request = [&](const char* method, const char* params) {
      cellblock_result* result = nullptr;
      const auto code =
          cellblock_request(connection.get(), method, params, nullptr, &result, nullptr);
      EXPECT_EQ(result, nullptr);
      return code;
    };
    EXPECT_EQ(code_of_request("tools/call", R"({"name":"write\u0000x"})"),
              CELLBLOCK_INVALID_ARGUMENT);
    EXPECT_EQ(code_of_request("prompts/get", R"({"name":"\u0000"})"), CELLBLOCK_INVALID_ARGUMENT);
    EXPECT_EQ(code_of_request("resources/read", R"({"uri":"file:///a\u0000b"})"),
              CELLBLOCK_INVALID_ARGUMENT);
    cellblock_tools* tools = nullptr;
    ASSERT_EQ(cellblock_list_tools(connection.get(), 60'000, &tools, nullptr), CELLBLOCK_OK);
    EXPECT_EQ(cellblock_tools_count(tools), 1U);
    EXPECT_STREQ(cellblock_tools_name(tools, 0), "read");
    cellblock_tools_free(tools);
  }
  EXPECT_THAT(heard, ElementsAre(HasSubstr("tools/list")));
}

TEST(CInterface, TakesOptionsOfAnOlderProgramAndRefusesThoseOfANewerOne) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), done);
    (void)peer.read_line();
  });
  const Connection connection(gateway);
  cellblock_call_options how = CELLBLOCK_CALL_OPTIONS_INIT;
  cellblock_result* result = nullptr;
  how.size = sizeof(how) + 8;
  EXPECT_EQ(cellblock_call_tool(connection.get(), "a", nullptr, &how, &result, nullptr),
            CELLBLOCK_INVALID_ARGUMENT);
  how.size = offsetof(cellblock_call_options, on_progress);
  how.on_progress = [](void*, double, double, const char*) { FAIL() << "beyond its size"; };
  ASSERT_EQ(cellblock_call_tool(connection.get(), "a", nullptr, &how, &result, nullptr),
            CELLBLOCK_OK);
  cellblock_result_free(result);
}

TEST(CInterface, NamesEveryCodeAsTheLibraryDoes) {
  EXPECT_STREQ(cellblock_code_name(CELLBLOCK_OK), "ok");
  EXPECT_STREQ(cellblock_code_name(static_cast<cellblock_code>(31)), "unknown");
  for (int code = 0; code <= static_cast<int>(ErrorCode::rpc); ++code) {
    const auto name = std::string(name_of(static_cast<ErrorCode>(code)));
    EXPECT_EQ(cellblock_code_name(static_cast<cellblock_code>(code + 1)), name);
  }
}

TEST(CInterface, BoundsAResult) {
  const std::string text(100'000, 'x');
  FakeGateway gateway([&](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""),
                R"({"content":[{"type":"text","text":")" + text + R"("}]})");
    (void)peer.read_line();
  });
  const Connection connection(gateway);
  cellblock_result* whole = nullptr;
  cellblock_result* small = nullptr;
  ASSERT_EQ(cellblock_call_tool(connection.get(), "a", nullptr, nullptr, &whole, nullptr),
            CELLBLOCK_OK);
  cellblock_bounds bounds = CELLBLOCK_BOUNDS_INIT;
  bounds.max_bytes = 4'096;
  bounds.keep_bytes = 50'000;
  bounds.reader = "read_on";
  bounds.uri = "host://1";
  ASSERT_EQ(cellblock_bound_result(whole, &bounds, &small, nullptr), CELLBLOCK_OK);
  EXPECT_EQ(cellblock_result_is_bounded(small), 1);
  EXPECT_LE(cellblock_result_tokens(small), 1'024U);
  EXPECT_THAT(cellblock_result_text(small, nullptr), HasSubstr("host://1/1"));
  ASSERT_EQ(cellblock_result_parts(small), 1U);
  EXPECT_EQ(cellblock_result_part_bytes(small, 0), text.size());
  EXPECT_EQ(cellblock_result_part(small, 1, nullptr), nullptr);
  std::size_t size = 0;
  std::size_t length = 0;
  const char* kept = cellblock_result_part(small, 0, &size);
  EXPECT_EQ(size, 50'000U);
  EXPECT_EQ(cellblock_page(kept, size, 49'000, 4'000, &length), kept + 49'000);
  EXPECT_EQ(length, 1'000U);
  cellblock_result_free(whole);
  cellblock_result_free(small);
}

// What another language does with the library: no compiler, no headers.
TEST(CInterface, ServesPython) {
  if (std::string(CELLBLOCK_PYTHON).empty()) GTEST_SKIP() << "needs python3";
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    peer.answer(peer.read_line().value_or(""), R"({"tools":[{"name":"write"}]})");
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr(R"("arguments":{"path": "/data"})"));
    peer.answer(call, done);
    (void)peer.read_line();
  });
  const auto ended = cellblock::testing::run(
      {"/usr/bin/env", "CELLBLOCK_SOCKET=" + gateway.path(),
       "CELLBLOCK_LIBRARY=" CELLBLOCK_TEST_BIN "/libcellblock-client.so", CELLBLOCK_PYTHON,
       CELLBLOCK_SOURCE "/examples/minimal_host.py", "files", "write", R"({"path": "/data"})"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "write\ndone\n");
}

}  // namespace
}  // namespace cellblock::client
