#pragma once

#include <functional>

#include "supervisor/daemon/read_watch.h"

namespace cellblock::daemon {

/// Accepts connections and passes each on. When descriptors run out it still takes connections off
/// the queue and closes them, so that the loop does not spin on a queue that stays readable.
class Listener {
 public:
  using OnConnection = std::function<void(Fd)>;

  static Result<std::unique_ptr<Listener>> listen(boost::asio::io_context& loop, Fd bound,
                                                  OnConnection on_connection);

 private:
  Listener(boost::asio::io_context& loop, Fd socket, Fd reserve, OnConnection on_connection);
  void accept_some();
  void turn_one_away();

  OnConnection on_connection_;
  Fd reserve_;
  ReadWatch watch_;
};

}  // namespace cellblock::daemon
