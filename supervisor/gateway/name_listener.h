#pragma once

#include <functional>

#include "policy/rates/token_bucket.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

namespace cellblock::gateway {

/// Serves the resolver of one cell with network = "none": a UDP socket that the launcher bound in
/// the network namespace of the cell, which has nothing but its loopback device. Owns the socket.
/// Reads at most 20 questions a second, and 200 at once; the kernel drops what its buffer does not
/// hold meanwhile.
class NameListener {
 public:
  using Tell = std::function<void(const wire::EgressEvent&)>;

  /// A descriptor that came with a cell is such a socket, and no channel of an egress helper.
  static bool is_for(const Fd& socket);

  NameListener(EventLoop& loop, Fd socket, Tell tell);

 private:
  void read();
  bool read_one();
  void pause();

  EventLoop& loop_;
  Fd socket_;
  Watch watch_;
  Timer again_;
  TokenBucket questions_;
  Tell tell_;
};

}  // namespace cellblock::gateway
