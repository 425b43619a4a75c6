#include <gmock/gmock.h>

#include <string>

#include "tests/unit/session_rig.h"

// Cells of servers with start.when = "session", as the sessions see them that they start for.

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* call =
    R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_a"}})";
constexpr const char* list_of_all =
    R"({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{)"
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}}}})";

class EagerStart : public SessionTest {
 protected:
  EagerStart() { config_.servers[0].start.when = CellStart::session; }
};

TEST_F(EagerStart, DoesNotWaitForTheFirstRequestOfAnAttachedSession) {
  attach(R"(,"start":"on_demand")");
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  EXPECT_THAT(effects_.control, Contains(::testing::HasSubstr("result")));
}

TEST_F(EagerStart, IsOnlyWhereItIsDeclared) {
  config_.servers[0].start.when = CellStart::on_demand;
  attach(R"(,"start":"on_demand")");
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(EagerStart, IsForASessionOfAllServersToo) {
  host_says(list_of_all);
  EXPECT_THAT(effects_.did, Contains("start_cell"));
  EXPECT_THAT(effects_.expected, Contains(0U));
}

TEST_F(EagerStart, OfAServerThatMayNotBeUsedIsNone) {
  config_.servers[0].rules.clear();
  session();
  host_says(list_of_all);
  EXPECT_THAT(effects_.did, Not(Contains("start_cell")));
  EXPECT_THAT(effects_.expected, Not(Contains(0U)));
}

TEST_F(EagerStart, ThatFailsTakesNoSession) {
  attach(R"(,"start":"on_demand")");
  cell_runs();
  cell().ended({.kind = EndKind::exited, .exit_code = 1}, now_);
  EXPECT_FALSE(session().is_over());
  host_says(call);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "start_cell"));
}

TEST_F(EagerStart, ServesTheFirstRequestThatComes) {
  attach(R"(,"start":"on_demand")");
  host_says(call);
  cell_runs();
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  EXPECT_EQ(effects_.last_to_cell()["method"], "tools/call");
}

}  // namespace
}  // namespace cellblock::gateway::testing
