#include "policy/approvals/approvals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cellblock {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Why = ApprovalRefusal::Why;
using Word = Approvals::Word;

constexpr std::uint32_t admin = 0;
const Instant start{seconds{1000}};

struct Waiter final : ApprovalWaiter {
  void approval_decided() override { ++told; }
  int told = 0;
};

ApprovalRequest call(const std::string& arguments, std::uint64_t session = 1) {
  return {.session = session,
          .cell = 7,
          .method = "tools/call",
          .name = "remove",
          .arguments = arguments,
          .params = arguments,
          .rule = "rule[1]",
          .time = seconds{120}};
}

TEST(ApprovalNumbers, GoOnFromTheOneThatTheyAreGiven) {
  Approvals approvals(417'011);
  Waiter waiter;
  const auto asked = approvals.ask(call("{}"), waiter, start);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->entry().number, 417'012U);
  EXPECT_EQ(approvals.decide(1, Word::allow, admin, start), nullptr);
}

class ApprovalsTest : public ::testing::Test {
 protected:
  Approval ask(ApprovalRequest request, Instant now = start) {
    auto asked = approvals.ask(std::move(request), waiter, now);
    EXPECT_TRUE(asked);
    return std::move(*asked);
  }

  Why refusal(ApprovalRequest request, Instant now = start) {
    const auto asked = approvals.ask(std::move(request), waiter, now);
    EXPECT_FALSE(asked);
    return asked ? Why{} : asked.error().why;
  }

  Approvals approvals;
  Waiter waiter;
};

TEST_F(ApprovalsTest, WaitsUntilSomebodyAllowsItAndTellsWhoWaits) {
  const Approval approval = ask(call("{}"));
  EXPECT_TRUE(approval.waits());
  ASSERT_NE(approvals.decide(1, Word::allow, admin, start), nullptr);
  EXPECT_FALSE(approval.waits());
  EXPECT_FALSE(approval.is_denied());
  EXPECT_EQ(waiter.told, 1);
}

TEST_F(ApprovalsTest, IsDeniedByWhoeverSaysSo) {
  const Approval approval = ask(call("{}"));
  approvals.decide(1, Word::deny, 1001, start);
  EXPECT_TRUE(approval.is_denied());
  EXPECT_EQ(approval.entry().by, 1001U);
}

TEST_F(ApprovalsTest, IsDecidedOnce) {
  const Approval approval = ask(call("{}"));
  approvals.decide(1, Word::deny, admin, start);
  EXPECT_EQ(approvals.decide(1, Word::allow, admin, start), nullptr);
  EXPECT_TRUE(approval.is_denied());
}

TEST_F(ApprovalsTest, CannotBeDecidedAfterItsTime) {
  const Approval approval = ask(call("{}"));
  EXPECT_EQ(approvals.decide(1, Word::allow, admin, start + seconds{120}), nullptr);
  EXPECT_TRUE(approval.waits());
}

TEST_F(ApprovalsTest, CannotBeDecidedWhenTheCallIsGone) {
  {
    const Approval approval = ask(call("{}"));
  }
  EXPECT_EQ(approvals.decide(1, Word::allow, admin, start), nullptr);
  EXPECT_TRUE(approvals.entries().empty());
}

TEST_F(ApprovalsTest, IsOfOneCallAlone) {
  const Approval one = ask(call(R"({"path":"a"})"));
  const Approval other = ask(call(R"({"path":"b"})"));
  approvals.decide(1, Word::allow, admin, start);
  EXPECT_FALSE(one.waits());
  EXPECT_TRUE(other.waits());
}

TEST_F(ApprovalsTest, IsUsedOnce) {
  {
    const Approval approval = ask(call("{}"));
    approvals.decide(1, Word::allow, admin, start);
  }
  const Approval again = ask(call("{}"));
  EXPECT_TRUE(again.waits());
}

TEST_F(ApprovalsTest, AsksOnceAboutTheSameCallAndCountsTheRest) {
  const Approval approval = ask(call("{}"));
  EXPECT_EQ(refusal(call("{}")), Why::waits_already);
  EXPECT_EQ(refusal(call("{}", 2)), Why::waits_already) << "another session of the same user";
  EXPECT_EQ(approval.entry().times, 3U);
  EXPECT_EQ(approvals.entries().size(), 1U);
}

TEST_F(ApprovalsTest, DoesNotAskAgainSoonAboutWhatWasDenied) {
  {
    const Approval approval = ask(call("{}"));
    approvals.decide(1, Word::deny, admin, start);
  }
  EXPECT_EQ(refusal(call("{}"), start + seconds{59}), Why::denied_before);
  const Approval other = ask(call(R"({"path":"b"})"), start + seconds{59});
  const Approval later = ask(call("{}"), start + seconds{61});
}

TEST_F(ApprovalsTest, AsksForFewCallsOfOneSession) {
  std::vector<Approval> held;
  for (std::size_t i = 0; i < Approvals::max_of_session; ++i) {
    held.push_back(ask(call(std::to_string(i))));
  }
  EXPECT_EQ(refusal(call("another")), Why::too_many_of_session);
  held.pop_back();
  held.push_back(ask(call("another")));
}

TEST_F(ApprovalsTest, AsksForFewCallsOfOneUser) {
  std::vector<Approval> held;
  for (std::size_t i = 0; i < Approvals::max_pending; ++i) {
    held.push_back(ask(call(std::to_string(i), i), start + i * seconds{10}));
  }
  EXPECT_EQ(refusal(call("another", 99), start + seconds{600}), Why::too_many);
}

TEST_F(ApprovalsTest, AsksAtAPace) {
  for (std::uint32_t i = 0; i < Approvals::pace.burst; ++i) ask(call(std::to_string(i)));
  const auto refused = approvals.ask(call("another"), waiter, start);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().why, Why::too_often);
  EXPECT_GT(refused.error().retry_after, milliseconds{0});
  ask(call("another"), start + refused.error().retry_after);
}

TEST_F(ApprovalsTest, DoesNotAskAboutWhatNobodyCanLookAt) {
  EXPECT_EQ(refusal(call(std::string(Approvals::max_params + 1, ' '))), Why::too_large);
}

TEST_F(ApprovalsTest, TakesACallForTheSameWhateverElseGoesWithItsArguments) {
  const Approval approval = ask(call("{}"));
  ApprovalRequest again = call("{}");
  again.params = R"({"name":"remove","arguments":{},"_meta":{"progressToken":2}})";
  EXPECT_EQ(refusal(again), Why::waits_already);
}

TEST_F(ApprovalsTest, GivesNoTwoTheSameNumber) {
  {
    const Approval approval = ask(call("{}"));
  }
  EXPECT_EQ(ask(call("{}")).entry().number, 2U);
}

// --- before it is asked for ----------------------------------------------------------------------

AllowedBeforehand next_remove(Instant until = start + seconds{600}) {
  return {.method = "tools/call", .name = "remove", .by = 7, .until = until};
}

TEST_F(ApprovalsTest, TheNextCallIsAllowedAndTheOneAfterItIsAskedFor) {
  ASSERT_TRUE(approvals.allow_next(next_remove(), start));
  const Approval first = ask(call(R"({"a":1})"));
  EXPECT_TRUE(first.is_needed());
  EXPECT_FALSE(first.waits());
  EXPECT_FALSE(first.is_denied());
  EXPECT_EQ(first.entry().by, 7U);
  EXPECT_TRUE(first.entry().is_beforehand);
  EXPECT_EQ(waiter.told, 1);
  EXPECT_TRUE(ask(call(R"({"a":2})")).waits());
}

TEST_F(ApprovalsTest, AllowedBeforehandIsNothingElse) {
  struct Row {
    const char* name;
    std::function<void(ApprovalRequest&)> change;
  };
  const std::vector<Row> rows = {
      {"another tool", [](ApprovalRequest& r) { r.name = "other"; }},
      {"another method", [](ApprovalRequest& r) { r.method = "prompts/get"; }},
      {"another server", [](ApprovalRequest& r) { r.server = 1; }},
      {"the user is to be asked", [](ApprovalRequest& r) { r.approver = Approver::user; }}};
  for (const Row& row : rows) {
    Approvals others;
    ASSERT_TRUE(others.allow_next(next_remove(), start));
    ApprovalRequest request = call("{}");
    row.change(request);
    const auto asked = others.ask(std::move(request), waiter, start);
    ASSERT_TRUE(asked) << row.name;
    EXPECT_TRUE(asked->waits()) << row.name;
  }
}

TEST_F(ApprovalsTest, AllowedBeforehandEndsWithItsTimeAndAtLongestInADay) {
  ASSERT_TRUE(approvals.allow_next(next_remove(start + seconds{10}), start));
  EXPECT_TRUE(ask(call("{}"), start + seconds{10}).waits());
  ASSERT_TRUE(approvals.allow_next(next_remove(start + std::chrono::hours{48}), start));
  EXPECT_TRUE(ask(call("{}"), start + std::chrono::hours{24}).waits());
}

TEST_F(ApprovalsTest, AllowedBeforehandEndsWhenWhatIsCalledHasBecomeAnotherThing) {
  ASSERT_TRUE(approvals.allow_next(next_remove(), start));
  approvals.forget_beforehand(1);
  approvals.forget_beforehand(0);
  EXPECT_TRUE(ask(call("{}")).waits());
}

TEST_F(ApprovalsTest, AllowedBeforehandAnswersNoCallThatWaitsAlready) {
  const Approval waiting = ask(call("{}"));
  ASSERT_TRUE(approvals.allow_next(next_remove(), start));
  EXPECT_EQ(refusal(call("{}")), Why::waits_already);
  EXPECT_TRUE(waiting.waits());
}

TEST_F(ApprovalsTest, NotManyAreAllowedBeforehand) {
  for (std::size_t i = 0; i < Approvals::max_beforehand; ++i) {
    EXPECT_TRUE(approvals.allow_next(next_remove(), start));
  }
  EXPECT_FALSE(approvals.allow_next(next_remove(), start));
  EXPECT_TRUE(approvals.allow_next(next_remove(), start + seconds{600}));
}

}  // namespace
}  // namespace cellblock
