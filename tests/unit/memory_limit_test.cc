#include "supervisor/os/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

namespace cellblock {
namespace {

constexpr std::uint64_t limit = 64U << 20;

struct Ended {
  int status = 0;
  std::string said;
};

/// What becomes of a child that allocates so much under the limit.
Ended end_of_allocation(std::size_t bytes) {
  auto pipe = make_pipe();
  if (!pipe) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe->second.get(), STDERR_FILENO);
    end_when_out_of_memory("cellblock-test");
    if (!limit_data(limit)) ::_exit(9);
    const std::string memory(bytes, 'x');
    ::_exit(memory[bytes / 2] == 'x' ? 0 : 8);
  }
  pipe->second.reset();
  Ended ended;
  ::waitpid(child, &ended.status, 0);
  std::array<char, 256> text{};
  const ssize_t count = ::read(pipe->first.get(), text.data(), text.size());
  if (count > 0) ended.said.assign(text.data(), static_cast<std::size_t>(count));
  return ended;
}

TEST(MemoryLimit, EndsWhoNeedsMoreWithOneLine) {
  if (!has_data_limit) GTEST_SKIP() << "a sanitizer has an allocator of its own";
  const Ended ended = end_of_allocation(2 * limit);
  EXPECT_TRUE(WIFEXITED(ended.status));
  EXPECT_EQ(WEXITSTATUS(ended.status), EXIT_FAILURE);
  EXPECT_EQ(
      ended.said,
      "cellblock-test: out of memory: it needs more than its limit (RLIMIT_DATA), or than the "
      "machine has\n");
}

TEST(MemoryLimit, LetsWhoNeedsLessGoOn) {
  const Ended ended = end_of_allocation(limit / 4);
  EXPECT_TRUE(WIFEXITED(ended.status));
  EXPECT_EQ(WEXITSTATUS(ended.status), 0);
  EXPECT_EQ(ended.said, "");
}

TEST(MemoryLimit, LeavesTheHardLimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  ASSERT_TRUE(limit_data(std::uint64_t{1} << 40U));
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &after), 0);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
  EXPECT_LE(after.rlim_cur, after.rlim_max);
}

}  // namespace
}  // namespace cellblock
