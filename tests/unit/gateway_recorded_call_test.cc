#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/gateway/records/audit_record.h"
#include "tests/unit/session_rig.h"

/// A call and its line in the audit log: which of them comes first.
namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using wire::AuditKind;
using wire::AuditOutcome;

class RecordedCallTest : public SessionTest {
 protected:
  RecordedCallTest() { effects_.holds_records = true; }

  void call(int id = 2) {
    host_says(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
              R"(,"method":"tools/call","params":{"name":"read_a","arguments":{"a":1}}})");
  }

  void answer_of_the_log(AuditState state) {
    for (const WhenRecorded& then : std::exchange(effects_.unrecorded, {})) then(state, now_);
  }
};

TEST_F(RecordedCallTest, TheServerSeesACallOnlyWhenItIsRecorded) {
  attach_and_run();
  call();
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call, AuditOutcome::ok)));
  EXPECT_THAT(effects_.cell, IsEmpty());
  answer_of_the_log(AuditState::writable);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "read_a");
}

TEST_F(RecordedCallTest, HasTheSpanOfItsCallerAtItsBeginningAndItsEnd) {
  constexpr std::string_view span = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  attach_and_run();
  host_says(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a","_meta":{"traceparent":")" +
      std::string(span) + R"("}}})");
  answer_of_the_log(AuditState::writable);
  EXPECT_EQ(effects_.last_to_cell()["params"]["_meta"]["traceparent"], span);
  server_answers(R"({"content":[]})");
  EXPECT_THAT(effects_.spans, ElementsAre(span, span));
}

TEST_F(RecordedCallTest, OfARefusedCallHasTheSpanAsWell) {
  attach_and_run();
  host_says(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"drop_all","_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}})");
  EXPECT_THAT(effects_.spans, SizeIs(1));
}

TEST_F(RecordedCallTest, TellsOfItsArgumentsNothingButADigestUnlessItIsToldTo) {
  attach_and_run();
  call();
  EXPECT_THAT(effects_.texts, IsEmpty());
}

TEST_F(RecordedCallTest, TellsItsArgumentsWhereTheConfigurationSaysSo) {
  config_.audit.arguments = AuditArguments::redacted;
  attach_and_run();
  const std::string key = "ghp_" + std::string(36, 'a');
  host_says(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a","arguments":{"key":")" +
      key + R"("}}})");
  ASSERT_THAT(effects_.texts, SizeIs(1));
  EXPECT_THAT(effects_.texts[0], HasSubstr(R"({"key":"[redacted)"));
  EXPECT_THAT(effects_.texts[0], Not(HasSubstr(key)));
  answer_of_the_log(AuditState::writable);
  EXPECT_EQ(effects_.last_to_cell()["params"]["arguments"]["key"], key) << "the server gets it";
}

TEST_F(RecordedCallTest, HasADigestOnlyWhereNothingWasTakenOutOfItsArguments) {
  config_.audit.arguments = AuditArguments::redacted;
  attach_and_run();
  host_says(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a","arguments":{"n":1}}})");
  host_says(
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_a","arguments":{"token":1}}})");
  ASSERT_THAT(effects_.digests, SizeIs(2));
  EXPECT_NE(effects_.digests[0], Sha256{});
  EXPECT_EQ(effects_.digests[1], Sha256{}) << "guesses at it could be tried";
}

TEST_F(RecordedCallTest, AResourceIsReadAndAPromptIsGotOnlyWhenThatIsRecorded) {
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a"}})");
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call, AuditOutcome::ok)));
  EXPECT_THAT(effects_.cell, IsEmpty());
  answer_of_the_log(AuditState::writable);
  EXPECT_THAT(effects_.cell, SizeIs(1));
  host_says(R"({"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"p"}})");
  answer_of_the_log(AuditState::broken);
  EXPECT_THAT(effects_.cell, SizeIs(1));
  EXPECT_TRUE(effects_.last_to_host().contains("error"));
}

TEST_F(RecordedCallTest, CallsKeepTheirOrder) {
  attach_and_run();
  call(2);
  call(3);
  answer_of_the_log(AuditState::writable);
  ASSERT_THAT(effects_.cell, SizeIs(2));
  cell_says(R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() +
            R"(,"result":{"content":[]}})");
  EXPECT_EQ(effects_.last_to_host()["id"], 3);
}

TEST_F(RecordedCallTest, WhatCannotBeRecordedIsRefusedAndNeverCalled) {
  attach_and_run();
  call();
  answer_of_the_log(AuditState::broken);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_EQ(effects_.last_to_host()["result"]["_meta"]["cellblock/error"]["code"],
            "audit_unavailable");
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call_ended, AuditOutcome::error)));
}

TEST_F(RecordedCallTest, TheServerHearsNothingOfACallThatWasCancelledBefore) {
  attach_and_run();
  call();
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  answer_of_the_log(AuditState::writable);
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call_ended, AuditOutcome::cancelled)));
}

TEST_F(RecordedCallTest, WhatHasNoEffectDoesNotWait) {
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  EXPECT_THAT(effects_.cell, SizeIs(1));
}

TEST_F(RecordedCallTest, NobodyComesBackToASessionThatIsGone) {
  attach_and_run();
  call();
  session_.reset();
  answer_of_the_log(AuditState::writable);
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST(ArgumentDigest, IsThatOfCompactJsonWithSortedMembers) {
  const Sha256 digest = sha256(R"({"a":1,"b":[true,"x"]})");
  EXPECT_EQ(argument_digest(R"({"a":1,"b":[true,"x"]})"), digest);
  EXPECT_EQ(argument_digest(R"({"b" : [true, "\u0078"], "a": 1})"), digest);
  EXPECT_NE(argument_digest(R"({"a":1,"b":["x",true]})"), digest);
}

TEST(ArgumentDigest, IsOfNumbersAsTheyWereWritten) {
  EXPECT_EQ(argument_digest(R"({"a":12345678901234567890123,"b":1.0})"),
            sha256(R"({"a":12345678901234567890123,"b":1.0})"));
  EXPECT_NE(argument_digest(R"({"a":1})"), argument_digest(R"({"a":1.0})"));
}

TEST(ArgumentDigest, OfNoArgumentsIsThatOfAnEmptyObject) {
  EXPECT_EQ(argument_digest(""), sha256("{}"));
  EXPECT_EQ(argument_digest("{}"), sha256("{}"));
}

}  // namespace
}  // namespace cellblock::gateway::testing
