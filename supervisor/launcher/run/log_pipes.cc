#include "supervisor/launcher/run/log_pipes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace cellblock::launcher {
namespace {

// The kernel counts the pages of a user's pipes, and cells need theirs.
constexpr int pipe_bytes = 16 << 10;

}  // namespace

SysResult<Fd> LogPipes::make(const wire::LogPipe& whose) const {
  if (!channel_.valid()) return duplicate(STDERR_FILENO);
  Pair pipe = CELLBLOCK_TRY(make_pipe());
  // EPERM: over the user's quota, where a pipe is made with less.
  if (fcntl(pipe.second.get(), F_SETPIPE_SZ, pipe_bytes) < 0 && errno != EPERM) {
    return sys_fail("fcntl");
  }
  // Of the reader's description alone: whoever writes may wait.
  if (fcntl(pipe.first.get(), F_SETFL, O_NONBLOCK) < 0) return sys_fail("fcntl");
  const int sent = pipe.first.get();
  CELLBLOCK_CHECK(send_record(channel_.get(), whose, std::span(&sent, 1), MSG_DONTWAIT));
  return std::move(pipe.second);
}

}  // namespace cellblock::launcher
