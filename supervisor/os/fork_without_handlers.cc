#include "supervisor/os/fork_without_handlers.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigfillset is POSIX
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace cellblock {
namespace {

bool close_range(unsigned first, unsigned last) {
  return first > last || ::syscall(SYS_close_range, first, last, 0) == 0;
}

}  // namespace

pid_t fork_without_handlers() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  const int error = errno;
  if (child != 0) ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return child;
}

bool close_all_but(std::span<const int> kept) {
  unsigned next = 0;
  for (const int descriptor : kept) {
    const auto number = static_cast<unsigned>(descriptor);
    if (number > next && !close_range(next, number - 1)) return false;
    next = number + 1;
  }
  return close_range(next, ~0U);
}

namespace {

// --- in the child: system calls on what was prepared, nothing else -------------------------------

[[noreturn]] void hold_until_told(std::span<const int> kept, int line) {
  char byte = 0;
  if (!close_all_but(kept) || ::write(line, &byte, 1) != 1) ::_exit(1);
  ssize_t count = -1;
  do {
    count = ::read(line, &byte, 1);
  } while (count < 0 && errno == EINTR);
  ::_exit(0);
}

// --------------------------------------------------------------------------------------------------

std::vector<int> kept_numbers(std::span<const Fd> dead, int line) {
  std::vector<int> numbers{line};
  for (const Fd& fd : dead) numbers.push_back(fd.get());
  std::ranges::sort(numbers);
  return numbers;
}

// Waited for, because until then the child has copies of everything: an epoll entry outlives its
// descriptor as long as a copy is open anywhere, and a peer would not see the end of his
// connection.
bool is_holding(int line) {
  char byte = 0;
  ssize_t count = -1;
  do {
    count = ::read(line, &byte, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}

}  // namespace

SysResult<pid_t> close_in_child(std::vector<Fd>& dead, Pair& line) {
  const std::vector<int> kept = kept_numbers(dead, line.second.get());
  const pid_t child = fork_without_handlers();
  if (child < 0) return sys_fail("fork");
  if (child == 0) hold_until_told(kept, line.second.get());
  line.second.reset();
  const bool holding = is_holding(line.first.get());
  if (holding) dead.clear();
  line.first.reset();
  if (holding) return child;
  ::waitpid(child, nullptr, 0);  // does not last: its copies were not the last ones
  return std::unexpected(SysError{"fork", ECHILD});
}

}  // namespace cellblock
