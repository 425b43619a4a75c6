#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "client/connection/fd.h"
#include "client/connection/reactor.h"

namespace cellblock::client {
namespace {

using std::chrono::milliseconds;
using SteadyTime = std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool is_readable(const Reactor& reactor) {
  pollfd waited{.fd = reactor.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, 0) == 1;
}

TEST(Reactor, RunsTasksInTheirOrderAndThoseThatTheyLeave) {
  Reactor reactor;
  std::vector<int> ran;
  reactor.post([&] {
    ran.push_back(1);
    reactor.post([&] { ran.push_back(3); });
  });
  reactor.post([&] { ran.push_back(2); });
  EXPECT_THAT(ran, IsEmpty()) << "never inside the call";
  reactor.process();
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
  EXPECT_FALSE(reactor.has_tasks());
}

TEST(Reactor, IsReadableFromATaskOfAnyThreadUntilItWasProcessed) {
  Reactor reactor;
  EXPECT_FALSE(is_readable(reactor));
  std::thread([&] { reactor.post([] {}); }).join();
  EXPECT_TRUE(is_readable(reactor));
  reactor.process();
  EXPECT_FALSE(is_readable(reactor));
}

TEST(Reactor, ReturnsFromTasksThatNeverEnd) {
  Reactor reactor;
  std::function<void()> again = [&] { reactor.post([&] { again(); }); };
  again();
  reactor.process();
  EXPECT_TRUE(reactor.has_tasks());
  EXPECT_TRUE(is_readable(reactor));
}

TEST(Reactor, KeepsTheTasksBehindOneThatThrows) {
  Reactor reactor;
  bool ran = false;
  reactor.post([] { throw std::runtime_error("host"); });
  reactor.post([&] { ran = true; });
  EXPECT_THROW(reactor.process(), std::runtime_error);
  EXPECT_FALSE(ran);
  EXPECT_TRUE(is_readable(reactor));
  reactor.process();
  EXPECT_TRUE(ran);
}

TEST(Reactor, DoesNothingInsideOfItself) {
  Reactor reactor;
  std::vector<int> ran;
  reactor.post([&] {
    reactor.process();
    ran.push_back(1);
  });
  reactor.post([&] { ran.push_back(2); });
  reactor.process();
  EXPECT_THAT(ran, ElementsAre(1, 2));
}

TEST(Reactor, TellsOfItsEarliestTimerAndRunsWhatIsDue) {
  const auto reactor = std::make_shared<Reactor>();
  EXPECT_EQ(reactor->deadline(), std::nullopt);
  std::vector<int> ran;
  const auto now = SteadyTime::now();
  ReactorTimer late(reactor);
  ReactorTimer due(reactor);
  ReactorTimer replaced(reactor);
  ReactorTimer never(reactor);
  late.expires_at(now + std::chrono::hours(1), [&] { ran.push_back(1); });
  due.expires_at(now - milliseconds(1), [&] { ran.push_back(2); });
  replaced.expires_at(now - milliseconds(2), [&] { ran.push_back(3); });
  replaced.expires_at(now + std::chrono::hours(2), [&] { ran.push_back(4); });
  never.expires_at(Reactor::TimePoint::max(), [&] { ran.push_back(5); });
  EXPECT_EQ(reactor->deadline(), now - milliseconds(1));
  reactor->process();
  EXPECT_THAT(ran, ElementsAre(2));
  EXPECT_EQ(reactor->deadline(), now + std::chrono::hours(1));
}

TEST(Reactor, ForgetsATimerWithItsOwner) {
  const auto reactor = std::make_shared<Reactor>();
  {
    ReactorTimer(reactor).expires_at(SteadyTime::now(), [] { FAIL(); });
  }
  reactor->process();
  EXPECT_EQ(reactor->deadline(), std::nullopt);
}

/// Counts how often it is told.
struct CountedHandler : SocketHandler {
  void ready() override { times += 1; }
  int times = 0;
};

std::array<OwnedFd, 2> socket_pair() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

TEST(Reactor, IsReadableWhenItsSocketIs) {
  const auto pair = socket_pair();
  Reactor reactor;
  const auto handler = std::make_shared<CountedHandler>();
  ASSERT_TRUE(reactor.watch(pair[0].get(), handler));
  EXPECT_FALSE(is_readable(reactor));
  EXPECT_EQ(::send(pair[1].get(), "x", 1, 0), 1);
  EXPECT_TRUE(is_readable(reactor));
  reactor.process();
  EXPECT_EQ(handler->times, 1);
  EXPECT_TRUE(is_readable(reactor)) << "nobody has read";
  reactor.unwatch();
  EXPECT_FALSE(is_readable(reactor));
  reactor.process();
  EXPECT_EQ(handler->times, 1);
}

TEST(Reactor, WakesForWritingOnlyWhereThatIsWanted) {
  const auto pair = socket_pair();
  Reactor reactor;
  ASSERT_TRUE(reactor.watch(pair[0].get(), std::make_shared<CountedHandler>()));
  EXPECT_FALSE(is_readable(reactor));
  reactor.want_write(true);
  EXPECT_TRUE(is_readable(reactor));
  reactor.want_write(false);
  EXPECT_FALSE(is_readable(reactor));
}

TEST(Reactor, DrainsAllThatTasksLeaveHoweverManyTheyAre) {
  Reactor reactor;
  int left = 1'000;
  std::function<void()> again = [&] {
    if (--left > 0) reactor.post(again);
  };
  reactor.post(again);
  reactor.drain();
  EXPECT_EQ(left, 0);
}

TEST(Reactor, DestroysUnrunWhatItDiscards) {
  Reactor reactor;
  const auto held = std::make_shared<int>();
  reactor.post([held] { FAIL(); });
  reactor.discard();
  EXPECT_EQ(held.use_count(), 1);
  reactor.post([held] { FAIL(); });
  EXPECT_EQ(held.use_count(), 1);
  reactor.process();
}

}  // namespace
}  // namespace cellblock::client
