#pragma once

#include <sys/types.h>

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "supervisor/ipc/wire.h"
#include "supervisor/os/sys.h"

/// The launcher as a child process: its start, the waiting steps of start-up, and its end.
/// Blocking; used before and after the event loop runs. While it runs, only channel() is used, and
/// what does not wait for an answer of the launcher's.
namespace cellblock::daemon {

/// A mount namespace that shows what this process sees of the host now, and belongs to
/// `user_namespace`: only a process with capabilities there can copy mounts from it. The user
/// namespace must be one that this process's user has made; no other right is needed. A child makes
/// it and is gone; blocks for as long, and for no longer than `patience` (ETIMEDOUT). The caller
/// has one thread.
SysResult<Fd> host_view(int user_namespace, std::chrono::milliseconds patience);

class LauncherProcess {
 public:
  /// The open program is executed with the descriptors of wire::launcher_fd and nothing else; `fds`
  /// are those after the channel, in order.
  static Result<LauncherProcess> start(int program, std::span<const int> fds);

  /// Started by the program that became this one, which has its channel, pidfd and user namespace.
  static LauncherProcess inherited(pid_t pid, Fd pidfd, Fd channel, Fd user_namespace);

  LauncherProcess(LauncherProcess&& other) noexcept;
  LauncherProcess& operator=(LauncherProcess&&) = delete;
  ~LauncherProcess();  ///< end() without patience

  /// The next report must be of this kind. An error says what came instead: another kind, the
  /// launcher's death, or nothing in time. Keeps the user namespace that comes with
  /// `user_namespace_made`.
  Result<void> await(wire::LauncherReportKind kind, std::chrono::milliseconds timeout);
  Result<void> tell(const wire::SupervisorRequest& request, std::span<const int> fds = {}) const;

  /// Has it take another configuration while it runs, with the host as it is now (below): the
  /// answer is `reloaded` or `not_reloaded`, and until it has come the caller asks for no other.
  /// Waits for a child that makes the view, a matter of milliseconds, at most 5 s.
  /// `owner_mounts`: owner_mounts.h.
  Result<void> reload(const Fd& config, const Fd& secrets, const Fd& owner_mounts) const;

  /// Closes the channel, which the launcher takes as the order to end everything; kills it when it
  /// did not end within `patience`, and then waits until no process below it is left either.
  /// `closing`: children that close connections; they are waited for only a moment. An error if
  /// something else is still there. Does nothing the second time.
  Result<void> end(std::chrono::milliseconds patience, const std::vector<pid_t>& closing = {});

  pid_t pid() const { return pid_; }
  const Fd& pidfd() const { return pidfd_; }  ///< readable once the launcher is dead
  const Fd& channel() const { return channel_; }
  const Fd& user_namespace() const { return user_namespace_; }  ///< after `user_namespace_made`

 private:
  LauncherProcess(pid_t pid, Fd pidfd, Fd channel)
      : pid_(pid), pidfd_(std::move(pidfd)), channel_(std::move(channel)) {}
  Error explain_death();

  pid_t pid_ = -1;
  Fd pidfd_;
  Fd channel_;
  Fd user_namespace_;  ///< the launcher's own
};

}  // namespace cellblock::daemon
