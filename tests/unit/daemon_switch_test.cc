#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "supervisor/daemon/helpers/supervisor_audit_queue.h"
#include "supervisor/daemon/sockets/kill_switch.h"
#include "supervisor/daemon/sockets/kill_switch_listener.h"
#include "supervisor/ipc/audit_packet.h"
#include "tests/unit/lingering_socket.h"
#include "tests/unit/scratch_directory.h"

/// What an administrator says at a switch, how long it is remembered, and how it gets into the log.
namespace cellblock::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- the line ------------------------------------------------------------------------------------

TEST(KillSwitchRequest, IsTheSwitchsNameWithOrWithoutAReason) {
  EXPECT_EQ(switch_reason(AdminSwitch::disable, "disable").value(), "");
  EXPECT_EQ(switch_reason(AdminSwitch::enable, "enable it works again").value(), "it works again");
  EXPECT_EQ(switch_reason(AdminSwitch::disable, "disable \u00e9").value(), "\u00e9");
}

TEST(KillSwitchRequest, IsNothingElse) {
  for (const char* line : {"", "enable", "Disable", "disabled", "disable ", "GET / HTTP/1.1"}) {
    EXPECT_FALSE(switch_reason(AdminSwitch::disable, line)) << line;
  }
}

TEST(KillSwitchRequest, HasAReasonThatIsPrintableAndShort) {
  const std::string longest(longest_reason, 'x');
  EXPECT_TRUE(switch_reason(AdminSwitch::disable, "disable " + longest));
  EXPECT_FALSE(switch_reason(AdminSwitch::disable, "disable " + longest + "x"));
  EXPECT_FALSE(switch_reason(AdminSwitch::disable, "disable \x1b[2J"));
  EXPECT_FALSE(switch_reason(AdminSwitch::disable, "disable \xff"));
  EXPECT_FALSE(switch_reason(AdminSwitch::disable, "disable \u202e"));
}

// --- who says it ---------------------------------------------------------------------------------

class SwitchDeskTest : public ::testing::Test {
 protected:
  /// The asker's end.
  Fd stand(AdminSwitch which = AdminSwitch::enable) { return stand_at(listener_, which); }

  static Fd stand_at(KillSwitchListener& listener, AdminSwitch which = AdminSwitch::enable) {
    Pair ends = make_stream_pair().value();
    listener.add({.which = which, .uid = 64102, .pid = 7}, std::move(ends.first));
    return std::move(ends.second);
  }

  static void say(const Fd& socket, std::string_view text) {
    ASSERT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  void turn() {
    loop_.restart();
    loop_.poll();
  }

  void said(const KillSwitchListener::Asker& asker, const Result<std::string>& reason) {
    said_.push_back(std::string(name_of(asker.which)) + " " + std::to_string(asker.uid) + " " +
                    (reason ? "\"" + *reason + "\"" : "refused"));
  }

  // To drop it may take as long as what it carries lingers: the exit of a process does not wait.
  void keep(Fd socket) { kept_.push_back(socket.release()); }

  boost::asio::io_context loop_{1};
  std::vector<std::string> said_;
  std::vector<int> kept_;
  KillSwitchListener::Around around_{.said = [this](const KillSwitchListener::Asker& asker,
                                                    Fd socket, const Result<std::string>& reason) {
    keep(std::move(socket));
    said(asker, reason);
  }};
  KillSwitchListener listener_{loop_, around_};
};

TEST_F(SwitchDeskTest, ToConnectSwitchesNothing) {
  const Fd silent = stand();
  turn();
  EXPECT_THAT(said_, IsEmpty());
  {
    const Fd gone = stand();
    ::shutdown(gone.get(), SHUT_WR);
    turn();
  }
  EXPECT_THAT(said_, ElementsAre("enable 64102 refused"));
}

TEST_F(SwitchDeskTest, HearsALineInPieces) {
  const Fd asker = stand(AdminSwitch::disable);
  say(asker, "dis");
  turn();
  EXPECT_THAT(said_, IsEmpty());
  say(asker, "able a fire\n");
  turn();
  EXPECT_THAT(said_, ElementsAre("disable 64102 \"a fire\""));
}

TEST_F(SwitchDeskTest, TakesNoDescriptorsAndClosesNone) {
  for (const int how : {0, static_cast<int>(MSG_OOB)}) {
    const Fd asker = stand();
    LingeringSocket socket;
    say(asker, "ena");
    turn();
    socket.queue_into(asker.get(), how);
    say(asker, "ble\n");
    const auto start = std::chrono::steady_clock::now();
    turn();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  }
  EXPECT_THAT(said_, ElementsAre("enable 64102 refused", "enable 64102 refused"));
}

TEST_F(SwitchDeskTest, RefusesWhatIsTooLongOrTheNameOfTheOtherSwitch) {
  const Fd talker = stand();
  say(talker, "enable " + std::string(longest_request, 'x'));
  turn();
  const Fd lost = stand(AdminSwitch::enable);
  say(lost, "disable\n");
  turn();
  EXPECT_THAT(said_, ElementsAre("enable 64102 refused", "enable 64102 refused"));
}

TEST_F(SwitchDeskTest, AnswersOnceWhereALineAndTheEndOfPatienceComeTogether) {
  KillSwitchListener hasty(loop_, around_, std::chrono::milliseconds(0));
  const Fd asker = stand_at(hasty);
  say(asker, "enable\n");
  turn();
  EXPECT_EQ(said_.size(), 1U);
  const Fd another = stand_at(hasty);
  hasty.close();
  turn();
  EXPECT_EQ(said_.size(), 2U);
}

TEST_F(SwitchDeskTest, HasRoomForSoManyAndHearsNobodyOnceItIsClosed) {
  std::vector<Fd> standing;
  for (std::size_t i = 0; i < KillSwitchListener::most; ++i) standing.push_back(stand());
  EXPECT_THAT(said_, IsEmpty());
  const Fd one_more = stand(AdminSwitch::disable);
  EXPECT_THAT(said_, ElementsAre("enable 64102 refused")) << "who stood there longest";
  listener_.close();
  EXPECT_EQ(said_.size(), KillSwitchListener::most + 1);
  turn();
  EXPECT_EQ(said_.size(), KillSwitchListener::most + 1);
}

// --- how long it is remembered -------------------------------------------------------------------

class OffSwitchTest : public ::testing::Test {
 protected:
  Fd directory() const {
    return open_at(AT_FDCWD, scratch_.path().c_str(), O_RDONLY | O_DIRECTORY).value();
  }
  void write(std::string_view text) const {
    const Fd file =
        open_at(directory().get(), "disabled", O_WRONLY | O_CREAT | O_TRUNC, 0600).value();
    ASSERT_TRUE(write_all(file.get(), text));
  }

  ScratchDirectory scratch_;
};

TEST_F(OffSwitchTest, IsStillOffAfterwardsAndKnowsWhoAndWhy) {
  const KillSwitch::Why why{.by = 64102, .reason = "git leaks tokens"};
  {
    KillSwitch first(directory());
    EXPECT_FALSE(first.is_off());
    ASSERT_TRUE(first.disable({.by = 0, .reason = "a longer reason that is given up again"}));
    ASSERT_TRUE(first.disable(why));
    EXPECT_EQ(first.why(), why);
  }
  KillSwitch second(directory());
  EXPECT_TRUE(second.is_off());
  EXPECT_EQ(second.why(), why);
  ASSERT_TRUE(second.enable());
  EXPECT_EQ(second.why(), std::nullopt);
  EXPECT_FALSE(KillSwitch(directory()).is_off());
}

TEST_F(OffSwitchTest, IsOffWhateverItsFileSays) {
  for (const char* text : {"", "0", "0\n", "-1\nx\n", "0\n\x1b[2J\n", "99999999999\nx\n"}) {
    write(text);
    const KillSwitch damaged(directory());
    EXPECT_TRUE(damaged.is_off());
    EXPECT_EQ(damaged.why(), std::nullopt) << text;
  }
}

// --- how it gets into the log --------------------------------------------------------------------

class AuditVoiceTest : public ::testing::Test {
 protected:
  /// What a writer has read: "number text".
  std::vector<std::string> read() const {
    std::vector<std::string> all;
    while (const auto packet = receive_audit(writer_.get(), MSG_DONTWAIT)) {
      for (const auto& [record, text] : *packet) {
        all.push_back(std::to_string(record.number) + " " + text);
      }
    }
    return all;
  }

  void says_written(std::uint64_t number) {
    ASSERT_TRUE(send_record(writer_.get(), wire::AuditWritten{.number = number}));
    loop_.restart();
    loop_.poll();
  }

  void disable(std::string why) {
    audit_queue_.add(record_of({.which = "disable", .by = 64102, .pid = 7}), std::move(why));
  }

  boost::asio::io_context loop_{1};
  Fd writer_;
  SupervisorAuditQueue audit_queue_{loop_, [this](Fd end) -> Result<void> {
                                      writer_ = std::move(end);
                                      return {};
                                    }};
};

TEST_F(AuditVoiceTest, TellsWhoSwitchedWhatAndWhy) {
  audit_queue_.renew();
  disable("a fire");
  const auto packet = receive_audit(writer_.get(), MSG_DONTWAIT);
  ASSERT_TRUE(packet);
  const auto& [record, text] = packet->front();
  EXPECT_EQ(record.kind, wire::AuditKind::switched);
  EXPECT_EQ(record.outcome, wire::AuditOutcome::ok);
  EXPECT_EQ(std::string(record.tool.data(), record.tool_length), "disable");
  EXPECT_STREQ(record.reason.data(), "by uid 64102");
  EXPECT_EQ(record.pid, 7);
  EXPECT_EQ(text, "a fire");
}

TEST_F(AuditVoiceTest, TellsWhichAdministratorIsConnectedToWhichGateway) {
  audit_queue_.renew();
  audit_queue_.add(record_of(AdminConnected{.by = 64102, .pid = 7, .connection = 12}),
                   gateway_text(0xab, 1000));
  const auto packet = receive_audit(writer_.get(), MSG_DONTWAIT);
  ASSERT_TRUE(packet);
  const auto& [record, text] = packet->front();
  EXPECT_EQ(record.kind, wire::AuditKind::switched) << "which is the supervisor's alone to tell";
  EXPECT_EQ(std::string(record.tool.data(), record.tool_length), "connect");
  EXPECT_STREQ(record.reason.data(), "by uid 64102");
  EXPECT_EQ(record.session, 12U);
  EXPECT_EQ(text, "gateway 00000000000000ab of uid 1000");
}

TEST_F(AuditVoiceTest, KeepsWhatNoWriterHasWrittenForTheNextOne) {
  disable("before there is one");
  audit_queue_.renew();
  disable("read");
  EXPECT_THAT(read(), ElementsAre("1 before there is one", "2 read"));
  says_written(1);
  EXPECT_EQ(audit_queue_.kept(), 1U);
  audit_queue_.renew();
  EXPECT_THAT(read(), ElementsAre("2 read"));
  says_written(2);
  EXPECT_EQ(audit_queue_.kept(), 0U);
}

TEST_F(AuditVoiceTest, KeepsNoMoreThanSoMany) {
  for (std::size_t i = 0; i <= SupervisorAuditQueue::most; ++i) disable("again");
  EXPECT_EQ(audit_queue_.kept(), SupervisorAuditQueue::most);
}

}  // namespace
}  // namespace cellblock::daemon
