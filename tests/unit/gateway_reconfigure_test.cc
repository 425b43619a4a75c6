#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/config_bytes.h"
#include "policy/reload/merge.h"
#include "supervisor/os/sys.h"
#include "tests/unit/gateway_rig.h"

// A whole gateway that is sent another configuration while sessions are open: what becomes of them,
// and of cells.

namespace cellblock::gateway::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view call =
    R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_x"}})";

class GatewayReconfigure : public GatewayRig {
 protected:
  void SetUp() override {
    GatewayRig::SetUp();
    config_.servers.push_back(config_.servers[0]);
    config_.servers[2].name = "third";
  }

  void send_config(const Fd& sealed) {
    wire::SessionGrant grant;
    grant.kind = wire::SupervisorSends::config;
    const int fd = sealed.get();
    EXPECT_TRUE(send_record(supervisor_.get(), grant, std::span(&fd, 1)));
  }
  /// Returns when the gateway has taken it: what the supervisor sends is read in its order.
  template <class Change>
  void reload(Change change) {
    Config declared = config_;
    std::erase_if(declared.servers, [](const Server& server) { return server.removed; });
    change(declared);
    config_ = merged(config_, std::move(declared));
    send_config(make_sealed("config", encode(config_)).value());
    Lines later = connect();
    EXPECT_EQ(attach_reply(later, "nowhere")["error"]["code"], -31001);
  }

  static void ask_to_attach(Lines& host, std::string_view server) {
    host.send(R"({"jsonrpc":"2.0","id":"a","method":"cellblock/attach","params":{"server":")" +
              std::string(server) + R"("}})");
  }
  static Json attach_reply(Lines& host, std::string_view server) {
    ask_to_attach(host, server);
    return host.read_json();
  }
  FakeCell attach_to(Lines& host, std::string_view server) {
    ask_to_attach(host, server);
    FakeCell cell = start_cell();
    EXPECT_EQ(host.read_json()["result"]["server"], server);
    return cell;
  }

  static void answer(FakeCell& cell, const Json& request, const Json& result) {
    cell.mcp.send(Json{{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", result}}.dump());
  }
  static void expect_call_passes(Lines& host, FakeCell& cell) {
    host.send(call);
    const Json request = cell.mcp.read_json();
    EXPECT_EQ(request["method"], "tools/call");
    answer(cell, request, Json::object());
    const Json reply = host.read_json();
    EXPECT_EQ(reply["id"], 7);
    EXPECT_TRUE(reply.contains("result")) << reply;
  }
  /// Lists may have become others: hosts are told so.
  static Json next_answer(Lines& host) {
    Json message = host.read_json();
    while (message.contains("method")) message = host.read_json();
    return message;
  }
  static std::string request_method(FakeCell& cell) { return cell.mcp.read_json()["method"]; }

  static void welcome(FakeCell& cell) {
    const Json request = cell.mcp.read_json();
    EXPECT_EQ(request["method"], "initialize") << request;
    answer(cell, request,
           Json{{"protocolVersion", "2025-11-25"},
                {"capabilities", {{"tools", Json::object()}}},
                {"serverInfo", {{"name", "f"}, {"version", "1"}}}});
  }
  /// Of a host that has said who it is.
  FakeCell introduce(Lines& host) {
    FakeCell cell = attach_to(host, "files");
    host.send(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"h","version":"1"}}})");
    welcome(cell);
    EXPECT_EQ(host.read_json()["id"], 1);
    host.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    EXPECT_EQ(request_method(cell), "notifications/initialized");
    return cell;
  }
};

TEST_F(GatewayReconfigure, ARemovedServerEndsItsSessionsAndNoOthers) {
  start();
  Lines host = connect();
  FakeCell cell = attach_to(host, "files");
  Lines neighbour = connect();
  FakeCell other = attach_to(neighbour, "third");
  host.send(call);
  cell.mcp.read_json();
  reload([](Config& config) { config.servers.erase(config.servers.begin()); });
  EXPECT_EQ(host.read_json()["id"], 7);
  EXPECT_TRUE(host.at_end());
  EXPECT_TRUE(cell.mcp.at_end());
  expect_call_passes(neighbour, other);
  Lines late = connect();
  EXPECT_EQ(attach_reply(late, "files")["error"]["code"], -31001);
}

TEST_F(GatewayReconfigure, NewServersAreAttachedToAlsoInSessionsThatWereOpenBefore) {
  start();
  Lines before = connect();
  EXPECT_EQ(attach_reply(before, "alpha")["error"]["code"], -31001);
  reload([](Config& config) {
    for (const char* name : {"alpha", "zeta"}) {
      config.servers.push_back(config.servers[0]);
      config.servers.back().name = name;
    }
  });
  FakeCell cell = attach_to(before, "alpha");
  expect_call_passes(before, cell);
  Lines after = connect();
  FakeCell other = attach_to(after, "zeta");
  expect_call_passes(after, other);
}

TEST_F(GatewayReconfigure, ACellThatIsMadeOtherwiseGivesWayWhenItsCallIsAnswered) {
  start();
  Lines host = connect();
  FakeCell cell = introduce(host);
  host.send(call);
  const Json request = cell.mcp.read_json();
  reload([](Config& config) { config.servers[0].command = {"/usr/bin/other"}; });
  answer(cell, request, Json{{"of", "the first cell"}});
  EXPECT_EQ(next_answer(host)["result"]["of"], "the first cell");
  EXPECT_TRUE(cell.mcp.at_end());
  host.send(call);
  FakeCell next = start_cell();
  welcome(next);
  EXPECT_EQ(request_method(next), "notifications/initialized");
  answer(next, next.mcp.read_json(), Json{{"of", "the next cell"}});
  EXPECT_EQ(next_answer(host)["result"]["of"], "the next cell");
}

TEST_F(GatewayReconfigure, ASharedCellThatIsMadeOtherwiseTakesNobodyNew) {
  config_.servers[0].cells = CellSharing::per_user;
  start();
  Lines host = connect();
  FakeCell cell = introduce(host);
  host.send(call);
  const Json request = cell.mcp.read_json();
  reload([](Config& config) { config.servers[0].command = {"/usr/bin/other"}; });
  Lines late = connect();
  FakeCell next = attach_to(late, "files");
  EXPECT_NE(next.number, cell.number);
  answer(cell, request, Json{{"of", "the first cell"}});
  EXPECT_EQ(next_answer(host)["result"]["of"], "the first cell");
  EXPECT_TRUE(cell.mcp.at_end());
}

TEST_F(GatewayReconfigure, ASharedCellOfAServerThatIsSwitchedOffIsStopped) {
  config_.servers[0].cells = CellSharing::per_user;
  start();
  Lines host = connect();
  FakeCell cell = attach_to(host, "files");
  reload([](Config& config) { config.servers[0].enabled = false; });
  EXPECT_TRUE(host.at_end());
  EXPECT_TRUE(cell.mcp.at_end());
  Lines late = connect();
  EXPECT_THAT(attach_reply(late, "files").dump(), HasSubstr("switched off by its declaration"));
}

TEST_F(GatewayReconfigure, TheSameConfigurationChangesNothing) {
  start();
  Lines host = connect();
  FakeCell cell = attach_to(host, "files");
  reload([](Config&) {});
  expect_call_passes(host, cell);
}

TEST_F(GatewayReconfigure, TheNewRuleDecidesTheNextCallOfASessionThatIsOpen) {
  start();
  Lines host = connect();
  FakeCell cell = attach_to(host, "files");
  const std::vector<Rule> allowing = config_.servers[0].rules;
  const std::vector<Rule> denying = {short_form({user}, {}, {{"other", false}})};
  for (const auto* rules : {&allowing, &denying, &allowing, &denying, &denying, &allowing}) {
    reload([rules](Config& config) { config.servers[0].rules = *rules; });
    if (rules == &allowing) {
      expect_call_passes(host, cell);
    } else {
      host.send(call);
      EXPECT_TRUE(next_answer(host).contains("error"));
    }
  }
}

TEST_F(GatewayReconfigure, AServerThatComesBackHasItsOldPlace) {
  start();
  const Server first = config_.servers[0];
  reload([](Config& config) { config.servers.erase(config.servers.begin()); });
  reload([&first](Config& config) { config.servers.push_back(first); });
  EXPECT_EQ(config_.servers[0].name, "files");
  Lines host = connect();
  FakeCell cell = attach_to(host, "files");
  expect_call_passes(host, cell);
}

TEST_F(GatewayReconfigure, WhoIsNoAdministratorAnyMoreLosesTheConnectionThatIsOpen) {
  config_.admins = {7, 8};
  start();
  Lines removed = connect({.via = wire::SessionVia::admin, .uid = 7, .user = user});
  Lines kept = connect({.via = wire::SessionVia::admin, .uid = 8, .user = user});
  Lines root = connect({.via = wire::SessionVia::admin, .uid = 0, .user = user});
  const auto is_answered = [](Lines& lines) {
    lines.send(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/approvals"})");
    return lines.read_json().contains("result");
  };
  EXPECT_TRUE(is_answered(removed) && is_answered(kept) && is_answered(root));
  reload([](Config& config) { config.admins = {8}; });
  EXPECT_TRUE(removed.at_end());
  EXPECT_TRUE(is_answered(kept) && is_answered(root));
}

TEST_F(GatewayReconfigure, EndsWhenTheSupervisorSendsNoConfiguration) {
  start();
  Lines host = connect();
  FakeCell cell = attach_to(host, "files");
  send_config(make_sealed("config", {}).value());
  wait_for_gateway();
  EXPECT_TRUE(host.at_end());
}

class ReconfigureSpareCells : public GatewayReconfigure {
 protected:
  void SetUp() override {
    GatewayReconfigure::SetUp();
    config_.servers[0].start.warm = 2;
    start();
    host_ = connect();
    host_.send(
        R"({"jsonrpc":"2.0","id":"a","method":"cellblock/attach","params":{"server":"files",)"
        R"("start":"on_demand"}})");
    EXPECT_EQ(host_.read_json()["result"]["server"], "files");
    first_ = start_cell();
    second_ = start_cell();
    while (spare() < 2) continue;
  }
  std::size_t spare() {
    const Json status = status_of(host_);
    const Json& cells = status["servers"][0]["cells"];
    return static_cast<std::size_t>(
        std::ranges::count(cells, Json("spare"), [](const Json& cell) { return cell["state"]; }));
  }

  Lines host_;
  FakeCell first_;
  FakeCell second_;

  void expect_both_killed() {
    EXPECT_EQ(expect_request(wire::GatewayRequestKind::kill_cell).cell, first_.number);
    EXPECT_EQ(expect_request(wire::GatewayRequestKind::kill_cell).cell, second_.number);
  }
};

TEST_F(ReconfigureSpareCells, OthersTakeThePlaceOfThoseThatWereMadeOtherwise) {
  reload([](Config& config) { config.servers[0].command = {"/usr/bin/other"}; });
  expect_both_killed();
  FakeCell next = start_cell();
}

// A short secret, or a file, may be another one.
TEST_F(ReconfigureSpareCells, OthersTakeTheirPlaceWhereNoDifferenceIsSeen) {
  reload([](Config&) {});
  expect_both_killed();
  FakeCell next = start_cell();
}

TEST_F(ReconfigureSpareCells, WhatMayNotBeUsedAnyMoreHasNone) {
  reload([](Config& config) { config.servers[0].rules.clear(); });
  expect_both_killed();
}

}  // namespace
}  // namespace cellblock::gateway::testing
