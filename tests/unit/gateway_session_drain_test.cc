#include <gmock/gmock.h>

#include <string>

#include "tests/unit/session_rig.h"

namespace cellblock::gateway::testing {
namespace {

TEST_F(SessionTest, ADrainEndsASessionThatWaitsForNothingAtOnce) {
  attach_and_run();
  session().drain(Milliseconds{5'000}, now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(SessionTest, ADrainWaitsForAnswersAndRefusesWhatIsNew) {
  attach_and_run();
  const std::string id = ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  session().drain(Milliseconds{5'000}, now_);
  EXPECT_EQ(effects_.deadline, Milliseconds{5'000});
  host_says(R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
  EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "shutting_down");
  EXPECT_FALSE(session().is_over());
  cell_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  EXPECT_TRUE(session().is_over());
}

TEST_F(SessionTest, ADrainLetsACallBeTakenBackAndEndsThen) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  session().drain(Milliseconds{5'000}, now_);
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  EXPECT_EQ(effects_.last_to_cell()["method"], "notifications/cancelled");
  EXPECT_TRUE(session().is_over());
}

TEST_F(SessionTest, ADrainThatTakesTooLongFailsWhatIsMissing) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  session().drain(Milliseconds{5'000}, now_);
  session().deadline(now_);
  EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "shutting_down");
  EXPECT_TRUE(session().is_over());
}

TEST_F(SessionTest, AHostThatIsNotWaitedForAnyLongerIsToldWhyAndTheSessionEnds) {
  session().give_host_up(HostPatience::Verdict::waits, now_);
  EXPECT_FALSE(session().is_over());
  session().give_host_up(HostPatience::Verdict::silent, now_);
  EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "invalid_request");
  EXPECT_TRUE(session().is_over());
}

}  // namespace
}  // namespace cellblock::gateway::testing
