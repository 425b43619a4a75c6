#pragma once

#include <vector>

#include "policy/config/config.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/sys.h"

/// Network namespaces of cells with egress: kept ready, and with the sockets that the helper
/// serves.
namespace cellblock::launcher {

/// What a server with egress reaches of the world: sockets in its network namespace that the egress
/// helper serves from outside. They are bound before any code of the server runs, without
/// SO_REUSEPORT, so that it can take none of their addresses.
struct EgressSockets {
  std::vector<Fd> sockets;  ///< in the order of start.sockets
  wire::EgressStart start;
};

/// Gives the network the addresses that the helper answers for and binds its sockets:
/// 198.18.0.1 port 53, every allowed port on all addresses, the proxy on 127.0.0.1. The addresses
/// are the synthetic ones (policy/egress/special_addresses.h), in which the helper
/// makes names up as addresses, and the ranges that rules name, so that a literal address is
/// answered too. On a kernel without IPv6 there is only the rest.
SysResult<EgressSockets> prepare_egress(int network, std::uint32_t server_index,
                                        const Egress& egress);

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

  /// One that nobody has used; made now when none is left. Has the store refilled a moment later.
  SysResult<CellNetwork> take();

  /// Readable when it is time to refill(): only ever after take().
  int timer() const { return timer_.get(); }
  /// Makes at most one, so that whoever calls is not held up for long.
  void refill();

 private:
  explicit NetworkPool(Fd timer) : timer_(std::move(timer)) {}
  void refill_later();

  Fd timer_;
  std::vector<CellNetwork> networks_;
};

}  // namespace cellblock::launcher
