#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "supervisor/launcher/burial.h"
#include "supervisor/launcher/gateway_record.h"
#include "tests/unit/lingering_socket.h"

namespace cellblock::launcher {
namespace {

using Clock = std::chrono::steady_clock;

// Far from both what it should take and what the kernel would linger.
constexpr std::chrono::seconds soon{5};

class LauncherBurial : public testing::Test {
 protected:
  LauncherBurial() : loop_(std::move(*EventLoop::make())), burial_(loop_) {
    auto pair = make_seqpacket_pair();
    if (pair) channel_ = std::move(*pair);
  }

  /// Until the gateway's end says that the other is closed everywhere.
  void await_end() {
    const auto watched = loop_.watch_input(channel_.second.get(), [this] { loop_.stop(); });
    EXPECT_TRUE(watched && loop_.run());
    char byte = 0;
    const ssize_t count = ::recv(channel_.second.get(), &byte, 1, MSG_DONTWAIT);
    // Reset: by an end that still had something to receive.
    EXPECT_TRUE(count == 0 || (count < 0 && errno == ECONNRESET));
  }

  EventLoop loop_;
  Burial burial_;
  Pair channel_;  ///< first: the launcher's end
};

TEST_F(LauncherBurial, EndsAChannel) {
  burial_.add(std::move(channel_.first));
  await_end();
}

TEST_F(LauncherBurial, DoesNotWaitForWhatIsQueuedInAChannel) {
  LingeringSocket socket;
  socket.queue_into(channel_.second.get());
  const auto start = Clock::now();
  burial_.add(std::move(channel_.first));
  await_end();
  EXPECT_LT(Clock::now() - start, soon);
}

TEST_F(LauncherBurial, DoesNotWaitForWhatWasReceived) {
  LingeringSocket socket;
  socket.queue_into(channel_.second.get());
  GatewayRecord record = receive_from_gateway(channel_.first.get());
  EXPECT_EQ(record.kind, GatewayRecord::Kind::nonsense);
  ASSERT_EQ(record.fds.size(), 1U);
  const auto start = Clock::now();
  burial_.add(std::move(record.fds));
  burial_.add(std::move(channel_.first));
  await_end();
  EXPECT_LT(Clock::now() - start, soon);
  EXPECT_TRUE(burial_.has_room());
}

// --- what a gateway may send ---------------------------------------------------------------------

TEST(GatewayRecords, ComeWithAllTheirDescriptors) {
  auto channel = make_seqpacket_pair();
  ASSERT_TRUE(channel.has_value());
  EXPECT_EQ(receive_from_gateway(channel->first.get()).kind, GatewayRecord::Kind::nothing);
  const wire::GatewayRequest request{.kind = wire::GatewayAsks::start_cell, .request = 7};
  const std::array<int, 3> fds = {0, 1, 2};
  ASSERT_TRUE(send_record(channel->second.get(), request, fds).has_value());
  const GatewayRecord record = receive_from_gateway(channel->first.get());
  EXPECT_EQ(record.kind, GatewayRecord::Kind::request);
  EXPECT_EQ(record.request.request, 7U);
  EXPECT_EQ(record.fds.size(), 3U);
}

TEST(GatewayRecords, OfAnotherSizeAreNonsense) {
  auto channel = make_seqpacket_pair();
  ASSERT_TRUE(channel.has_value());
  ASSERT_TRUE(send_record(channel->second.get(), wire::AuditRecord{}).has_value());
  EXPECT_EQ(receive_from_gateway(channel->first.get()).kind, GatewayRecord::Kind::nonsense);
  channel->second.reset();
  EXPECT_EQ(receive_from_gateway(channel->first.get()).kind, GatewayRecord::Kind::closed);
}

}  // namespace
}  // namespace cellblock::launcher
