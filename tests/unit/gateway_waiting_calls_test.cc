#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "supervisor/gateway/checks/pin_book.h"
#include "tests/unit/session_rig.h"

/// Calls that wait, for a place among those in flight or for somebody's word: what becomes of them
/// when their host gives them up, and that they are judged again before they are sent.
namespace cellblock::gateway::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Word = Approvals::Word;
using Note = std::pair<AuditKind, AuditOutcome>;

class WaitingCalls : public SessionTest, protected PinEffects {
 protected:
  WaitingCalls() {
    Server& server = config_.servers[0];
    server.era = ServerEra::legacy;
    server.calls.bounds.in_flight = 1;
    server.calls.queue = {.most = 2, .longest_wait = 30s};
    Rule asks{.name = "rule[1]", .effect = Effect::ask, .uids = {1000}};
    asks.tools = {{"push", false}};
    server.rules.push_back(asks);
    PinEffects& effects = *this;
    pins_ = &book_.emplace(config_, effects);
    attach_and_run();
    lists("Pushes.", R"({"type":"object"})");
  }

  void pins_changed(std::uint32_t) override {}
  void pin_event(std::uint32_t, const PinEvent&) override {}
  std::int64_t unix_ms() const override { return 1'000; }

  static std::string request(int id, const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
           R"(","params":)" + params + "}";
  }
  static std::string call(int id, const std::string& tool) {
    return request(id, "tools/call", R"({"name":")" + tool + R"(","arguments":{}})");
  }
  static std::string cancellation(int id) {
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
           std::to_string(id) + "}}";
  }
  void answer(const std::string& id) {
    cell_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"content":[]}})");
    effects_.ring(now_);
  }
  /// Both tools, as the server shows them.
  void lists(const std::string& description, const std::string& schema) {
    const std::string rest = R"(","description":")" + description + R"(","inputSchema":)" + schema;
    const std::string id = ask(request(99, "tools/list", "{}"));
    cell_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"tools":[{"name":"read_a)" + rest +
              R"(},{"name":"push)" + rest + "}]}}");
    effects_.cell.clear();
    effects_.host.clear();
    effects_.notes.clear();
  }
  void accept_all() {
    for (const char* tool : {"read_a", "push"}) {
      book_->accept({.server = 0}, ListKind::tools, tool, std::nullopt);
    }
  }
  void say(Word word, std::uint64_t number = 1) {
    policy().approvals.decide(number, word, 0, now_);
    effects_.ring(now_);
  }
  auto noted(Note note) const { return std::ranges::count(effects_.notes, note); }
  std::string host_heard() const { return effects_.host.empty() ? "" : effects_.host.back(); }

  std::optional<PinBook> book_;
};

constexpr Note cancelled_call{AuditKind::call, AuditOutcome::cancelled};
constexpr Note refused_call{AuditKind::call, AuditOutcome::denied};

TEST_F(WaitingCalls, OneThatIsCancelledHasOneLineAndNoAnswer) {
  ask(call(2, "read_a"));
  host_says(call(3, "read_a"));
  EXPECT_EQ(policy().places.waiting(0), 1U);
  effects_.notes.clear();
  host_says(cancellation(3));
  EXPECT_EQ(policy().places.waiting(0), 0U);
  EXPECT_THAT(effects_.notes, ::testing::ElementsAre(cancelled_call));
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_THAT(effects_.cell, SizeIs(1)) << "the server never knew of it";
}

TEST_F(WaitingCalls, OneThatIsCancelledIsNotInTheWayOfTheNext) {
  const std::string first = ask(call(2, "read_a"));
  host_says(call(3, "read_a"));
  host_says(call(4, "read_a"));
  host_says(cancellation(3));
  answer(first);
  ASSERT_THAT(effects_.cell, SizeIs(2));
  answer(effects_.last_to_cell()["id"].dump());
  EXPECT_THAT(effects_.host, SizeIs(2));
  EXPECT_EQ(effects_.last_to_host()["id"], 4);
  EXPECT_EQ(policy().places.in_flight(BoundOf::server, {}), 0U);
}

TEST_F(WaitingCalls, OneThatWaitedForAWordLeavesItsPlaceToTheNextWhenItIsCancelled) {
  host_says(call(2, "push"));
  host_says(call(3, "read_a"));
  EXPECT_THAT(effects_.cell, IsEmpty()) << "what waits for a word has the place";
  host_says(cancellation(2));
  effects_.ring(now_);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "read_a");
  EXPECT_EQ(noted(cancelled_call), 1);
}

TEST_F(WaitingCalls, OneWhoseToolHasChangedMeanwhileIsNotSent) {
  const std::string first = ask(call(2, "read_a"));
  host_says(call(3, "read_a"));
  lists("Sends.", R"({"type":"object"})");
  answer(first);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_EQ(effects_.last_to_host()["id"], 3);
  EXPECT_THAT(host_heard(), HasSubstr("quarantined"));
  EXPECT_EQ(noted(refused_call), 1);
  EXPECT_EQ(policy().places.in_flight(BoundOf::server, {}), 0U);
}

TEST_F(WaitingCalls, OneIsHeldToTheSchemaThatIsAcceptedWhenItIsSent) {
  const std::string first = ask(call(2, "read_a"));
  host_says(call(3, "read_a"));
  lists("Pushes.", R"({"type":"object","required":["to"]})");
  accept_all();
  answer(first);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_THAT(host_heard(), HasSubstr("invalid_arguments"));
}

TEST_F(WaitingCalls, OneThatWasApprovedAndThenWaitsForItsPlaceIsJudgedAgain) {
  const std::string first = ask(call(2, "read_a"));
  host_says(call(3, "push"));
  say(Word::allow);
  EXPECT_THAT(effects_.cell, SizeIs(1)) << "it has no place yet";
  lists("Sends.", R"({"type":"object"})");
  answer(first);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_THAT(host_heard(), HasSubstr("quarantined"));
}

TEST_F(WaitingCalls, AnApprovalIsNotOfADefinitionThatWasAcceptedLater) {
  host_says(call(2, "push"));
  lists("Sends.", R"({"type":"object"})");
  accept_all();
  say(Word::allow);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_THAT(host_heard(), HasSubstr("has changed while its call waited"));
  EXPECT_EQ(noted({AuditKind::approval, AuditOutcome::ok}), 1);
  EXPECT_EQ(noted(refused_call), 1);
}

TEST_F(WaitingCalls, OneThatIsStillWhatWasShownIsSentWhenItHasItsPlace) {
  const std::string first = ask(call(2, "read_a"));
  host_says(call(3, "push"));
  say(Word::allow);
  lists("Pushes.", R"({"type":"object"})");
  answer(first);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "push");
}

}  // namespace
}  // namespace cellblock::gateway::testing
