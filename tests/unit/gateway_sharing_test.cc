#include <gmock/gmock.h>

#include <string>

#include "tests/unit/gateway_rig.h"

// Cells that the sessions of a user share, in a whole gateway: who keeps them, and for how long.

namespace cellblock::gateway::testing {
namespace {

using wire::CellEventKind;
using wire::GatewayRequestKind;

class GatewaySharing : public GatewayRig {
 protected:
  void SetUp() override {
    GatewayRig::SetUp();
    config_.servers[0].cells = CellSharing::per_user;
    start();
  }

  void join(Lines& host) {
    host.send(attach);
    EXPECT_EQ(host.read_json()["result"]["server"], "files");
  }
  static Json calls(Lines& host, FakeCell& cell) {
    host.send(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_x"}})");
    return cell.mcp.read_json();
  }
  static void answers(FakeCell& cell, const Json& request, std::string_view text) {
    cell.mcp.send(
        Json{{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", {{"text", text}}}}.dump());
  }
  Json cells_of_status() {
    Lines host = connect();
    return status_of(host)["servers"][0]["cells"];
  }
  static void expect_ended(Lines& host) {
    EXPECT_EQ(host.read_json()["id"], 7);
    EXPECT_TRUE(host.at_end());
  }
};

TEST_F(GatewaySharing, ASecondSessionStartsNothing) {
  Lines first = connect();
  FakeCell cell = attach_host(first);
  Lines second = connect();
  join(second);
  const Json one = calls(first, cell);
  const Json two = calls(second, cell);
  answers(cell, two, "of the second");
  answers(cell, one, "of the first");
  EXPECT_EQ(first.read_json()["result"]["text"], "of the first");
  EXPECT_EQ(second.read_json()["result"]["text"], "of the second");
  const Json cells = cells_of_status();
  ASSERT_EQ(cells.size(), 1U) << cells;
  EXPECT_EQ(cells[0]["session"], "0");
  EXPECT_EQ(cells[0]["sessions"], (Json{"1", "2"})) << cells;
  EXPECT_EQ(cells[0]["calls"], 2);
}

TEST_F(GatewaySharing, ASessionThatEndsLeavesTheCellToTheOthers) {
  Lines first = connect();
  FakeCell cell = attach_host(first);
  Lines second = connect();
  join(second);
  const Json one = calls(first, cell);
  const Json two = calls(second, cell);
  first.close();
  EXPECT_EQ(cell.mcp.read_json()["params"]["requestId"], one["id"]);
  answers(cell, one, "of nobody");
  answers(cell, two, "of the second");
  EXPECT_EQ(second.read_json()["result"]["text"], "of the second");
  const Json cells = cells_of_status();
  EXPECT_EQ(cells[0]["sessions"], Json{"2"}) << cells;
  EXPECT_EQ(cells[0]["foreign_answers"], 1) << cells;
}

TEST_F(GatewaySharing, ACellThatEndsAnswersEverySessionAndIsFollowedByAnother) {
  Lines first = connect();
  FakeCell cell = attach_host(first);
  Lines second = connect();
  join(second);
  calls(first, cell);
  calls(second, cell);
  tell(cell, CellEventKind::ended, killed(11));
  expect_ended(first);
  expect_ended(second);
  Lines third = connect();
  FakeCell next = attach_host(third);
  answers(next, calls(third, next), "of the next");
  EXPECT_EQ(third.read_json()["result"]["text"], "of the next");
}

TEST_F(GatewaySharing, ACellThatEndsWhileItIsBuiltFailsEveryAttach) {
  Lines first = connect();
  first.send(attach);
  FakeCell cell = build_cell();
  Lines second = connect();
  second.send(attach);
  // What the launcher says is read in a turn of its own, so this one has been taken by then.
  EXPECT_EQ(cells_of_status()[0]["sessions"].size(), 2U);
  end_cell(cell, exited(1));
  for (Lines* host : {&first, &second}) {
    EXPECT_TRUE(host->read_json().contains("error"));
    host->send(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/logs","params":{"server":"files"}})");
    EXPECT_TRUE(host->read_json().contains("result"));
  }
}

TEST_F(GatewaySharing, AStopEndsTheCellAndAllWhoUseIt) {
  Lines first = connect();
  FakeCell cell = attach_host(first);
  Lines second = connect();
  join(second);
  calls(second, cell);
  Lines control = connect();
  control.send(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/stop","params":{"server":"files"}})");
  EXPECT_EQ(control.read_json()["result"]["stopped"], 1);
  EXPECT_TRUE(first.at_end());
  expect_ended(second);
  while (cell.mcp.read()) continue;
  end_cell(cell, exited(0));
  Lines third = connect();
  attach_host(third);
}

TEST_F(GatewaySharing, ACellWithoutSessionsIsKeptAndEndsWithItsGateway) {
  Lines first = connect();
  FakeCell cell = attach_host(first);
  first.close();
  Lines second = connect();
  join(second);
  second.close();
  supervisor_.reset();
  while (cell.mcp.read()) continue;
  end_cell(cell, exited(0));
  wait_for_gateway();
}

}  // namespace
}  // namespace cellblock::gateway::testing
