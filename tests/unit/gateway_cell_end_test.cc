#include <gmock/gmock.h>

#include <csignal>
#include <string>

#include "tests/unit/session_rig.h"

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class CellEnd : public SessionTest {};

TEST_F(CellEnd, AKillFromOutsideThatShowsAsClosedInputFirstIsAKill) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  cell().input_broken(GivenUp::closed_stdin);
  CellFacts facts;
  facts.kind = EndKind::signalled;
  facts.signal = SIGKILL;
  cell().ended(facts, now_);
  EXPECT_EQ(effects_.ends.back().verdict, "early_crash");
  EXPECT_THAT(effects_.ends.back().cause, HasSubstr("SIGKILL"));
}

TEST_F(CellEnd, AServerThatClosesItsInputAndLivesIsKilledWhenItsTimeIsOver) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  cell().input_broken(GivenUp::closed_stdin);
  EXPECT_EQ(effects_.deadline, ServerCell::exit_patience);
  EXPECT_FALSE(cell().takes_users());
  cell().deadline(now_);
  EXPECT_THAT(effects_.did, Contains("kill_cell"));
  CellFacts facts;
  facts.kind = EndKind::signalled;
  facts.signal = SIGKILL;
  cell().ended(facts, now_);
  EXPECT_EQ(effects_.ends.back().verdict, "closed_stdin");
}

TEST_F(CellEnd, AnswersInAForeignFramingEndTheCellBeforeItsFirstAnswer) {
  attach_and_run();
  const std::string id = ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  cell_says("\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}");
  EXPECT_THAT(effects_.did, Contains("kill_cell"));
  cell().ended({}, now_);
  EXPECT_EQ(effects_.ends.back().verdict, "foreign_framing");
  EXPECT_THAT(effects_.ends.back().advice, HasSubstr("without a byte order mark"));
}

TEST_F(CellEnd, AMarkedAnswerLaterFailsItsCallAtOnceAndNotTheCell) {
  attach_and_run();
  std::string id = ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  cell_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
  id = ask(R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
  cell_says("\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}");
  EXPECT_THAT(effects_.last_to_host()["error"]["message"].get<std::string>(),
              HasSubstr("a byte order mark"));
  EXPECT_THAT(effects_.did, Not(Contains("kill_cell")));
}

TEST_F(CellEnd, ABodyWithoutItsNewlineEndsTheCellBeforeItsFirstAnswer) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  cell_says("Content-Length: 2\r");
  EXPECT_FALSE(cell().awaits_body());
  cell_says("\r");
  ASSERT_TRUE(cell().awaits_body());
  cell().unfinished("{}");
  EXPECT_THAT(effects_.did, Contains("kill_cell"));
  cell().ended({}, now_);
  EXPECT_THAT(effects_.ends.back().cause, HasSubstr("Content-Length"));
}

}  // namespace
}  // namespace cellblock::gateway::testing
