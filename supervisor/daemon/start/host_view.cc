#include "supervisor/daemon/start/host_view.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "supervisor/daemon/load/wait_readable.h"
#include "supervisor/os/fork_without_handlers.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

/// With the namespace, or without one after a call that failed.
struct Word {
  int step = 0;
  int error = 0;
};

constexpr std::array steps{"close_range", "setns", "unshare", "open"};

// --- in the child -------------------------------------------------------------------------------

SysResult<Fd> make_view(int user_namespace) {
  if (::setns(user_namespace, CLONE_NEWUSER) < 0) return sys_fail(steps[1]);
  if (::unshare(CLONE_NEWNS) < 0) return sys_fail(steps[2]);
  return open_at(AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY);
}

int step_of(const SysError& error) {
  const auto found = std::ranges::find(steps, std::string_view(error.call));
  return static_cast<int>(found - steps.begin());
}

[[noreturn]] void make_and_send(int user_namespace, int line) {
  std::array<int, 2> kept{user_namespace, line};
  std::ranges::sort(kept);
  if (!close_all_but(kept)) ::_exit(1);
  const auto view = make_view(user_namespace);
  SysResult<void> sent;
  if (view) {
    const int descriptor = view->get();
    sent = send_record(line, Word{}, std::span(&descriptor, 1));
  } else {
    sent = send_record(line, Word{step_of(view.error()), view.error().number});
  }
  ::_exit(sent ? 0 : 1);
}

// --------------------------------------------------------------------------------------------------

SysResult<Fd> take_view(int line) {
  Word word;
  Received received = CELLBLOCK_TRY(receive_record(line, word));
  if (received.fds.size() == 1) return std::move(received.fds[0]);
  const auto step = static_cast<std::size_t>(word.step);
  return std::unexpected(SysError{step < steps.size() ? steps[step] : "child", word.error});
}

void reap(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

SysResult<Fd> host_view(int user_namespace, milliseconds patience) {
  Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
  const pid_t child = fork_without_handlers();
  if (child < 0) return sys_fail("fork");
  if (child == 0) make_and_send(user_namespace, line.second.get());
  line.second.reset();
  // Its one message, or its end.
  const auto came = wait_readable(line.first.get(), patience);
  auto view = came ? take_view(line.first.get()) : std::unexpected(came.error());
  ::kill(child, SIGKILL);  // it has nothing more to do
  reap(child);
  return view;
}

}  // namespace cellblock::daemon
