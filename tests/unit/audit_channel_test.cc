#include "supervisor/gateway/records/audit_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "supervisor/ipc/audit_packet.h"

/// The test is the writer, and turns the loop by hand.
namespace cellblock::gateway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AuditChannelTest : public testing::Test {
 protected:
  void start(AuditFailure on_failure = AuditFailure::refuse) {
    Pair pair = make_seqpacket_pair().value();
    writer_ = std::move(pair.first);
    channel_.emplace(*loop_, std::move(pair.second), on_failure);
  }

  void wait_for_record() {
    channel_->when_written([this](AuditState log) { told_.push_back(log); });
  }

  std::vector<std::uint64_t> received() const {
    std::vector<std::uint64_t> numbers;
    while (const auto packet = receive_audit(writer_.get(), MSG_DONTWAIT)) {
      for (const AuditMessage& message : *packet) numbers.push_back(message.record.number);
    }
    return numbers;
  }

  std::string next_text() const {
    const auto packet = receive_audit(writer_.get(), MSG_DONTWAIT);
    EXPECT_TRUE(packet);
    return packet ? packet->front().text : std::string();
  }

  void say_written(std::uint64_t number) const {
    ASSERT_TRUE(send_record(writer_.get(), wire::AuditWritten{number}));
  }

  void turn() { ASSERT_TRUE(loop_->turn()); }

  std::unique_ptr<EventLoop> loop_ = EventLoop::make().value();
  Fd writer_;
  std::optional<AuditChannel> channel_;
  std::vector<AuditState> told_;
};

wire::AuditRecord some_record() {
  wire::AuditRecord record;
  record.kind = wire::AuditKind::call;
  return record;
}

TEST_F(AuditChannelTest, NumbersItsRecordsFromOne) {
  start();
  channel_->add(some_record());
  channel_->add(some_record());
  channel_->flush();
  EXPECT_THAT(received(), ElementsAre(1, 2));
}

TEST_F(AuditChannelTest, LetsACallGoOnOnlyWhenItsRecordIsWritten) {
  start();
  channel_->add(some_record());
  channel_->add(some_record());
  wait_for_record();
  channel_->flush();
  say_written(1);
  turn();
  EXPECT_THAT(told_, IsEmpty());
  say_written(2);
  turn();
  EXPECT_THAT(told_, ElementsAre(AuditState::writable));
}

TEST_F(AuditChannelTest, RefusesWhatWaitsWhenTheWriterEnds) {
  start();
  channel_->add(some_record());
  wait_for_record();
  channel_->flush();
  writer_.reset();
  turn();
  EXPECT_THAT(told_, ElementsAre(AuditState::broken));
  EXPECT_EQ(channel_->state(), AuditState::broken);
}

TEST_F(AuditChannelTest, LetsItGoOnAllTheSameWhereTheAdminHasChosenAnAlarm) {
  start(AuditFailure::alarm);
  channel_->add(some_record());
  wait_for_record();
  channel_->flush();
  writer_.reset();
  turn();
  EXPECT_THAT(told_, ElementsAre(AuditState::writable));
  EXPECT_EQ(channel_->state(), AuditState::writable);
}

TEST_F(AuditChannelTest, SendsTheNextWriterWhatTheLastOneDidNotSayWasWritten) {
  start();
  for (int i = 0; i < 3; ++i) channel_->add(some_record());
  channel_->flush();
  EXPECT_THAT(received(), ElementsAre(1, 2, 3));
  say_written(1);
  writer_.reset();
  turn();
  channel_->add(some_record());
  Pair fresh = make_seqpacket_pair().value();
  writer_ = std::move(fresh.first);
  channel_->replace(std::move(fresh.second));
  EXPECT_THAT(received(), ElementsAre(2, 3, 4));
  EXPECT_EQ(channel_->state(), AuditState::writable);
}

TEST_F(AuditChannelTest, SendsATextBehindItsRecordAndAgainToTheNextWriter) {
  start();
  channel_->add(some_record(), "{\"a\":1}");
  channel_->flush();
  EXPECT_EQ(next_text(), "{\"a\":1}");
  Pair pair = make_seqpacket_pair().value();
  writer_ = std::move(pair.first);
  channel_->replace(std::move(pair.second));
  EXPECT_EQ(next_text(), "{\"a\":1}");
}

TEST_F(AuditChannelTest, SendsManyRecordsInFewPackets) {
  start();
  for (int i = 0; i < 30; ++i) channel_->add(some_record(), "{}");
  channel_->flush();
  const auto packet = receive_audit(writer_.get(), MSG_DONTWAIT);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->size(), 30U);
  EXPECT_EQ(packet->back().record.number, 30U);
  EXPECT_EQ(packet->back().text, "{}");
}

TEST_F(AuditChannelTest, BeginsAnotherPacketWhereOneIsFull) {
  start();
  const std::string text(wire::max_audit_text, 'x');
  for (int i = 0; i < 9; ++i) channel_->add(some_record(), text);
  channel_->flush();
  EXPECT_THAT(received(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(AuditChannelTest, RefusesCallsWhileTooMuchTextWaits) {
  start();
  const std::string text(wire::max_audit_text, 'x');
  std::size_t kept = 0;
  for (; channel_->state() == AuditState::writable && kept < 4096; ++kept) {
    channel_->add(some_record(), text);
  }
  EXPECT_LT(kept, 4096U);
  EXPECT_GE(kept * text.size(), 8U << 20);
}

TEST_F(AuditChannelTest, TellsHowItStandsWithTheLog) {
  start();
  channel_->add(some_record());
  channel_->flush();
  EXPECT_EQ(channel_->health().waiting, 1U);
  EXPECT_EQ(channel_->health().last, audit::ChainPoint{});
  const wire::AuditWritten written{.number = 1, .sequence = 17, .hash = {1, 2, 3}};
  ASSERT_TRUE(send_record(writer_.get(), written));
  turn();
  EXPECT_EQ(channel_->health().waiting, 0U);
  EXPECT_EQ(channel_->health().last, (audit::ChainPoint{17, {1, 2, 3}}));
  EXPECT_EQ(channel_->health().log, LogHealth::written);
  writer_.reset();
  turn();
  EXPECT_EQ(channel_->health().log, LogHealth::unwritable);
}

TEST_F(AuditChannelTest, TakesAWriterThatSpeaksOfRecordsThatNeverWereAtItsWordForNone) {
  start();
  channel_->add(some_record());
  wait_for_record();
  channel_->flush();
  say_written(1'000);
  turn();
  EXPECT_THAT(told_, ElementsAre(AuditState::writable));
  channel_->add(some_record());
  wait_for_record();
  channel_->flush();
  say_written(1);
  turn();
  EXPECT_EQ(told_.size(), 1U);
}

}  // namespace
}  // namespace cellblock::gateway
