#pragma once

#include <sys/types.h>

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "supervisor/ipc/wire.h"
#include "supervisor/os/sys.h"

/// The launcher as a child process: its start, the waiting steps of start-up, and its end.
/// Blocking; used before and after the event loop runs. Inside the loop only channel() and the
/// functions that do not wait for an answer are used.
namespace cellblock::daemon {

/// A mount namespace that shows what this process sees of the host now, and belongs to
/// `user_namespace`: only a process with capabilities there can copy mounts from it. This process's
/// user must have made the user namespace; no other right is needed. A short-lived child makes the
/// mount namespace; the call blocks for at most `patience` (ETIMEDOUT). The caller has one thread.
SysResult<Fd> host_view(int user_namespace, std::chrono::milliseconds patience);

/// The timeout of each step of the launcher's start, before and after the exec.
inline constexpr std::chrono::milliseconds launcher_patience{30'000};

class LauncherProcess {
 public:
  /// Executes the open program with the descriptors of wire::launcher_fd and no others; `fds` are
  /// those after the channel, in order.
  static Result<LauncherProcess> start(int program, std::span<const int> fds);

  /// For a launcher that was started before the exec.
  static LauncherProcess inherited(pid_t pid, Fd pidfd, Fd channel, Fd user_namespace);

  LauncherProcess(LauncherProcess&& other) noexcept;
  LauncherProcess& operator=(LauncherProcess&&) = delete;
  ~LauncherProcess();  ///< end() without patience

  /// Waits for the next report, which must be of this kind. The error says what came instead:
  /// another kind, the launcher's death, or nothing in time. Keeps the user namespace that comes
  /// with `user_namespace_made`.
  Result<void> await(wire::LauncherReportKind kind, std::chrono::milliseconds timeout);
  Result<void> tell(const wire::SupervisorRequest& request, std::span<const int> fds = {}) const;

  /// Sends the launcher another configuration and a host_view() of the host as it is now. The
  /// launcher answers with `reloaded` or `not_reloaded`; ask for no other reload before. Waits for
  /// the child that makes the view: milliseconds, at most 5 s. `owner_mounts`: owner_mounts.h.
  Result<void> reload(const Fd& config, const Fd& secrets, const Fd& owner_mounts) const;

  /// Closes the channel, by which the launcher ends everything; kills the launcher if it did not
  /// end within `patience`, and waits until no process below it is left. `closing`: children that
  /// close connections; the call waits for them only a moment. An error: another process is still
  /// there. A second call does nothing.
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
