#pragma once

#include "supervisor/ipc/log_wire.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// Where cellblock's own processes in cells say what they have to say: a pipe each, whose other end
/// the supervisor reads. None of them has the daemon's own stderr, in which it could move and
/// overwrite what others have written.
class LogPipes {
 public:
  /// `channel`: wire::launcher_fd::log. Not valid: all say it on the launcher's stderr.
  explicit LogPipes(Fd channel) : channel_(std::move(channel)) {}

  /// The end to write to, when the supervisor has been sent the other.
  SysResult<Fd> make(const wire::LogPipe& whose) const;

 private:
  Fd channel_;
};

}  // namespace cellblock::launcher
