#include "supervisor/launcher/run/denials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>

#include "supervisor/seccomp/seccomp_filter.h"
#include "tests/unit/filtered_child.h"

namespace cellblock::launcher {
namespace {

using testing_support::end_of;
using testing_support::ending_heard;

std::shared_ptr<const FilterProgram> filter_for(SyscallProfile profile) {
  FilterCache cache;
  auto filter = cache.filter_for(SyscallRules{.base = profile}, NetworkMode::none);
  return filter ? *filter : nullptr;
}

bool fails_with(int error, long answer) { return answer == -1 && errno == error; }

bool mount_is_refused() {
  return fails_with(EPERM, ::syscall(SYS_mount, nullptr, nullptr, nullptr, 0UL, nullptr));
}

/// Processes under one filter, answered by Denials in a loop that ends when all of them have.
class Cells {
 public:
  /// Its exit code is `code`'s answer.
  void start(const std::function<bool()>& code) {
    auto sockets = make_seqpacket_pair();
    ASSERT_TRUE(sockets.has_value());
    const pid_t child = ::fork();
    if (child == 0) {
      testing_support::load_heard(*filter_, sockets->second.get());
      ::_exit(code() ? 0 : 1);
    }
    sockets->second.reset();
    char byte = 0;
    auto received = receive_record(sockets->first.get(), byte);
    ASSERT_TRUE(received.has_value() && received->fds.size() == 1);
    watch(child, std::move(received->fds[0]));
  }

  /// How the processes ended, in their order.
  std::vector<std::string> run() {
    EXPECT_TRUE(loop_->run().has_value());
    std::vector<std::string> ends;
    ends.reserve(children_.size());
    for (const pid_t child : children_) ends.push_back(end_of(child));
    for (std::size_t cell = 1; cell <= children_.size(); ++cell) denials_.forget(cell);
    return ends;
  }

  std::uint64_t calls(std::int32_t number) const {
    std::uint64_t sum = 0;
    for (const wire::Denial& denial : told) {
      if (denial.syscall_number == number) sum += denial.count;
    }
    return sum;
  }

  std::function<bool()> takes = [] { return true; };
  std::vector<wire::Denial> told;
  std::vector<std::size_t> ended;  ///< numbers of cells, from 1, in the order of their ends

 private:
  void watch(pid_t child, Fd listener) {
    children_.push_back(child);
    const Denials::Listener tell{[](std::uint32_t, std::int32_t) {},
                                 [this](const wire::Denial& denial) {
                                   if (!takes()) return false;
                                   told.push_back(denial);
                                   return true;
                                 }};
    ASSERT_TRUE(denials_.watch(children_.size(), std::move(listener), filter_, tell).has_value());
    pidfds_.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    const int pidfd = pidfds_.back().get();
    ASSERT_TRUE(loop_->watch_input(pidfd, [this, pidfd, cell = children_.size()] {
      loop_->forget(pidfd);
      ended.push_back(cell);
      if (ended.size() == children_.size()) loop_->stop();
    }));
  }

  SysResult<EventLoop> loop_ = EventLoop::make();
  Denials denials_{*loop_};
  std::shared_ptr<const FilterProgram> filter_ = filter_for(SyscallProfile::native);
  std::vector<pid_t> children_;
  std::vector<Fd> pidfds_;
};

TEST(Denials, AnswerWithTheErrnoOfThePolicyAndTellWhatWasAskedFor) {
  Cells cells;
  cells.start([] {
    return mount_is_refused() && mount_is_refused() &&
           fails_with(EACCES, ::socket(AF_INET, SOCK_STREAM, 0)) &&
           fails_with(EAFNOSUPPORT, ::socket(AF_VSOCK, SOCK_STREAM, 0)) &&
           fails_with(ENOSYS, ::syscall(SYS_mbind, 0, 0, 0, 0, 0, 0)) &&
           ::write(STDERR_FILENO, "", 0) == 0;
  });
  EXPECT_THAT(cells.run(), testing::ElementsAre("exit 0"));
  EXPECT_EQ(cells.calls(SYS_mount), 2U);
  EXPECT_EQ(cells.calls(SYS_mbind), 1U);
  EXPECT_EQ(cells.calls(SYS_socket), 2U);
  const auto vsock = std::ranges::find(cells.told, AF_VSOCK, [](const wire::Denial& denial) {
    return static_cast<int>(denial.words[0]);
  });
  ASSERT_NE(vsock, cells.told.end());
  EXPECT_EQ(vsock->error, EAFNOSUPPORT);
}

constexpr int flood = 3 * static_cast<int>(Denials::answers_per_second) / 2;

bool flood_is_refused() {
  for (int i = 0; i < flood; ++i) {
    if (!mount_is_refused()) return false;
  }
  return true;
}

TEST(Denials, LetAFloodWaitForItsAnswersAndCountThemAll) {
  Cells cells;
  cells.start(flood_is_refused);
  EXPECT_THAT(cells.run(), testing::ElementsAre("exit 0"));
  EXPECT_EQ(cells.calls(SYS_mount), static_cast<std::uint64_t>(flood));
  EXPECT_LT(cells.told.size(), 100U);
}

TEST(Denials, AnswerOthersWhileOneFloods) {
  Cells cells;
  cells.start(flood_is_refused);
  cells.start([] { return mount_is_refused(); });
  EXPECT_THAT(cells.run(), testing::ElementsAre("exit 0", "exit 0"));
  EXPECT_THAT(cells.ended, testing::ElementsAre(2, 1));
}

TEST(RateBudget, ChargesNobodyForWhatTheOtherHasNoneLeftFor) {
  using std::chrono::milliseconds;
  RateBudget cell(1, 1);
  RateBudget all(1, 1);
  ASSERT_TRUE(all.take(milliseconds{0}));
  EXPECT_FALSE(RateBudget::take_both(cell, all, milliseconds{0}));
  EXPECT_TRUE(cell.take(milliseconds{0}));
  EXPECT_FALSE(RateBudget::take_both(cell, all, milliseconds{999}));
  EXPECT_TRUE(RateBudget::take_both(cell, all, milliseconds{1000}));
  EXPECT_FALSE(cell.take(milliseconds{1000}) || all.take(milliseconds{1000}));
}

// Each dies in its call, or between two.
bool callers_are_killed() {
  for (int i = 0; i < 200; ++i) {
    const pid_t caller = ::fork();
    if (caller == 0) {
      while (mount_is_refused()) {
      }
      ::_exit(1);
    }
    ::sched_yield();
    ::kill(caller, SIGKILL);
    ::waitpid(caller, nullptr, 0);
  }
  return mount_is_refused();
}

TEST(Denials, AnswerOnWhenCallersWereKilled) {
  Cells cells;
  cells.start(callers_are_killed);
  EXPECT_THAT(cells.run(), testing::ElementsAre("exit 0"));
}

TEST(Denials, OfferAgainWhatWasNotTaken) {
  Cells cells;
  int offers = 0;
  cells.takes = [&] { return ++offers > 1; };
  cells.start([] { return mount_is_refused(); });
  EXPECT_THAT(cells.run(), testing::ElementsAre("exit 0"));
  EXPECT_EQ(cells.calls(SYS_mount), 1U);
}

TEST(FilterCache, CompilesOnceWhatServersShare) {
  FilterCache cache;
  SyscallRules node{.base = SyscallProfile::node, .name = "node"};
  SyscallRules same = node;
  same.name = "another name";
  const auto first = cache.filter_for(node, NetworkMode::none);
  const auto second = cache.filter_for(same, NetworkMode::none);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(first->get(), second->get());
  same.allow = {"mbind"};
  ASSERT_TRUE(cache.filter_for(same, NetworkMode::none).has_value());
  ASSERT_TRUE(cache.filter_for(node, NetworkMode::host).has_value());
  EXPECT_EQ(cache.size(), 3U);
}

// --- what ordinary programs are refused at their start -------------------------------------------

testing_support::Ending start(SyscallProfile profile, std::vector<const char*> arguments) {
  if (::access(arguments[0], X_OK) != 0) return {"missing", 0};
  arguments.push_back(nullptr);
  return ending_heard(*filter_for(profile), [&] {
    ::execv(arguments[0], const_cast<char* const*>(arguments.data()));
    return 127;
  });
}

TEST(OrdinaryStarts, AreAlmostSilent) {
  const auto native = start(SyscallProfile::native, {"/bin/sh", "-c", "ls -l / > /dev/null"});
  EXPECT_EQ(native.how, "exit 0");
  EXPECT_LE(native.reported, 8);
  const auto python =
      start(SyscallProfile::python,
            {"/usr/bin/python3", "-c", "import asyncio; asyncio.run(asyncio.sleep(0))"});
  if (python.how == "missing") GTEST_SKIP() << "python3 is not installed";
  EXPECT_EQ(python.how, "exit 0");
  EXPECT_LE(python.reported, 8);
  const auto node = start(SyscallProfile::node, {"/usr/bin/node", "-e", "setTimeout(()=>0, 1)"});
  if (node.how == "missing") GTEST_SKIP() << "node is not installed";
  EXPECT_EQ(node.how, "exit 0");
  EXPECT_LE(node.reported, 8);
}

TEST(OrdinaryStarts, OfRealServersAreAlmostSilentToo) {
  const char* const command = "exec /usr/bin/node \"$0\" \"$1\" < /dev/null > /dev/null 2>&1";
  const std::pair<const char*, const char*> servers[] = {
      {FIXTURES "/server-everything/dist/index.js", "stdio"},
      {FIXTURES "/server-filesystem/dist/index.js", "/tmp"}};
  for (const auto& [program, argument] : servers) {
    if (::access(program, R_OK) != 0) GTEST_SKIP() << "the fixtures are not installed";
    const auto end = start(SyscallProfile::node, {"/bin/sh", "-c", command, program, argument});
    EXPECT_EQ(end.how, "exit 0") << program;
    EXPECT_LE(end.reported, 8) << program;
  }
}

}  // namespace
}  // namespace cellblock::launcher
