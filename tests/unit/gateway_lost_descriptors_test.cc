#include <gmock/gmock.h>

#include <csignal>

#include "tests/unit/gateway_rig.h"

// A gateway that had no descriptor free when a record came: it has the record, and not what came
// with it.

namespace cellblock::gateway::testing {
namespace {

using ::testing::HasSubstr;
using wire::CellEventKind;
using wire::GatewayRequestKind;

class LostDescriptors : public GatewayRig {
 protected:
  static constexpr std::uint64_t cell = 77;

  void build_cell_without_pipes() {
    wire::CellEvent event;
    event.kind = CellEventKind::started;
    event.request = expect_request(GatewayRequestKind::start_cell).request;
    event.cell = cell;
    ASSERT_TRUE(send_record(launcher_.get(), event));
  }

  void tell_of_cell(CellEventKind kind) {
    wire::CellEvent event;
    event.kind = kind;
    event.cell = cell;
    event.facts = killed(SIGKILL);
    ASSERT_TRUE(send_record(launcher_.get(), event));
  }
};

TEST_F(LostDescriptors, CostAConnectionAndNotTheSessionsThatAreOpen) {
  start();
  Lines host = connect();
  const FakeCell cell_of_host = attach_host(host);
  wire::SessionGrant lost{.kind = wire::SupervisorSends::session, .uid = user};
  lost.connection = 99;
  ASSERT_TRUE(send_record(supervisor_.get(), lost));
  wire::SessionClosed closed;
  ASSERT_TRUE(receive_record(supervisor_.get(), closed));
  EXPECT_EQ(closed.connection, 99U);
  EXPECT_EQ(status_of(host)["servers"].size(), 1U);
}

TEST_F(LostDescriptors, CostTheCellThatTheyWereThePipesOf) {
  start();
  Lines host = connect();
  host.send(attach);
  build_cell_without_pipes();
  EXPECT_EQ(expect_request(GatewayRequestKind::kill_cell).cell, cell);
  EXPECT_THAT(host.read_json()["error"]["message"].get<std::string>(),
              HasSubstr("out of descriptors"));
}

TEST_F(LostDescriptors, LetWhatIsToldOfThatCellAfterwardsMeanNothing) {
  start();
  Lines host = connect();
  host.send(attach);
  build_cell_without_pipes();
  expect_request(GatewayRequestKind::kill_cell);
  host.read_json();
  for (const auto kind : {CellEventKind::running, CellEventKind::denied, CellEventKind::ended}) {
    tell_of_cell(kind);
  }
  Lines next = connect();
  const FakeCell next_cell = attach_host(next);
}

}  // namespace
}  // namespace cellblock::gateway::testing
