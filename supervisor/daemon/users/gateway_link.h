#pragma once

#include <cstdint>
#include <functional>

#include "policy/base/server_set.h"
#include "policy/config/config.h"
#include "supervisor/daemon/sockets/peer_credentials.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/process/readable_fd.h"

/// The supervisor's side of one gateway: the request that starts it, and the socket to it.
namespace cellblock::daemon {

/// The request start_gateway. Holds the user's name if the `env` of a server needs it; looking the
/// name up may block, as the host's name services do.
wire::SupervisorRequest gateway_request(std::uint32_t uid, const ServerSet& servers,
                                        const Config& config);

/// The supervisor's end of the socket to one gateway. Its destruction tells the gateway to end.
/// Closing it drops unread records with their descriptors, whose last close may block
/// (connection_closer.h). A gateway cannot have sent descriptors here: its filter allows sendmsg on
/// the launcher's channel alone. Records that the gateway did not read are dropped when it ends.
class GatewayLink {
 public:
  struct Events {
    std::function<void(std::uint32_t connection)> session_closed;
    std::function<void()> gone;
    /// The gateway sent a record that is not SessionClosed.
    std::function<void(const Error& why)> broken;
  };

  GatewayLink(boost::asio::io_context& loop, std::uint32_t uid, Fd socket, Events events);

  /// EAGAIN when the gateway does not read; EPIPE or ECONNRESET when it has ended. Nothing blocks.
  SysResult<void> hand_over(std::uint32_t connection, const Peer& peer, int socket) const;
  SysResult<void> renew_audit_channel(int socket) const;
  /// Sends the gateway a new configuration.
  SysResult<void> reconfigure(int sealed_config) const;

 private:
  void read_one();

  std::uint32_t uid_;
  Events events_;
  ReadableFd watch_;
};

}  // namespace cellblock::daemon
