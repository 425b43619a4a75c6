#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "supervisor/os/sys.h"

/// Network namespaces of cells, kept ready.
namespace cellblock::launcher {

/// A network namespace with nothing in it but its loopback device, which is up. It belongs to the
/// launcher's user namespace: what a cell may do in its own gives it no right over its network.
SysResult<Fd> make_network();

/// A network of its own for a cell, and what answers for names in it (network = "none").
struct CellNetwork {
  Fd network;
  Fd resolver;  ///< UDP, bound to 127.0.0.1 port 53 in it; of no use to other modes
};

/// Networks made ahead of time, since making one is a good part of what a spawn takes
/// (docs/performance.md). Each is given out once. One thread.
class NetworkPool {
 public:
  static SysResult<NetworkPool> make();

  /// An unused one; made now when none is left. Schedules a refill.
  SysResult<CellNetwork> take();

  /// Readable when it is time to refill(): only ever after take().
  int timer() const { return timer_.get(); }
  /// Makes at most one, to keep the call short.
  void refill();

 private:
  explicit NetworkPool(Fd timer) : timer_(std::move(timer)) {}
  void refill_later();

  Fd timer_;
  std::vector<CellNetwork> networks_;
};

}  // namespace cellblock::launcher
