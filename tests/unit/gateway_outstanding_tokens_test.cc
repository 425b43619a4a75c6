#include <gtest/gtest.h>

#include "tests/unit/values_rig.h"

/// What keeps a cell from making room: questions half asked, lists half read.
namespace cellblock::gateway::testing {
namespace {

TEST_F(ValuesTest, AStateOfAQuestionIsWaitedForUntilItComesBackOrIsTooOld) {
  const auto ask_in_return = [&] {
    return ask(mine_, {{"method", "prompts/get"}, {"params", {{"name", "p"}}}},
               {{"resultType", "input_required"}, {"requestState", "s"}})["requestState"];
  };
  EXPECT_TRUE(mine_.conversation.is_at_rest(now_));
  const json state = ask_in_return();
  EXPECT_FALSE(mine_.conversation.is_at_rest(now_ + 599s));
  EXPECT_TRUE(mine_.conversation.is_at_rest(now_ + 600s));
  const json other = ask_in_return();
  for (const json& one : {other, state}) {
    EXPECT_FALSE(mine_.conversation.is_at_rest(now_));
    ask(mine_, {{"method", "prompts/get"}, {"params", {{"name", "p"}, {"requestState", one}}}},
        json::object());
  }
  EXPECT_TRUE(mine_.conversation.is_at_rest(now_));
}

TEST_F(ValuesTest, TheNextPageIsExpectedForAMoment) {
  const json result = list(mine_, nullptr, "page 2");
  EXPECT_TRUE(mine_.conversation.is_amid_list(now_ + 4s));
  EXPECT_FALSE(mine_.conversation.is_amid_list(now_ + 5s));
  EXPECT_TRUE(mine_.conversation.is_at_rest(now_));
  list(mine_, result["nextCursor"], nullptr);
  EXPECT_FALSE(mine_.conversation.is_amid_list(now_));
}

// A server could ask for signs of life without end, and never have to make room.
TEST_F(ValuesTest, WhatAServerAsksOfAHostsProgramIsNotWaitedFor) {
  server(mine_, {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}});
  EXPECT_EQ(mine_.effects.host.back()["method"], "ping");
  EXPECT_TRUE(mine_.conversation.is_at_rest(now_));
}

}  // namespace
}  // namespace cellblock::gateway::testing
