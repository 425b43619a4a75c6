#include "policy/approvals/approvals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
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

}  // namespace
}  // namespace cellblock
