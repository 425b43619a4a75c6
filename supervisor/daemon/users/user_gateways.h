#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "policy/config/config.h"
#include "supervisor/daemon/helpers/helpers.h"
#include "supervisor/daemon/sockets/peer_credentials.h"
#include "supervisor/daemon/users/connection_ender.h"
#include "supervisor/daemon/users/gateway_link.h"
#include "supervisor/daemon/users/gateway_links.h"
#include "supervisor/daemon/users/user_table.h"
#include "supervisor/handover/launcher_process.h"

namespace cellblock::daemon {

/// The time in which the slowest server may end by itself.
std::chrono::milliseconds stop_patience(const Config& config);

/// The gateways of all users, and the connections that wait for them. Reports events to the user
/// table and carries its decisions out. One thread.
class UserGateways {
 public:
  struct Around {
    // That user's gateway takes connections, or takes none any more. May come more than once.
    std::function<void(std::uint32_t uid)> opened;
    std::function<void(std::uint32_t uid)> closed;
    /// The launcher reported what cannot be.
    std::function<void(const Error&)> give_up;
  };
  /// The references outlive it.
  struct Parts {
    const Config& config;
    LauncherProcess& launcher;
    Helpers& helpers;
    ConnectionEnder& ender;
  };

  UserGateways(boost::asio::io_context& loop, const Parts& parts, Admission admission,
               Around around);

  /// Hands the connection to its user's gateway, or refuses it.
  void connect(Fd socket, Peer peer);
  /// As connect(), to the gateway of that user. The peer may administer it.
  void connect_admin(std::uint32_t user, Fd socket, Peer peer);

  // The launcher's reports.
  void started(std::uint32_t uid);
  void ended(std::uint32_t uid);

  /// Another audit writer runs: gives every gateway a channel to it.
  void renew_audit_channels();
  /// Disabled: refuses every connection, lets all gateways go, and kills those that stay.
  void admit(Admission admission);
  /// The configuration has changed. Narrows what the launcher permits before a gateway learns of
  /// it.
  void reconfigure(int sealed);
  /// Called at a steady pace: lets idle gateways go.
  void sweep();
  /// Refuses every connection from now on, and lets all gateways go.
  void stop();
  /// Closes the connections that still wait.
  void close_waiting();

  bool empty() const { return table_.empty(); }
  std::size_t size() const { return gateways_.size(); }

 private:
  struct Waiting {
    Fd socket;
    Peer peer;
  };

  void act(const Actions& actions);
  void act_or_give_up(Result<Actions> actions);
  void carry_out(const StartGateway& action);
  void carry_out(const Permit& action);
  void carry_out(const PermitOnly& action);
  void carry_out(const HandOver& action);
  void carry_out(const Refuse& action);
  void carry_out(const StopIdleGateway& action);
  void carry_out(const EndGateway& action);
  void carry_out(const RenewAuditChannel& action);
  GatewayLink::Events events_of(std::uint32_t uid);
  void on_session_closed(std::uint32_t uid, Connection connection);
  void on_broken(std::uint32_t uid, const Error& why);
  Connection keep(Fd socket, Peer peer);
  Fd take(Connection connection);

  const Config& config_;
  LauncherProcess& launcher_;
  Helpers& helpers_;
  ConnectionEnder& ender_;
  Around around_;
  UserTable table_;
  PeerCredentialCache known_peers_;
  boost::asio::steady_timer leaving_timer_;
  std::map<Connection, Waiting> waiting_;  ///< bounded by the table's bounds
  GatewayLinks gateways_;
  Connection last_connection_ = 0;
  std::set<std::uint32_t> not_taken_said_;  ///< uids, since the last sweep
  bool stopping_ = false;
};

}  // namespace cellblock::daemon
