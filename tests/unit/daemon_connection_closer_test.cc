#include <gtest/gtest.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>

#include "supervisor/daemon/sockets/connection_closer.h"
#include "supervisor/daemon/sockets/listener.h"
#include "supervisor/process/children.h"
#include "tests/unit/lingering_socket.h"
#include "tests/unit/scratch_directory.h"
#include "tests/unit/unanswering_file.h"

namespace cellblock::daemon {
namespace {

using Clock = std::chrono::steady_clock;

// Far from both what it should take and what the kernel would linger.
constexpr std::chrono::seconds soon{5};

constexpr ConnectionOwner alice{1000, ConnectionOwner::Kind::user};
constexpr ConnectionOwner mallory{64103, ConnectionOwner::Kind::user};

Pair connection() {
  std::array<int, 2> fds{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

class BurialTest : public ::testing::Test {
 protected:
  BurialTest() {
    EXPECT_TRUE(adopt_children().has_value());
    auto made =
        ConnectionCloser::make(loop_, {.room = [this] { ++room_; },
                                       .stuck =
                                           [this](std::size_t stuck, const ConnectionOwner* owner) {
                                             stuck_ = stuck;
                                             if (owner != nullptr) told_.push_back(owner->uid);
                                           }});
    if (made) closer_ = std::move(*made);
  }

  /// Runs the loop until the peer sees the end of his connection.
  void await_end_of(Fd peer) {
    bool ended = false;
    ReadableFd watch(loop_, std::move(peer), [&ended] { ended = true; });
    const auto deadline = Clock::now() + soon;
    while (!ended && Clock::now() < deadline) loop_.run_one_for(soon);
    EXPECT_TRUE(ended);
  }

  boost::asio::io_context loop_{1};
  std::unique_ptr<ConnectionCloser> closer_;
  int room_ = 0;
  std::size_t stuck_ = 0;
  std::vector<std::uint32_t> told_;
};

/// Its peers have descriptors whose last close waits, also in a process that exits.
class StuckBurialTest : public BurialTest {
 protected:
  StuckBurialTest() : file_(scratch_.path(), UnansweringFile::Withholds::write) {}
  void SetUp() override {
    if (!file_.usable()) GTEST_SKIP() << "needs /dev/fuse and the right to mount";
  }
  void TearDown() override {
    EXPECT_EQ(closer_->finish().empty(), stuck_ == 0);
    closer_.reset();
  }

  void add_stuck(const ConnectionOwner& owner) {
    Pair pair = connection();
    ASSERT_TRUE(file_.queue_into(pair.second.get()));
    closer_->add(std::move(pair.first), owner);
    peers_.push_back(std::move(pair.second));
  }
  void run_until(const std::function<bool()>& done) {
    const auto deadline = Clock::now() + soon;
    while (!done() && Clock::now() < deadline) loop_.run_one_for(soon);
    EXPECT_TRUE(done());
  }

  ScratchDirectory scratch_;
  UnansweringFile file_;
  std::vector<Fd> peers_;
};

TEST_F(StuckBurialTest, TwoChildrenThatDoNotEndStopNobodyElse) {
  add_stuck(mallory);
  run_until([this] { return !told_.empty(); });
  add_stuck(mallory);
  run_until([this] { return stuck_ == 2; });
  EXPECT_EQ(told_, std::vector{mallory.uid});
  EXPECT_TRUE(closer_->is_stuck(mallory.uid));
  for (int i = 0; i < 20; ++i) add_stuck(mallory);
  EXPECT_TRUE(closer_->has_room());
  Pair pair = connection();
  closer_->add(std::move(pair.first), alice);
  await_end_of(std::move(pair.second));
}

TEST_F(BurialTest, TheEndWaitsForAllChildrenButThoseThatAreStuck) {
  const pid_t stuck = ::fork();
  if (stuck == 0) {
    ::pause();
    ::_exit(0);
  }
  const pid_t other = ::fork();
  if (other == 0) ::_exit(0);
  EXPECT_TRUE(await_no_children_but({stuck}, soon));
  EXPECT_LT(::waitpid(other, nullptr, WNOHANG), 0) << "it was reaped";
  EXPECT_FALSE(await_no_children_but({}, std::chrono::milliseconds(1)));
  ::kill(stuck, SIGKILL);
  EXPECT_TRUE(await_no_children(soon));
}

TEST_F(BurialTest, EndsAConnection) {
  Pair pair = connection();
  closer_->add(std::move(pair.first), alice);
  await_end_of(std::move(pair.second));
}

TEST_F(BurialTest, DoesNotWaitForALingeringDescriptorInTheQueue) {
  Pair pair = connection();
  LingeringSocket socket;
  socket.queue_into(pair.second.get());
  const auto start = Clock::now();
  closer_->add(std::move(pair.first), alice);
  await_end_of(std::move(pair.second));
  closer_.reset();
  EXPECT_TRUE(await_no_children(soon));
  EXPECT_LT(Clock::now() - start, soon) << "of the " << LingeringSocket::seconds << " it lingers";
}

TEST_F(BurialTest, EndsABatchWithoutWaitingForMore) {
  std::vector<Fd> peers;
  while (closer_->has_room() && peers.size() < 16) {
    Pair pair = connection();
    peers.push_back(std::move(pair.second));
    closer_->add(std::move(pair.first), alice);
  }
  EXPECT_EQ(peers.size(), 16U);
  EXPECT_TRUE(closer_->has_room()) << "the first batch has gone, without the loop";
  for (Fd& peer : peers) await_end_of(std::move(peer));
}

TEST_F(BurialTest, HasNoRoomWhileTooMuchWaitsAndSaysWhenItHas) {
  std::vector<Fd> peers;
  // The loop does not run, so no child is reaped and each counts.
  while (closer_->has_room() && peers.size() < 1'000) {
    Pair pair = connection();
    peers.push_back(std::move(pair.second));
    closer_->add(std::move(pair.first), alice);
  }
  EXPECT_EQ(peers.size(), 2 * CloseQueue::batch + CloseQueue::most_waiting);
  EXPECT_EQ(room_, 0);
  await_end_of(std::move(peers.back()));
  EXPECT_GE(room_, 1);
  EXPECT_TRUE(closer_->has_room());
}

TEST_F(BurialTest, DoesNotKeepWhatOthersCloseOpen) {
  Pair mourned = connection();
  Pair other = connection();
  closer_->add(std::move(mourned.first), alice);
  await_end_of(std::move(mourned.second));
  other.first.reset();
  await_end_of(std::move(other.second));
}

TEST_F(BurialTest, EndsWhatIsLeftWithItsOwnEnd) {
  Pair pair = connection();
  closer_->add(std::move(pair.first), alice);
  closer_.reset();
  EXPECT_TRUE(await_no_children(soon));
  await_end_of(std::move(pair.second));
}

/// A listening socket with an automatic abstract name.
class ListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    address_.sun_family = AF_UNIX;
    ASSERT_EQ(::bind(socket.get(), name(), sizeof(sa_family_t)), 0);
    size_ = sizeof address_;
    ASSERT_EQ(::getsockname(socket.get(), name(), &size_), 0);
    auto made = Listener::listen(loop_, std::move(socket),
                                 [this](Fd fd) { accepted_.push_back(std::move(fd)); });
    ASSERT_TRUE(made.has_value());
    listener_ = std::move(*made);
  }

  sockaddr* name() { return reinterpret_cast<sockaddr*>(&address_); }

  Fd connect() {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), name(), size_) < 0) return {};
    return socket;
  }

  boost::asio::io_context loop_{1};
  sockaddr_un address_{};
  socklen_t size_ = 0;
  std::vector<Fd> accepted_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(ListenerTest, LeavesTheQueueAloneWhileItIsHeld) {
  const Fd first = connect();
  listener_->hold();
  while (loop_.poll() > 0) {
  }
  EXPECT_TRUE(accepted_.empty());
  loop_.restart();
  listener_->go_on();
  loop_.run_one_for(soon);
  EXPECT_EQ(accepted_.size(), 1U);
}

TEST_F(ListenerTest, PassesTheQueueOnWhenItStopsAndTakesNobodyAfter) {
  const Fd first = connect();
  const Fd second = connect();
  listener_->stop();
  EXPECT_EQ(accepted_.size(), 2U);
  EXPECT_FALSE(connect().valid());
}

TEST_F(ListenerTest, ItsEndDoesNotDropTheQueue) {
  const Fd waiting = connect();
  LingeringSocket socket;
  socket.queue_into(waiting.get());
  const auto start = Clock::now();
  listener_.reset();
  EXPECT_LT(Clock::now() - start, soon);
  EXPECT_FALSE(connect().valid());
}

}  // namespace
}  // namespace cellblock::daemon
