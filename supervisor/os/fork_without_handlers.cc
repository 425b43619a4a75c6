#include "supervisor/os/fork_without_handlers.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigfillset is POSIX
#include <sys/syscall.h>
#include <unistd.h>

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

}  // namespace cellblock
