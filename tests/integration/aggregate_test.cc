// All servers as one: a connection that attaches to nothing and says MCP, in either era.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

json modern(json params = json::object()) {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientInfo", {{"name", "t"}, {"version", "1"}}},
                     {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  return params;
}

const json legacy_hello = {{"protocolVersion", "2025-11-25"},
                           {"capabilities", json::object()},
                           {"clientInfo", {{"name", "t"}, {"version", "1"}}}};

std::vector<std::string> names_in(const json& answer) {
  std::vector<std::string> names;
  for (const json& tool : answer["result"]["tools"]) names.push_back(tool["name"]);
  return names;
}

class Aggregated : public testing::TestWithParam<Mode> {
 protected:
  Aggregated() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
    daemon_.start(
        {.servers = server_of_build(daemon_, "broken", "misbehaving_server", {"exit-one"}) +
                    server_of_build(daemon_, "echo", "echo_server") +
                    server_of_build(daemon_, "recorder", "recording_server") + of_bob()});
  }

  std::string of_bob() const {
    if (GetParam() == Mode::user) return "";
    return server_of_build(daemon_, "bobs", "recording_server", {},
                           fmt::format("allow = {{ users = [{}], tools = [\"*\"] }}", bob.uid));
  }

  /// The cells of a server that were started for sessions: one that only looked may still be
  /// ending.
  static std::size_t cells_of(Host& host, std::string_view server) {
    const json status = host.request("cellblock/status");
    for (const json& one : status["result"]["servers"]) {
      if (one["name"] != server) continue;
      return static_cast<std::size_t>(std::ranges::count_if(
          one["cells"], [](const json& cell) { return !cell["sessions"].empty(); }));
    }
    return 0;
  }

  Daemon daemon_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Aggregated, testing::Values(Mode::system, Mode::user),
                         name_of_mode);

TEST_P(Aggregated, ListsWhatAllHaveWithoutAStartAndSaysWhoIsMissing) {
  Host host = daemon_.connect();
  const json answer = host.request("tools/list", modern());
  EXPECT_THAT(names_in(answer), Contains("echo__echo")) << answer.dump();
  EXPECT_THAT(names_in(answer), Contains("recorder__seen"));
  EXPECT_EQ(answer["result"]["_meta"]["cellblock/unavailable"][0]["server"], "broken");
  EXPECT_EQ(cells_of(host, "echo"), 0U);
}

TEST_P(Aggregated, StartsOnlyTheServerThatIsCalled) {
  Host host = daemon_.connect();
  const json answer = host.request(
      "tools/call", modern({{"name", "echo__echo"}, {"arguments", {{"text", "hello"}}}}));
  EXPECT_EQ(answer["result"]["content"][0]["text"], "hello") << answer.dump();
  EXPECT_EQ(cells_of(host, "echo"), 1U);
  EXPECT_EQ(cells_of(host, "recorder"), 0U);
}

TEST_P(Aggregated, ServesALegacyHostToo) {
  Host host = daemon_.connect();
  const json hello = host.request("initialize", legacy_hello);
  EXPECT_EQ(hello["result"]["protocolVersion"], "2025-11-25") << hello.dump();
  EXPECT_EQ(hello["result"]["serverInfo"]["name"], "cellblock");
  host.send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  EXPECT_THAT(names_in(host.request("tools/list")), Contains("echo__echo"));
  EXPECT_EQ(host.call_for_text("echo__echo", {{"text", "hello"}}), "hello");
}

TEST_P(Aggregated, TellsTheModelWhyABrokenServerDoesNotAnswerAndServesTheOthers) {
  Host host = daemon_.connect();
  const json broken = host.request("tools/call", modern({{"name", "broken__x"}}));
  EXPECT_EQ(broken["result"]["isError"], true) << broken.dump();
  EXPECT_THAT(broken.dump(), HasSubstr("no such database"));
  const json echo = host.request(
      "tools/call", modern({{"name", "echo__echo"}, {"arguments", {{"text", "still"}}}}));
  EXPECT_EQ(echo["result"]["content"][0]["text"], "still") << echo.dump();
}

TEST_P(Aggregated, HasForAUserOnlyWhatThatUserMayUse) {
  if (GetParam() != Mode::system) GTEST_SKIP() << "one user only";
  Host host = daemon_.connect(bob);
  const json listed = host.request("tools/list", modern());
  ASSERT_TRUE(listed.contains("result")) << listed.dump();
  EXPECT_THAT(names_in(listed), Contains("bobs__seen"));
  EXPECT_THAT(names_in(listed), Not(Contains("echo__echo")));
  for (const char* name : {"echo__echo", "nobody__x"}) {
    const json answer = host.request("tools/call", modern({{"name", name}}));
    ASSERT_TRUE(answer.contains("error")) << answer.dump();
    EXPECT_EQ(answer["error"]["message"], std::string("Unknown tool: ") + name) << answer.dump();
  }
}

TEST_P(Aggregated, IsWhatConnectSpeaksWithoutAName) {
  const auto bridge = daemon_.command({"connect"});
  bridge->write(
      json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", legacy_hello}}
          .dump() +
      "\n");
  EXPECT_TRUE(bridge->output().wait_for("\"cellblock\"")) << bridge->errors().so_far();
  bridge->write(json{{"jsonrpc", "2.0"}, {"id", 2}, {"method", "tools/list"}}.dump() + "\n");
  EXPECT_TRUE(bridge->output().wait_for("echo__echo")) << bridge->errors().so_far();
  bridge->close_input();
  EXPECT_EQ(bridge->wait(), 0) << bridge->errors().so_far();
}

}  // namespace
}  // namespace cellblock::harness
