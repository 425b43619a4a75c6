#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "supervisor/gateway/checks/kept_results.h"
#include "tests/unit/session_rig.h"

// Reading on in results that were cut: calls like any other, although no server hears of them.

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;

class ResultReading : public SessionTest {
 protected:
  ResultReading() {
    Server& server = config_.servers[0];
    server.lines.from_host = server.lines.to_host = 1U << 20;
    server.results.bounds.max_bytes = server.results.bounds.max_item_bytes = 4'000;
  }

  // Before what it counts its results in.
  ~ResultReading() override { session_.reset(); }

  /// Attaches and has a call answered with more than the host is given.
  void begin() {
    session_.emplace(Peer{.session = 12, .uid = 1000, .gid = 1000, .pid = 1, .groups = {}},
                     SharedParts{.config = config_,
                                 .ids = ids_,
                                 .scanner = scanner_,
                                 .sealer = sealer_,
                                 .policy = policy(),
                                 .kept_total = &total_},
                     effects_);
    attach_and_run();
    const std::string ours = ask(
        R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a","arguments":{}}})");
    cell_says(R"({"jsonrpc":"2.0","id":)" + ours +
              R"(,"result":{"content":[{"type":"text","text":")" + std::string(10'000, 'x') +
              R"("}]}})");
    const Json about = effects_.last_to_host()["result"]["_meta"]["cellblock/bounded"];
    uri_ = about["parts"][0]["uri"];
    effects_.notes.clear();
    effects_.host.clear();
  }
  std::string by_tool(int id) const {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"tools/call","params":{"name":"cellblock_read_result","arguments":{"uri":")" +
           uri_ + R"("}}})";
  }
  std::string by_uri(int id) const {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"resources/read","params":{"uri":")" + uri_ + R"("}})";
  }
  void log_says(AuditState state) {
    for (WhenRecorded& then : std::exchange(effects_.unrecorded, {})) then(state, now_);
  }
  std::string last_error() {
    const Json answer = effects_.last_to_host();
    if (answer.contains("error")) return answer["error"]["data"]["code"];
    return answer["result"]["_meta"].value("cellblock/error", Json::object()).value("code", "none");
  }

  KeptTotal total_{ResultKeeping{},
                   [](std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{5}); }};
  std::string uri_;
};

TEST_F(ResultReading, IsAnsweredWhenItsRecordIsInTheLog) {
  begin();
  effects_.holds_records = true;
  for (const std::string& request : {by_tool(3), by_uri(4)}) {
    effects_.notes.clear();
    effects_.host.clear();
    host_says(request);
    EXPECT_THAT(effects_.host, ::testing::IsEmpty());
    EXPECT_THAT(effects_.notes,
                ::testing::ElementsAre(std::pair(AuditKind::call, AuditOutcome::ok)));
    log_says(AuditState::writable);
    ASSERT_EQ(effects_.host.size(), 1U);
    EXPECT_TRUE(effects_.host[0].contains("xxxx"));
    EXPECT_EQ(effects_.notes.back(), std::pair(AuditKind::call_ended, AuditOutcome::ok));
  }
}

TEST_F(ResultReading, ThatFindsNothingHasItsEndInTheLogToo) {
  begin();
  uri_ = "cellblock://results/0123456789abcdef0123456789abcdef/1";
  host_says(by_uri(3));
  EXPECT_TRUE(effects_.last_to_host().contains("error"));
  EXPECT_EQ(effects_.notes.back(), std::pair(AuditKind::call_ended, AuditOutcome::error));
}

TEST_F(ResultReading, IsRefusedWhereNothingCanBeRecorded) {
  begin();
  effects_.holds_records = true;
  host_says(by_uri(3));
  log_says(AuditState::broken);
  EXPECT_EQ(last_error(), "audit_unavailable");
  effects_.audit = AuditState::broken;
  host_says(by_tool(4));
  EXPECT_EQ(effects_.last_to_host()["id"], 4);
  EXPECT_EQ(last_error(), "audit_unavailable");
}

TEST_F(ResultReading, HasTheRateOfItsSessionAndUser) {
  config_.calls.session.rate = Rate{.burst = 2};
  config_.servers[0].calls.bounds.in_flight = 1;
  begin();
  host_says(by_tool(3));
  EXPECT_EQ(last_error(), "none");
  host_says(by_uri(4));
  EXPECT_EQ(last_error(), "rate_limited");
  EXPECT_EQ(effects_.notes.back(), std::pair(AuditKind::call, AuditOutcome::denied));
  now_ += Milliseconds{1'000};
  host_says(by_uri(5));
  EXPECT_EQ(effects_.last_to_host()["id"], 5);
  EXPECT_TRUE(effects_.last_to_host().contains("result"));
}

TEST_F(ResultReading, HasAPlaceAmongTheCallsInFlight) {
  config_.calls.user.in_flight = 1;
  begin();
  effects_.holds_records = true;
  host_says(by_tool(3));
  host_says(by_tool(4));
  EXPECT_EQ(effects_.last_to_host()["id"], 4);
  EXPECT_EQ(last_error(), "rate_limited");
  log_says(AuditState::writable);
  effects_.host.clear();
  host_says(by_tool(5));
  EXPECT_THAT(effects_.host, ::testing::IsEmpty()) << "it waits for its record";
}

TEST_F(ResultReading, IsWaitedForWhenTheHostSaysNoMore) {
  begin();
  effects_.holds_records = true;
  host_says(by_tool(3));
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_THAT(effects_.did, Not(Contains("close_host")));
  log_says(AuditState::writable);
  EXPECT_EQ(effects_.last_to_host()["id"], 3);
  EXPECT_THAT(effects_.did, Contains("close_host"));
}

TEST_F(ResultReading, EndsInTheLogWhenItsHostIsGoneBeforeItsRecordIsThere) {
  begin();
  effects_.holds_records = true;
  host_says(by_tool(3));
  host_says(by_uri(4));
  effects_.notes.clear();
  effects_.host.clear();
  session().host_ended(HostEnd::gone, now_);
  const std::pair ended(AuditKind::call_ended, AuditOutcome::cancelled);
  const std::pair closed(AuditKind::session_closed, AuditOutcome::none);
  EXPECT_THAT(effects_.notes, ::testing::ElementsAre(ended, ended, closed));
  log_says(AuditState::writable);
  EXPECT_THAT(effects_.notes, ::testing::SizeIs(3)) << "each of them once";
  EXPECT_THAT(effects_.host, ::testing::IsEmpty());
}

TEST_F(ResultReading, EndsInTheLogWhenItsSessionIsStopped) {
  begin();
  effects_.holds_records = true;
  host_says(by_tool(3));
  effects_.notes.clear();
  session().stop(Session::StopReason::stopped, now_);
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call_ended, AuditOutcome::cancelled)));
}

TEST_F(ResultReading, WaitsForItsRecordInABoundedNumber) {
  begin();
  effects_.holds_records = true;
  for (int id = 0; id < 65; ++id) host_says(by_uri(100 + id));
  ASSERT_EQ(effects_.host.size(), 1U);
  EXPECT_EQ(last_error(), "too_many");
}

}  // namespace
}  // namespace cellblock::gateway::testing
