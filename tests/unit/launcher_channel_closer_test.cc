#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>

#include "supervisor/launcher/run/channel_closer.h"
#include "tests/unit/lingering_socket.h"

namespace cellblock::launcher {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t alice = 1000;
constexpr std::uint32_t bob = 1001;

// Far from both what it should take and what the kernel would linger.
constexpr std::chrono::seconds soon{5};

class LauncherBurial : public testing::Test {
 protected:
  LauncherBurial() : loop_(std::move(*EventLoop::make())), closer_(loop_) {
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
  ChannelCloser closer_;
  Pair channel_;  ///< first: the launcher's end
};

TEST_F(LauncherBurial, EndsAChannel) {
  closer_.add(alice, std::move(channel_.first));
  await_end();
}

TEST_F(LauncherBurial, DoesNotWaitForWhatIsQueuedInAChannel) {
  LingeringSocket socket;
  socket.queue_into(channel_.second.get());
  const auto start = Clock::now();
  closer_.add(alice, std::move(channel_.first));
  await_end();
  EXPECT_LT(Clock::now() - start, soon);
}

TEST_F(LauncherBurial, HasRoomForTheOthersWhileOneUsersChannelsHaveNotEnded) {
  auto second = make_seqpacket_pair();
  ASSERT_TRUE(second.has_value());
  closer_.add(alice, std::move(channel_.first));
  EXPECT_TRUE(closer_.has_room(alice));
  closer_.add(alice, std::move(second->first));
  EXPECT_FALSE(closer_.has_room(alice));
  EXPECT_TRUE(closer_.has_room(bob));
}

}  // namespace
}  // namespace cellblock::launcher
