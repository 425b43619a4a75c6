#include <gmock/gmock.h>

#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include "tests/unit/gateway_rig.h"

// A whole gateway that keeps cells ready (start.warm), and that has no place for all.

namespace cellblock::gateway::testing {
namespace {

using ::testing::HasSubstr;
using wire::CellEventKind;
using wire::GatewayRequestKind;
using wire::StartRefusal;

class Cells : public GatewayRig {
 protected:
  void SetUp() override {
    GatewayRig::SetUp();
    config_.servers.push_back(config_.servers[0]);
    config_.servers[2].name = "third";
    for (Server& server : config_.servers) server.restart.pause = Milliseconds{1};
  }

  static void attach_to(Lines& host, std::string_view server) {
    host.send(R"({"jsonrpc":"2.0","id":"a","method":"cellblock/attach","params":{"server":")" +
              std::string(server) + R"(","start":"on_demand"}})");
    EXPECT_EQ(host.read_json()["result"]["server"], server);
  }
  static void say_who_it_is(Lines& host) {
    host.send(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"h","version":"1"}}})");
  }
  static void answer(FakeCell& cell, const Json& request, const Json& result) {
    cell.mcp.send(Json{{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", result}}.dump());
  }
  /// What the host had said before is heard by `cell`, and answered.
  static void welcome(Lines& host, FakeCell& cell) {
    const Json request = cell.mcp.read_json();
    EXPECT_EQ(request["method"], "initialize") << request;
    answer(cell, request,
           Json{{"protocolVersion", "2025-11-25"},
                {"capabilities", Json::object()},
                {"serverInfo", {{"name", "f"}, {"version", "1"}}}});
    EXPECT_TRUE(host.read_json().contains("result"));
    host.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    EXPECT_EQ(cell.mcp.read_json()["method"], "notifications/initialized");
  }
  static Json send_call(Lines& host, FakeCell& cell) {
    host.send(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_x"}})");
    Json request = cell.mcp.read_json();
    EXPECT_EQ(request["method"], "tools/call") << request;
    return request;
  }
  void refuse_next(StartRefusal why) {
    wire::CellEvent event;
    event.kind = CellEventKind::refused;
    event.refusal = why;
    event.request = expect_request(GatewayRequestKind::start_cell).request;
    EXPECT_TRUE(send_record(launcher_.get(), event));
  }
  /// A cell has been told to make room: it does, and the start that waited for that is made.
  FakeCell start_in_place_of(FakeCell& victim) {
    EXPECT_TRUE(victim.mcp.at_end());
    end_cell(victim, exited(0));
    return start_cell();
  }
  Json cells_of(Lines& host, std::string_view name) {
    const Json status = status_of(host);
    for (const Json& server : status["servers"]) {
      if (server["name"] == name) return server["cells"];
    }
    ADD_FAILURE() << "no such server";
    return {};
  }
  /// What it was told before is carried out when it answers this.
  void expect_nothing_started(Lines& host) { status_of(host); }
};

class SpareCell : public Cells {
 protected:
  virtual void declare() {}
  void SetUp() override {
    Cells::SetUp();
    config_.servers[0].start.warm = 1;
    declare();
    start();
    host_ = connect();
    other_ = connect();
  }

  bool is_known_to_run() {
    for (const Json& cell : cells_of(other_, "files")) {
      if (cell["state"] == "spare") return true;
    }
    return false;
  }
  /// The gateway has heard that it runs.
  FakeCell start_spare() {
    FakeCell spare = start_cell();
    while (!is_known_to_run()) continue;
    return spare;
  }

  /// Nobody's work is in it: it is not asked to end first.
  void expect_killed(const FakeCell& spare) {
    EXPECT_EQ(expect_request(GatewayRequestKind::kill_cell).cell, spare.number);
  }

  Lines host_;
  Lines other_;
};

TEST_F(SpareCell, RunsFromTheFirstSessionOnAndTakesItsFirstRequest) {
  expect_nothing_started(host_);
  attach_to(host_, "files");
  FakeCell spare = start_cell();
  say_who_it_is(host_);
  welcome(host_, spare);
}

TEST_F(SpareCell, IsNotStartedForSessionsOfOtherServers) {
  attach_to(host_, "third");
  expect_nothing_started(other_);
}

TEST_F(SpareCell, IsShownAsSpareAndOnceItIsTakenAsAnyOther) {
  attach_to(host_, "files");
  FakeCell spare = start_spare();
  say_who_it_is(host_);
  welcome(host_, spare);
  FakeCell next = start_spare();
  const Json cells = cells_of(other_, "files");
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0]["state"], "ready");
  EXPECT_EQ(cells[0]["spare"], false);
  EXPECT_EQ(cells[1]["state"], "spare");
  EXPECT_EQ(cells[1]["session"], "0");
}

TEST_F(SpareCell, IsFollowedByAnotherWhenTheSessionThatTookItHasItsAnswer) {
  attach_to(host_, "files");
  FakeCell spare = start_spare();
  say_who_it_is(host_);
  const Json request = spare.mcp.read_json();
  expect_nothing_started(other_);
  answer(spare, request, Json{{"protocolVersion", "2025-11-25"}});
  FakeCell next = start_cell();
  attach_to(other_, "files");
  say_who_it_is(other_);
  EXPECT_EQ(next.mcp.read_json()["method"], "initialize");
}

TEST_F(SpareCell, IsTakenWhileItIsBeingBuilt) {
  attach_to(host_, "files");
  FakeCell spare = build_cell();
  say_who_it_is(host_);
  EXPECT_FALSE(is_known_to_run());
  tell(spare, CellEventKind::running);
  welcome(host_, spare);
}

TEST_F(SpareCell, ThatFailsIsNotReplacedBeforeASessionHasBeenServed) {
  attach_to(host_, "files");
  FakeCell spare = start_spare();
  end_cell(spare, exited(1));
  while (!cells_of(other_, "files").empty()) continue;
  attach_to(other_, "files");
  expect_nothing_started(host_);
  say_who_it_is(other_);
  FakeCell cell = start_cell();
  welcome(other_, cell);
  FakeCell next = start_cell();
}

TEST_F(SpareCell, ThatTheLauncherRefusesIsNotAskedForAgainBeforeASessionComes) {
  attach_to(host_, "files");
  refuse_next(StartRefusal::too_many_cells);
  expect_nothing_started(host_);
  attach_to(other_, "files");
  FakeCell spare = start_spare();
}

TEST_F(SpareCell, EndsWithItsServer) {
  attach_to(host_, "files");
  FakeCell spare = start_spare();
  other_.send(R"({"jsonrpc":"2.0","id":2,"method":"cellblock/stop","params":{"server":"files"}})");
  EXPECT_EQ(other_.read_json()["result"]["stopped"], 1);
  expect_killed(spare);
  end_cell(spare, killed(SIGKILL));
  expect_nothing_started(other_);
}

TEST_F(SpareCell, IsAnotherOneAfterARestart) {
  attach_to(host_, "files");
  FakeCell spare = start_spare();
  other_.send(
      R"({"jsonrpc":"2.0","id":2,"method":"cellblock/restart","params":{"server":"files"}})");
  EXPECT_EQ(other_.read_json()["result"]["stopped"], 1);
  expect_killed(spare);
  FakeCell next = start_cell();
}

TEST_F(SpareCell, EndsWhereItsServerFails) {
  attach_to(host_, "files");
  FakeCell cell = start_spare();
  say_who_it_is(host_);
  welcome(host_, cell);
  FakeCell spare = start_spare();
  end_cell(cell, exited(1));
  expect_killed(spare);
}

TEST_F(SpareCell, ThatLeavesUnusedIsNoFailure) {
  attach_to(host_, "files");
  for (const int code : {0, 1}) {
    FakeCell spare = start_spare();
    end_cell(spare, exited(code));
    while (!cells_of(other_, "files").empty()) continue;
    const Json server = status_of(other_)["servers"][0];
    EXPECT_EQ(server.value("life", Json::object()).value("failures", 0), code) << server;
    Lines another = connect();
    attach_to(another, "files");
  }
}

class SpareCellsOfTwoServers : public SpareCell {
  void declare() override { config_.servers[2].start.warm = 1; }
};

TEST_F(SpareCellsOfTwoServers, StartOneAfterTheOther) {
  attach_to(host_, "files");
  FakeCell first = build_cell();
  attach_to(other_, "third");
  expect_nothing_started(other_);
  tell(first, CellEventKind::running);
  FakeCell second = start_cell();
}

TEST_F(SpareCell, EndsWithTheGateway) {
  attach_to(host_, "files");
  FakeCell spare = start_spare();
  supervisor_.reset();
  expect_killed(spare);
  end_cell(spare, killed(SIGKILL));
  wait_for_gateway();
}

TEST_F(SpareCell, GivesWayToACellThatASessionNeeds) {
  attach_to(host_, "files");
  FakeCell spare = start_spare();
  attach_to(other_, "third");
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells_in_all);
  expect_killed(spare);
  end_cell(spare, killed(SIGKILL));
  FakeCell cell = start_cell();
  welcome(other_, cell);
}

TEST_F(SpareCell, ThatHasJustDiedIsNotGivenToASession) {
  attach_to(host_, "files");
  FakeCell spare = start_spare();
  spare.mcp.close();  // the launcher has not said so yet
  say_who_it_is(host_);
  FakeCell cell = start_cell();
  welcome(host_, cell);
}

class Room : public Cells {
 protected:
  virtual void declare() {}
  void SetUp() override {
    Cells::SetUp();
    declare();
    start();
    host_ = connect();
    other_ = connect();
    attach_to(host_, "files");
    say_who_it_is(host_);
    cell_ = start_cell();
    welcome(host_, cell_);
    attach_to(other_, "third");
  }

  Lines host_;
  Lines other_;
  FakeCell cell_;
};

TEST_F(Room, IsMadeByACellThatNobodyNeeds) {
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells_in_all);
  EXPECT_TRUE(cell_.mcp.at_end());
  expect_nothing_started(host_);
  end_cell(cell_, exited(0));
  FakeCell next = start_cell();
  welcome(other_, next);
}

TEST_F(Room, IsWantedAgainByTheSessionWhoseCellGaveWay) {
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells_in_all);
  FakeCell next = start_in_place_of(cell_);
  welcome(other_, next);
  host_.send(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_x"}})");
  refuse_next(StartRefusal::too_many_cells_in_all);
  FakeCell again = start_in_place_of(next);
  EXPECT_EQ(again.mcp.read_json()["method"], "initialize");
}

TEST_F(Room, IsNotMadeByACellWithACall) {
  const Json request = send_call(host_, cell_);
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells_in_all);
  EXPECT_THAT(other_.read_json()["error"]["message"].get<std::string>(),
              HasSubstr("as many cells"));
  answer(cell_, request, Json::object());
  EXPECT_EQ(host_.read_json()["id"], 7);
}

TEST_F(Room, ForMoreCellsOfAServerIsNotMadeByAnother) {
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells);
  EXPECT_TRUE(other_.read_json().contains("error"));
}

TEST_F(Room, IsNoMatterOfOtherRefusals) {
  say_who_it_is(other_);
  refuse_next(StartRefusal::no_free_identity);
  EXPECT_TRUE(other_.read_json().contains("error"));
}

TEST_F(Room, IsTakenByWhoWaitsForIt) {
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells_in_all);
  Lines third = connect();
  attach_to(third, "third");
  say_who_it_is(third);
  refuse_next(StartRefusal::too_many_cells_in_all);
  FakeCell first = start_in_place_of(cell_);
  expect_nothing_started(host_);
  welcome(other_, first);
  FakeCell second = start_in_place_of(first);
  welcome(third, second);
}

TEST_F(Room, IsMadeByAsManyCellsAsStartsWaitForIt) {
  Lines third = connect();
  attach_to(third, "third");
  say_who_it_is(third);
  FakeCell idle = start_cell();
  welcome(third, idle);
  Lines fourth = connect();
  attach_to(fourth, "files");
  say_who_it_is(fourth);
  refuse_next(StartRefusal::too_many_cells_in_all);
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells_in_all);
  EXPECT_TRUE(cell_.mcp.at_end());
  EXPECT_TRUE(idle.mcp.at_end());
}

class RoomForEagerCells : public Room {
  void declare() override { config_.servers[2].start.when = CellStart::session; }
};

TEST_F(RoomForEagerCells, IsNotMadeBeforeTheFirstRequest) {
  refuse_next(StartRefusal::too_many_cells_in_all);
  const Json request = send_call(host_, cell_);
  answer(cell_, request, Json::object());
  EXPECT_EQ(host_.read_json()["id"], 7);
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells_in_all);
  FakeCell next = start_in_place_of(cell_);
  welcome(other_, next);
}

class RoomBesideACellThatStays : public Room {
  void declare() override { config_.servers[0].stop.idle.reset(); }
};

TEST_F(RoomBesideACellThatStays, IsNotMadeByIt) {
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells_in_all);
  EXPECT_TRUE(other_.read_json().contains("error"));
}

TEST_F(Room, IsNotWaitedForByAHostThatHasLeft) {
  say_who_it_is(other_);
  refuse_next(StartRefusal::too_many_cells_in_all);
  EXPECT_TRUE(cell_.mcp.at_end());
  other_.close();
  wire::SessionClosed closed;
  ASSERT_TRUE(receive_record(supervisor_.get(), closed));
  end_cell(cell_, exited(0));
  expect_nothing_started(host_);
}

}  // namespace
}  // namespace cellblock::gateway::testing
