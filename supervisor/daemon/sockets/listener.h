#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>

#include "supervisor/daemon/process/readable_fd.h"

namespace cellblock::daemon {

/// Whose the socket is. A lent one outlives us, with the connections in its queue.
enum class Tenure : std::uint8_t { own, lent };

/// Accepts connections and passes each on; it closes none itself, and neither does its destruction:
/// see connection_closer.h. When descriptors run out it lets the queue wait for a moment.
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

  /// Refuses new connections, after passing on those in the queue. Of a lent socket it accepts no
  /// further one.
  void stop();

  /// After stop(). Close it in a process that may block, once this object is gone.
  Fd take_last_copy() { return std::move(last_copy_); }

 private:
  Listener(boost::asio::io_context& loop, Fd socket, Fd last_copy, OnConnection on_connection,
           Tenure tenure);
  void accept_some();
  void hold_for_a_moment();

  OnConnection on_connection_;
  Tenure tenure_;
  Fd last_copy_;  ///< closed by the end of the process: what is in its queue may block who drops it
  boost::asio::steady_timer timer_;
  ReadableFd watch_;
  bool held_ = false;
  bool stopped_ = false;
};

}  // namespace cellblock::daemon
