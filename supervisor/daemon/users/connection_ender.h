#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/failures/failure_code.h"
#include "supervisor/daemon/helpers/helpers.h"
#include "supervisor/daemon/sockets/connection_closer.h"
#include "supervisor/daemon/sockets/kill_switch.h"

namespace cellblock::daemon {

/// Ends connections that the supervisor has accepted: tells a refused peer why, and closes every
/// one in a child, since close() may block (connection_closer.h). One thread.
class ConnectionEnder {
 public:
  struct Around {
    /// Too many connections wait to be closed: accept none until `room`.
    std::function<void()> full;
    std::function<void()> room;
    /// stuck() has changed.
    std::function<void()> stuck;
  };
  /// Children that block in closing a peer's descriptors.
  struct Stuck {
    std::size_t children = 0;
    std::uint32_t uid = ConnectionOwner::unknown;  ///< the owner of the last one's connections
  };

  /// The references outlive it.
  ConnectionEnder(const Config& config, const KillSwitch& kill_switch, Helpers& helpers,
                  Around around);

  /// Call before any other function.
  Result<void> start(boost::asio::io_context& loop);

  // Write a refusal (refusal.h), count it, and end the connection.
  void refuse(Fd socket, FailureCode code);
  void refuse(Fd socket, FailureCode code, std::string_view sentence);
  void refuse_unidentified(Fd socket, const Error& why);

  /// The peer sees the end now, although close() may come later.
  void end(Fd socket);
  /// For a connection that another process has, too: nothing is shut down.
  void close_later(Fd socket);

  /// Whether this user's connections cannot be closed: the user gets no other.
  bool is_stuck(std::uint32_t uid) const { return closer_->is_stuck(uid); }
  const Stuck& stuck() const { return stuck_; }

  /// Called at a steady pace: logs the number of refusals since the last call.
  void sweep();

  /// Closes what still waits. Returns the children that still close; how long they take is up to
  /// their peers.
  std::vector<pid_t> finish();

 private:
  void on_stuck(std::size_t children, const ConnectionOwner* owner);

  const Config& config_;
  const KillSwitch& kill_switch_;
  Helpers& helpers_;
  Around around_;
  std::unique_ptr<ConnectionCloser> closer_;
  Stuck stuck_;
  std::uint64_t refused_ = 0;       ///< since the last sweep
  bool unidentified_said_ = false;  ///< since the last sweep
};

}  // namespace cellblock::daemon
