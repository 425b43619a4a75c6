#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "supervisor/gateway/records/audit_limiter.h"
#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/gateway/records/server_news.h"

namespace cellblock::gateway {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;
using wire::AuditKind;
using wire::AuditOutcome;

class AuditSieveTest : public testing::Test {
 protected:
  void add(std::uint64_t cell, const AuditNote& note) {
    limiter_.add(audit_record({.session = 1, .cell = cell, .server = "files"}, note), now_);
  }
  void refuse(std::uint64_t cell, std::string_view reason = "client_features") {
    add(cell, {.kind = AuditKind::refused,
               .outcome = AuditOutcome::denied,
               .tool = "roots/list",
               .reason = reason,
               .bytes = 10});
  }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& record : records_) sum += record.count;
    return sum;
  }
  std::string tool(std::size_t i) const {
    return {records_.at(i).tool.data(), records_.at(i).tool_length};
  }

  Time now_{1h};
  std::vector<wire::AuditRecord> records_;
  AuditLimiter limiter_{[this](const wire::AuditRecord& record) { records_.push_back(record); }};
};

TEST_F(AuditSieveTest, WhatAServerIsRefusedBeyondItsBudgetIsSummedUpAndNothingIsLost) {
  for (int i = 0; i < 1000; ++i) refuse(3);
  EXPECT_THAT(records_, SizeIs(AuditBudget::burst));
  ASSERT_TRUE(limiter_.next_due());
  limiter_.deadline(*limiter_.next_due());
  ASSERT_THAT(records_, SizeIs(AuditBudget::burst + 1));
  const auto& sum = records_.back();
  EXPECT_EQ(sum.kind, AuditKind::refused);
  EXPECT_STREQ(sum.reason.data(), "summed_up");
  EXPECT_EQ(tool(AuditBudget::burst), "client_features");
  EXPECT_EQ(sum.cell, 3U);
  EXPECT_EQ(sum.bytes, 10U * (1000 - AuditBudget::burst));
  EXPECT_EQ(total(), 1000U);
  EXPECT_FALSE(limiter_.next_due());
}

TEST_F(AuditSieveTest, CallsThatWereGivenUpBeforeTheyWereMadeAreSummedUpAsRefusedOnesAre) {
  for (int i = 0; i < 1000; ++i) {
    add(3, {.kind = AuditKind::call,
            .outcome = AuditOutcome::cancelled,
            .tool = "read_a",
            .reason = "host"});
  }
  EXPECT_THAT(records_, SizeIs(AuditBudget::burst));
  limiter_.finish();
  EXPECT_EQ(total(), 1000U);
}

TEST_F(AuditSieveTest, ASumComesBeforeTheNextRecordOfItsKind) {
  for (std::uint32_t i = 0; i < AuditBudget::burst + 5; ++i) refuse(3);
  now_ += AuditBudget::one_per;
  refuse(3);
  ASSERT_THAT(records_, SizeIs(AuditBudget::burst + 2));
  EXPECT_EQ(records_[AuditBudget::burst].count, 5U);
  EXPECT_EQ(records_.back().count, 1U);
}

TEST_F(AuditSieveTest, OneCellDoesNotUseUpTheBudgetOfAnother) {
  for (int i = 0; i < 1000; ++i) refuse(3);
  refuse(4);
  EXPECT_EQ(records_.back().cell, 4U);
}

TEST_F(AuditSieveTest, TheSumsOfACellComeBeforeItsEnd) {
  for (int i = 0; i < 100; ++i) refuse(3);
  add(3, {.kind = AuditKind::cell_ended});
  EXPECT_EQ(records_.back().kind, AuditKind::cell_ended);
  EXPECT_EQ(total(), 101U);
}

TEST_F(AuditSieveTest, CellsAndToolsThatComeAndGoShareTheBudgetOfTheirUser) {
  for (std::uint64_t cell = 1; cell <= 1000; ++cell) {
    for (int i = 0; i < 10; ++i) refuse(cell);
    for (int i = 0; i < 10; ++i) {
      add(cell, {.kind = AuditKind::call,
                 .outcome = AuditOutcome::denied,
                 .tool = std::to_string(cell * 10 + static_cast<std::uint64_t>(i)),
                 .reason = "allow.tools"});
    }
    add(cell, {.kind = AuditKind::cell_ended});
  }
  limiter_.finish();
  EXPECT_LE(records_.size(), 2 * AuditBudget::user_burst + 1000 + AuditLimiter::max_budgets);
  EXPECT_EQ(total(), 21'000U);
}

TEST_F(AuditSieveTest, CallsThatAreMadeAlwaysHaveTheirLines) {
  for (int i = 0; i < 1000; ++i) {
    add(3, {.kind = AuditKind::call, .outcome = AuditOutcome::ok, .tool = "t"});
    add(3, {.kind = AuditKind::call_ended, .outcome = AuditOutcome::error, .tool = "t"});
  }
  EXPECT_THAT(records_, SizeIs(2000));
}

TEST_F(AuditSieveTest, AFloodOfRefusedCallsHidesNeitherTheirNumberNorANewTool) {
  const auto deny = [this](std::string_view name) {
    add(3, {.kind = AuditKind::call,
            .outcome = AuditOutcome::denied,
            .tool = name,
            .reason = "allow.tools"});
  };
  for (int i = 0; i < 1000; ++i) deny("write_file");
  deny("delete_everything");
  EXPECT_EQ(tool(records_.size() - 1), "delete_everything");
  limiter_.finish();
  EXPECT_EQ(total(), 1001U);
  EXPECT_EQ(records_.back().outcome, AuditOutcome::denied);
}

TEST_F(AuditSieveTest, HostsThatConnectWithoutEndAreSummedUpForAllOfAUsersSessions) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    limiter_.add(audit_record({.session = i}, {.kind = AuditKind::session_opened}), now_);
    limiter_.add(audit_record({.session = i}, {.kind = AuditKind::label, .reason = "a"}), now_);
  }
  EXPECT_LE(records_.size(), 1000U);
  limiter_.finish();
  EXPECT_EQ(total(), 10'000U);
}

TEST_F(AuditSieveTest, ItsMemoryDoesNotGrowWithTheCellsAndReasonsThatPeersFind) {
  for (std::uint64_t cell = 1; cell <= 1000; ++cell) {
    for (int i = 0; i < 30; ++i) refuse(cell);
  }
  EXPECT_LE(records_.size(), (AuditLimiter::max_budgets + 1) * AuditBudget::burst);
  limiter_.finish();
  EXPECT_EQ(total(), 30'000U);
}

Failure crash_of(const std::string& server) {
  Failure failure;
  failure.server = server;
  failure.verdict = "early_crash";
  failure.cause = "exited with code 3 before it answered; last words: \"database is locked\"";
  return failure;
}

TEST(ServerNewsTest, ACrashIsALineThatNamesServerCellAndCause) {
  ServerNews news;
  EXPECT_EQ(news.ended("loop", 10, crash_of("loop"), Time(1h)),
            "[MCP:stdio:loop] cell 10: early_crash: exited with code 3 before it answered; last "
            "words: \"database is locked\"");
  Failure idle = crash_of("loop");
  idle.verdict = "idle";
  EXPECT_EQ(news.ended("loop", 11, idle, Time(1h)), std::nullopt) << "ended on purpose";
}

TEST(ServerNewsTest, ACrashLoopIsAFewLinesAMinuteAndACount) {
  ServerNews news;
  int lines = 0;
  for (std::uint64_t cell = 0; cell < 100; ++cell) {
    lines += news.ended("loop", cell, crash_of("loop"), Time(1h)) ? 1 : 0;
  }
  EXPECT_EQ(lines, ServerNews::lines_per_span);
  EXPECT_TRUE(news.ended("other", 1, crash_of("other"), Time(1h))) << "each server has its own";
  const auto later = news.ended("loop", 200, crash_of("loop"), Time(1h) + ServerNews::span);
  EXPECT_THAT(later.value_or(""), testing::HasSubstr("(94 more lines were left out before)"));
}

TEST(ServerNewsTest, AWithheldDefinitionAndACallThatWaitsAreLines) {
  ServerNews news;
  const auto line = [&](const AuditNote& note) {
    return news.recorded(audit_record({.server = "git"}, note), 1003, Time(1h)).value_or("");
  };
  EXPECT_EQ(
      line({.kind = AuditKind::pin, .tool = "push", .reason = "withheld: changed"}),
      "[MCP:stdio:git] \"push\" is withheld: changed: \"cellblock approve show git --for 1003\" "
      "shows it");
  EXPECT_EQ(line({.kind = AuditKind::approval, .tool = "push", .reason = "asked"}),
            "[MCP:stdio:git] \"push\" waits for an approval: \"cellblock approve\" lists it");
  EXPECT_EQ(line({.kind = AuditKind::approval, .tool = "push", .reason = "expired"}), "");
  EXPECT_THAT(line({.kind = AuditKind::pin, .tool = "a\nb", .reason = "withheld: new"}),
              testing::HasSubstr("\"a\\x0ab\""));
}

}  // namespace
}  // namespace cellblock::gateway
