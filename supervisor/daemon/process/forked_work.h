#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>

#include "supervisor/os/sys.h"

/// Work on a file system that may block its caller for ever, as FUSE and network file systems can:
/// a child does it, and is abandoned after some time. SIGKILL does not end a process that blocks
/// so; this one does not wait for it.
namespace cellblock::daemon {

/// Until there is something to be read, or its end. ETIMEDOUT: not within `patience`. Blocking.
SysResult<void> wait_readable(int descriptor, std::chrono::milliseconds patience);

/// How long a declared path has to answer.
inline constexpr std::chrono::milliseconds source_patience{2'000};

class ForkedWork {
 public:
  using Work = std::function<void(int line)>;

  /// `work` sends its records over `line`. Its process has no other descriptors of this one's but
  /// `kept`, and its standard ones are /dev/null: a lock, a socket or a pipe in a process that does
  /// not end would be held for ever. The caller has one thread.
  static SysResult<ForkedWork> begin(std::span<const int> kept, const Work& work);
  ForkedWork(ForkedWork&& other) noexcept;
  ForkedWork& operator=(ForkedWork&&) = delete;
  ~ForkedWork();

  /// The next record. ETIMEDOUT: none came in time; EPIPE: the work has ended.
  SysResult<Received> next(std::span<std::byte> buffer, std::chrono::milliseconds patience);

 private:
  ForkedWork(pid_t child, Fd end, Fd line)
      : child_(child), end_(std::move(end)), line_(std::move(line)) {}

  pid_t child_;
  Fd end_;  ///< a pidfd
  Fd line_;
};

/// Kills and reaps a child; one that does not end at once is left. `end`: its pidfd, or not valid.
/// Returns the status of waitpid(2), or -1 where it was left.
int end_or_leave(pid_t child, int end);

}  // namespace cellblock::daemon
