#include <gmock/gmock.h>

#include "tests/unit/gateway_rig.h"

/// What hosts hear when somebody decides about what they are shown.
namespace cellblock::gateway::testing {
namespace {

using ::testing::ElementsAre;

class GatewayPinChanges : public GatewayRig {
 protected:
  void SetUp() override {
    GatewayRig::SetUp();
    config_.servers[0].pin = PinMode::tofu;
    config_.servers[0].era = ServerEra::legacy;
  }

  /// The server answers what the host asks.
  static Json ask(Lines& host, FakeCell& cell, const std::string& method, const Json& result,
                  const std::string& params = "{}") {
    host.send(R"({"jsonrpc":"2.0","id":"q","method":")" + method + R"(","params":)" + params + "}");
    const Json asked = cell.mcp.read_json();
    EXPECT_EQ(asked["method"], method);
    cell.mcp.send(Json{{"jsonrpc", "2.0"}, {"id", asked["id"]}, {"result", result}}.dump());
    return host.read_json();
  }

  static void initialize(Lines& host, FakeCell& cell, const Json& tools) {
    ask(host, cell, "initialize",
        {{"protocolVersion", "2025-06-18"},
         {"capabilities", {{"tools", tools}}},
         {"serverInfo", {{"name", "s"}, {"version", "1"}}}},
        R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}})");
  }

  static std::vector<std::string> list(Lines& host, FakeCell& cell, const char* description) {
    Json tools = Json::array();
    tools.push_back(
        {{"name", "read_a"}, {"description", description}, {"inputSchema", {{"type", "object"}}}});
    const Json listed = ask(host, cell, "tools/list", {{"tools", tools}});
    std::vector<std::string> names;
    for (const Json& tool : listed["result"]["tools"]) {
      if (tool["name"] != "cellblock_read_result") names.push_back(tool["name"]);
    }
    return names;
  }

  void accept_all() {
    Lines admin = connect({.via = wire::SessionVia::admin, .uid = 0, .user = user});
    admin.send(
        R"({"jsonrpc":"2.0","id":9,"method":"cellblock/pin_accept","params":{"server":"files"}})");
    EXPECT_EQ(admin.read_json()["result"]["accepted"].size(), 1U);
  }
};

TEST_F(GatewayPinChanges, AHostHearsThatAListChangedWhenSomethingInItWasAccepted) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  initialize(host, cell, {{"listChanged", true}});
  EXPECT_THAT(list(host, cell, "Reads."), ElementsAre("read_a"));
  EXPECT_THAT(list(host, cell, "Reads, and tells."), ElementsAre()) << "it is withheld";
  accept_all();
  EXPECT_EQ(host.read_json()["method"], "notifications/tools/list_changed");
  EXPECT_THAT(list(host, cell, "Reads, and tells."), ElementsAre("read_a"));
}

TEST_F(GatewayPinChanges, AHostIsToldNothingThatTheServerHasNotSaidItTells) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  initialize(host, cell, Json::object());
  list(host, cell, "Reads.");
  list(host, cell, "Reads, and tells.");
  accept_all();
  EXPECT_THAT(list(host, cell, "Reads, and tells."), ElementsAre("read_a")) << "nothing before it";
}

}  // namespace
}  // namespace cellblock::gateway::testing
