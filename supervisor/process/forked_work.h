#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>

#include "supervisor/os/sys.h"

/// Does work on a file system that may block its caller for ever (FUSE, network) in a child, and
/// abandons the child after a timeout. SIGKILL does not end a process that blocks so; this process
/// does not wait for it.
namespace cellblock::daemon {

/// Waits until the descriptor is readable or has ended. ETIMEDOUT: not within `patience`. Blocking.
SysResult<void> wait_readable(int descriptor, std::chrono::milliseconds patience);

/// The time in which a declared path must answer.
inline constexpr std::chrono::milliseconds source_patience{2'000};

class ForkedWork {
 public:
  using Work = std::function<void(int line)>;

  /// `work` sends its records over `line`. The child inherits only the descriptors `kept`, and its
  /// standard ones are /dev/null: a child that does not end would hold a lock, a socket or a pipe
  /// for ever. The caller has one thread.
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

/// Kills and reaps a child; leaves a child that does not end at once. `end`: its pidfd, or -1.
/// Returns the status of waitpid(2), or -1 where it was left.
int end_or_leave(pid_t child, int end);

}  // namespace cellblock::daemon
