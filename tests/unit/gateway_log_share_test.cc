#include <gmock/gmock.h>

#include <utility>

#include "tests/unit/session_rig.h"

// A user whose share of the audit log is used up.
namespace cellblock::gateway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using wire::AuditKind;
using wire::AuditOutcome;

class OverShareTest : public SessionTest {
 protected:
  OverShareTest() {
    config_.calls.user.rate = Rate{1'000, std::chrono::seconds{1}, 1'000};  // else no share
    while (!policy().places.out_of_log(now_)) policy().places.note_in_log(now_);
  }
};

TEST_F(OverShareTest, StartsNothingUntilThereIsSomethingOfItAgain) {
  attach();
  EXPECT_THAT(effects_.did, IsEmpty());
  const Json refused = Json::parse(effects_.control.back())["error"]["data"];
  EXPECT_EQ(refused["code"], "rate_limited");
  EXPECT_GT(refused["retry_after_ms"], 0);
  EXPECT_THAT(effects_.notes, ElementsAre(std::pair(AuditKind::attach, AuditOutcome::denied)));
  now_ += Milliseconds{refused["retry_after_ms"].get<int>()};
  attach();
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
}

TEST_F(OverShareTest, DoesNotSpeakWithAllServersEither) {
  host_says(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
  EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "rate_limited");
  EXPECT_THAT(effects_.notes, IsEmpty()) << "an attach would have a line";
}

}  // namespace
}  // namespace cellblock::gateway::testing
