#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <optional>

#include "supervisor/launcher/run/descriptor_receivers.h"
#include "tests/unit/lingering_socket.h"
#include "tests/unit/scratch_directory.h"
#include "tests/unit/unanswering_file.h"

namespace cellblock::launcher {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = GatewayRecord::Kind;

constexpr std::uint32_t alice = 1000;

// Far from both what it should take and what the kernel would linger.
constexpr std::chrono::seconds soon{10};

constexpr wire::GatewayRequest start_request{.kind = wire::GatewayRequestKind::start_cell,
                                             .request = 7};

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

class AttachmentsTest : public testing::Test {
 protected:
  AttachmentsTest() : loop_(std::move(*EventLoop::make())), attachments_(loop_) {
    auto pair = make_seqpacket_pair();
    if (pair) channel_ = std::move(*pair);
  }

  void send(std::span<const int> fds) {
    ASSERT_TRUE(send_record(channel_.second.get(), start_request, fds).has_value());
  }

  /// What the child told of the next record; nothing if it told nothing.
  std::optional<AttachedRecord> receive() {
    std::optional<AttachedRecord> told;
    const auto begun =
        attachments_.receive(alice, channel_.first.get(), [&](const AttachedRecord* record) {
          if (record != nullptr) told = *record;
          loop_.stop();
        });
    EXPECT_TRUE(begun && loop_.run());
    return told;
  }

  EventLoop loop_;
  DescriptorReceivers attachments_;
  Pair channel_;  ///< first: the launcher's end
};

TEST_F(AttachmentsTest, AreSeenByTheLauncherAndNeverInItsTableOfDescriptors) {
  const std::array<int, 3> fds{0, 1, 2};
  send(fds);
  const std::size_t before = open_descriptors();
  // As often as it looks: the record stays where it is.
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::attached);
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::attached);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(AttachmentsTest, OfADirectoryAreItsIdentityAndItsPath) {
  const ScratchDirectory scratch;
  const Fd directory(::open(scratch.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::array<int, 1> fds{directory.get()};
  send(fds);
  const std::size_t before = open_descriptors();
  const auto told = receive();
  EXPECT_EQ(open_descriptors(), before);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->kind, AttachedRecord::Kind::request);
  EXPECT_EQ(told->request.request, 7U);
  EXPECT_EQ(told->directory().path, scratch.path());
  DirectoryIdentity wanted;
  ASSERT_TRUE(identify_directory(directory.get(), wanted));
  EXPECT_EQ(told->identity, wanted);
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::nothing);
}

TEST_F(AttachmentsTest, OfAnotherKindHaveNoPath) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.has_value());
  const std::array<int, 1> fds{pipe->first.get()};
  send(fds);
  const auto told = receive();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->kind, AttachedRecord::Kind::request);
  EXPECT_EQ(told->directory().path, "");
}

TEST_F(AttachmentsTest, OfMoreThanOneDescriptorAreNonsense) {
  const std::array<int, 2> fds{0, 1};
  send(fds);
  const auto told = receive();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->kind, AttachedRecord::Kind::nonsense);
}

TEST_F(AttachmentsTest, AreOneRecordAndLeaveTheNextInTheChannel) {
  const std::array<int, 1> fds{0};
  send(fds);
  send({});
  ASSERT_TRUE(receive().has_value());
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::request);
}

TEST_F(AttachmentsTest, ThatLingerKeepNobodyWaiting) {
  LingeringSocket socket;
  socket.queue_into(channel_.second.get());
  const auto start = Clock::now();
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::attached);
  const auto told = receive();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->kind, AttachedRecord::Kind::nonsense);
  EXPECT_LT(Clock::now() - start, soon);
}

// The file system is asked about every copy that is closed, not about the last one only.
TEST_F(AttachmentsTest, WhoseCloseIsNeverAnsweredKeepNobodyWaiting) {
  const ScratchDirectory scratch;
  UnansweringFile file(scratch.path());
  if (!file.usable()) GTEST_SKIP() << "FUSE cannot be used here: " << std::strerror(errno);
  ASSERT_TRUE(file.send_into(channel_.second.get(), std::as_bytes(std::span(&start_request, 1))));
  const auto start = Clock::now();
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::attached);
  EXPECT_FALSE(receive().has_value());  // its child is not gone in time, and is left alone
  EXPECT_LT(Clock::now() - start, soon);
  send({});
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::request);
}

TEST_F(AttachmentsTest, AreRefusedOfAUserWhoseChildrenDoNotEnd) {
  const auto ignore = [](const AttachedRecord*) {};
  const auto receive_of = [&](std::uint32_t user) {
    return attachments_.receive(user, channel_.first.get(), ignore);
  };
  EXPECT_TRUE(receive_of(alice));
  EXPECT_TRUE(receive_of(alice));
  const auto third = receive_of(alice);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().number, EUSERS);
  EXPECT_TRUE(receive_of(alice + 1));
}

TEST_F(AttachmentsTest, AreNotToldOfWhenTheGatewayIsGone) {
  const std::array<int, 1> fds{0};
  send(fds);
  bool told = false;
  ASSERT_TRUE(attachments_.receive(alice, channel_.first.get(),
                                   [&](const AttachedRecord*) { told = true; }));
  attachments_.forget(alice);
  channel_.first.reset();
  // The child's copy was the last one.
  ASSERT_TRUE(loop_.watch_input(channel_.second.get(), [this] { loop_.stop(); }));
  EXPECT_TRUE(loop_.run());
  EXPECT_FALSE(told);
}

// --- what has nothing attached -------------------------------------------------------------------

TEST_F(AttachmentsTest, AreNoneOfAPlainRequest) {
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::nothing);
  send({});
  const GatewayRecord record = receive_from_gateway(channel_.first.get());
  EXPECT_EQ(record.kind, Kind::request);
  EXPECT_EQ(record.request.request, 7U);
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::nothing);
}

TEST_F(AttachmentsTest, AreNotLookedForInARecordOfAnotherSize) {
  ASSERT_TRUE(send_record(channel_.second.get(), wire::AuditRecord{}).has_value());
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::nonsense);
}

TEST_F(AttachmentsTest, AreNotAwaitedFromAClosedChannel) {
  channel_.second.reset();
  EXPECT_EQ(receive_from_gateway(channel_.first.get()).kind, Kind::closed);
}

}  // namespace
}  // namespace cellblock::launcher
