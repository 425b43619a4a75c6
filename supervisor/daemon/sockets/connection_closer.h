#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "supervisor/daemon/sockets/close_queue.h"
#include "supervisor/process/readable_fd.h"

/// Closes accepted connections. Unless the kernel can refuse it (peer_options.h), any local user
/// may queue a descriptor in a connection whose last close blocks for as long as that user likes.
/// The process that closes the connection's last copy purges its queue, so the supervisor never
/// does: children, which may block, close the last copies, many at a time. See docs/decisions/0010
/// and 0047.
namespace cellblock::daemon {

class ConnectionCloser {
 public:
  struct Events {
    /// The queue has room again.
    std::function<void()> room;
    /// The number of stuck children has changed. `owner`: whose child was stuck first, once; else
    /// null.
    std::function<void(std::size_t stuck, const ConnectionOwner* owner)> stuck;
  };

  /// Needs SIGCHLD blocked (adopt_children).
  static Result<std::unique_ptr<ConnectionCloser>> make(boost::asio::io_context& loop,
                                                        Events events);
  /// Connections that could not be closed stay open until the process exits, which does not block
  /// either.
  ~ConnectionCloser();
  ConnectionCloser(ConnectionCloser&&) = delete;
  ConnectionCloser& operator=(ConnectionCloser&&) = delete;

  /// Closes the connection soon: with the next 16 of the same owner, or after 50 ms.
  void add(Fd connection, const ConnectionOwner& owner);

  /// False while too many wait: the caller should accept no connection then.
  bool has_room() const { return !queue_.must_hold(); }
  /// Whether this user's connections cannot be closed: the user gets no other session.
  bool is_stuck(std::uint32_t user) const { return queue_.is_stuck(user); }

  /// Gives all waiting connections to a last child. Returns the children that still run; the caller
  /// need not wait for them.
  std::vector<pid_t> finish();

 private:
  ConnectionCloser(boost::asio::io_context& loop, Fd child_ends, Pair line, Events events);
  void close_later(CloseQueue::Size size);
  bool close_later(CloseQueue::Batch& batch);
  void tick_later();
  void tick();
  void reap();
  void tell_room();
  void tell_stuck(const ConnectionOwner* owner);

  Events events_;
  CloseQueue queue_;
  Pair line_;  ///< for the next child
  boost::asio::steady_timer timer_;
  ReadableFd child_ends_;
  std::size_t stuck_told_ = 0;
  bool was_full_ = false;
  bool timer_runs_ = false;
  bool failure_said_ = false;  ///< since the last success
};

}  // namespace cellblock::daemon
