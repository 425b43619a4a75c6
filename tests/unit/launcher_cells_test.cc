#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <filesystem>

#include "supervisor/launcher/run/cells.h"
#include "supervisor/os/sys.h"
#include "tests/integration/inhabitant.h"

namespace cellblock::launcher {
namespace {

/// A cell whose pid 1 is the test's, in a group whose cgroup.kill is a pipe.
class CellThatDoesNotEnd : public testing::Test {
 protected:
  void SetUp() override {
    std::string place = "/tmp/cellblock-cells.XXXXXX";
    ASSERT_NE(::mkdtemp(place.data()), nullptr);
    place_ = place;
    ASSERT_EQ(::mkdir((place_ + "/cell-1").c_str(), 0700), 0);
    const std::string pipe = place_ + "/cell-1/cgroup.kill";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    kills_ = Fd(::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  }
  void TearDown() override { std::filesystem::remove_all(place_); }

  SpawnedCell spawned(pid_t init) {
    auto report = make_seqpacket_pair();
    auto ending = make_pipe();
    report_ = std::move(report->second);
    auto remover = std::make_shared<GroupRemover>(
        Fd(::open(place_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
    Fd directory(::open((place_ + "/cell-1").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return {.pidfd = open_pidfd(init),
            .report = std::move(report->first),
            .ending = std::move(ending->first),
            .filter = nullptr,
            .group = CellGroup(std::move(remover), "cell-1", std::move(directory))};
  }

  std::string place_;
  Fd kills_;
  Fd report_;
};

// A kill that the kernel cannot carry out yet is no reason to keep the processor busy with others.
TEST_F(CellThatDoesNotEnd, IsKilledAgainWithPausesInBetween) {
  harness::Inhabitant init("/nowhere");
  if (!init.hold_at_exit()) GTEST_SKIP() << "no process can be traced here";
  auto loop = EventLoop::make();
  ASSERT_TRUE(loop);
  Cells cells(*loop);
  const auto cell =
      cells.add(spawned(init.pid()), {[] {}, [&](const CellFacts&) { loop->stop(); }});
  ASSERT_TRUE(cell);
  std::size_t kills = 0;
  Fd later(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  ASSERT_TRUE(loop->watch_input(kills_.get(), [&] {
    char byte = 0;
    if (::read(kills_.get(), &byte, 1) != 1 || ++kills > 1) return;
    const itimerspec when{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 300'000'000}};
    ::timerfd_settime(later.get(), 0, &when, nullptr);
  }));
  ASSERT_TRUE(loop->watch_input(later.get(), [&] {
    loop->forget(later.get());
    init.release();
  }));
  cells.expect_end(*cell);
  ASSERT_TRUE(loop->run());
  EXPECT_TRUE(cells.empty());
  EXPECT_GE(kills, 1U);
  EXPECT_LT(kills, 10U) << "a loop that does nothing else kills it thousands of times";
}

}  // namespace
}  // namespace cellblock::launcher
