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

}  // namespace cellblock::launcher
