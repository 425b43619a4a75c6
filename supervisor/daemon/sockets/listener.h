#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>

#include "supervisor/process/readable_fd.h"

namespace cellblock::daemon {

/// The socket's owner. A lent socket outlives this process, with the connections in its queue.
enum class Tenure : std::uint8_t { own, lent };

/// Accepts connections and passes each on. Neither the listener nor its destructor closes a
/// connection: see connection_closer.h. When descriptors run out, the queue waits for a moment.
class Listener {
 public:
  using OnConnection = std::function<void(Fd)>;

  static Result<std::unique_ptr<Listener>> listen(boost::asio::io_context& loop, Fd bound,
                                                  OnConnection on_connection,
                                                  Tenure tenure = Tenure::own);
  ~Listener();
  Listener(Listener&&) = delete;
  Listener& operator=(Listener&&) = delete;

  /// Accepts no connection until `go_on`: new ones wait in the kernel's queue.
  void hold();
  void go_on();

  /// Refuses new connections, after passing on those in the queue. On a lent socket it only stops
  /// accepting.
  void stop();

  /// Call after stop(). Close the copy in a process that may block, after this object is destroyed.
  Fd take_last_copy() { return std::move(last_copy_); }

 private:
  Listener(boost::asio::io_context& loop, Fd socket, Fd last_copy, OnConnection on_connection,
           Tenure tenure);
  void accept_some();
  void hold_for_a_moment();

  OnConnection on_connection_;
  Tenure tenure_;
  Fd last_copy_;  ///< closed by the end of the process: descriptors in its queue may block a close
  boost::asio::steady_timer timer_;
  ReadableFd watch_;
  bool held_ = false;
  bool stopped_ = false;
};

}  // namespace cellblock::daemon
