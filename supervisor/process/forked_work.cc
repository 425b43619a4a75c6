#include "supervisor/process/forked_work.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "supervisor/os/fork_without_handlers.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

using std::chrono::milliseconds;

SysResult<void> wait_readable(int descriptor, milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  pollfd watched{descriptor, POLLIN, 0};
  int count = -1;
  do {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    count = ::poll(&watched, 1, static_cast<int>(std::max(left, milliseconds{0}).count()));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return sys_fail("poll");
  if (count == 0) return std::unexpected(SysError{"poll", ETIMEDOUT});
  return {};
}

namespace {

// A killed process that is not blocked ends in less time.
constexpr std::chrono::milliseconds moment{200};

std::vector<int> with_standard_ones(std::span<const int> kept, int line) {
  std::vector<int> all{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, line};
  std::ranges::copy_if(kept, std::back_inserter(all), [](int fd) { return fd >= 0; });
  std::ranges::sort(all);
  const auto again = std::ranges::unique(all);
  all.erase(again.begin(), again.end());
  return all;
}

// The reader of this process's pipes waits until every process with a copy has ended.
bool leave_standard_ones() {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  return nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
         ::dup2(nothing, STDOUT_FILENO) >= 0 && ::dup2(nothing, STDERR_FILENO) >= 0;
}

[[noreturn]] void work_and_exit(const std::vector<int>& kept, const ForkedWork::Work& work,
                                int line) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (leave_standard_ones() && close_all_but(kept)) work(line);
  ::_exit(0);
}

}  // namespace

SysResult<ForkedWork> ForkedWork::begin(std::span<const int> kept, const Work& work) {
  Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
  const std::vector<int> all = with_standard_ones(kept, line.second.get());
  const pid_t child = fork_without_handlers();
  if (child < 0) return sys_fail("fork");
  if (child == 0) work_and_exit(all, work, line.second.get());
  return ForkedWork(child, open_pidfd(child), std::move(line.first));
}

ForkedWork::ForkedWork(ForkedWork&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      end_(std::move(other.end_)),
      line_(std::move(other.line_)) {}

ForkedWork::~ForkedWork() {
  if (child_ > 0) end_or_leave(child_, end_.get());
}

SysResult<Received> ForkedWork::next(std::span<std::byte> buffer,
                                     std::chrono::milliseconds patience) {
  CELLBLOCK_CHECK(wait_readable(line_.get(), patience));
  auto received = receive_record(line_.get(), buffer, MSG_DONTWAIT);
  if (received && received->size == 0) return std::unexpected(SysError{"recvmsg", EPIPE});
  return received;
}

int end_or_leave(pid_t child, int end) {
  ::kill(child, SIGKILL);
  if (end >= 0) static_cast<void>(wait_readable(end, moment));
  int status = 0;
  while (true) {
    const pid_t reaped = ::waitpid(child, &status, WNOHANG);
    if (reaped == child) return status;
    if (reaped == 0 || errno != EINTR) return -1;
  }
}

}  // namespace cellblock::daemon
