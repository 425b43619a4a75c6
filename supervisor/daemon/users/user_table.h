#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "policy/base/result.h"
#include "policy/base/server_set.h"
#include "policy/failures/failure_code.h"

/// Decides which gateway serves each connected user, without I/O: events in, actions out. Every
/// list is bounded by Bounds. One thread.
namespace cellblock::daemon {

/// Names one accepted connection; chosen by the caller, unique while the connection counts.
using Connection = std::uint32_t;

struct StartGateway {
  std::uint32_t uid = 0;
  ServerSet servers;  ///< that the gateway may start
  bool operator==(const StartGateway&) const = default;
};

/// The gateway may start more servers than before: a new connection of its user has other groups.
struct Permit {
  std::uint32_t uid = 0;
  ServerSet servers;
  bool operator==(const Permit&) const = default;
};

/// The rules have changed: the gateway may start exactly these servers.
struct PermitOnly {
  std::uint32_t uid = 0;
  ServerSet servers;
  bool operator==(const PermitOnly&) const = default;
};

/// Pass the connection to that user's gateway.
struct HandOver {
  std::uint32_t uid = 0;
  Connection connection = 0;
  bool operator==(const HandOver&) const = default;
};

struct Refuse {
  Connection connection = 0;
  FailureCode code{};
  bool operator==(const Refuse&) const = default;
};

/// Close the channel to the gateway: it ends its sessions and itself.
struct StopIdleGateway {
  std::uint32_t uid = 0;
  bool operator==(const StopIdleGateway&) const = default;
};

/// The gateway did not end by itself: the launcher kills it.
struct EndGateway {
  std::uint32_t uid = 0;
  bool operator==(const EndGateway&) const = default;
};

/// The gateway's channel to the audit writer is dead: give it a channel to the new writer.
struct RenewAuditChannel {
  std::uint32_t uid = 0;
  bool operator==(const RenewAuditChannel&) const = default;
};

using Action = std::variant<StartGateway, Permit, PermitOnly, HandOver, Refuse, StopIdleGateway,
                            EndGateway, RenewAuditChannel>;
using Actions = std::vector<Action>;

struct Bounds {
  std::uint32_t connections_per_user = 64;  ///< handed over and waiting together
  std::uint32_t waiting_per_user = 16;      ///< for a gateway that starts
  std::uint32_t admins_per_user = 8;  ///< connections of administrators, beside the user's own
  std::uint32_t users = 256;          ///< gateways at one time
  /// A gateway is let go after so many sweeps without a session, and with it the record of what its
  /// agents have read. The first sweep may come at once, so eleven make ten minutes.
  std::uint32_t idle_sweeps = 11;
};

enum class Admission : std::uint8_t {
  open,
  disabled,  ///< by `enabled = false` or the kill switch: refuses all, starts no gateway
};

class UserTable {
 public:
  UserTable(Bounds bounds, Admission admission) : bounds_(bounds), admission_(admission) {}

  /// A connection of a user. `servers`: those that this connection may use.
  Actions connected(std::uint32_t uid, Connection connection, const ServerSet& servers);
  /// A connection of an administrator to that user's gateway.
  Actions admin_connected(std::uint32_t uid, Connection connection);
  /// The session ended, or the connection could not be handed over. An error: that gateway never
  /// had it.
  Result<void> session_closed(std::uint32_t uid, Connection connection);

  // Errors: the launcher's report is impossible now.
  Result<Actions> gateway_started(std::uint32_t uid);
  Result<Actions> gateway_ended(std::uint32_t uid);

  /// The connection could not be handed over: the gateway has ended, and its end is not reported
  /// yet. A session then waits for the next gateway, once.
  Actions not_handed_over(std::uint32_t uid, Connection connection);

  /// Ends a gateway that broke the protocol, and its sessions with it.
  Actions expel(std::uint32_t uid);
  Actions audit_restored() const;
  /// Called at a steady pace. Lets go of gateways that had no session for `idle_sweeps` calls, and
  /// ends those that are still there after as many more.
  Actions sweep();
  /// Refuses every new connection from now on, and lets all gateways go.
  Actions stop();
  /// The rules have changed. `servers_of`: the servers that the user's gateway may start by the new
  /// rules.
  Actions permit_only(const std::function<ServerSet(std::uint32_t uid)>& servers_of);
  /// Disabled: refuses every connection from now on, and lets all gateways go.
  Actions admit(Admission admission);
  /// Ends the gateways that were let go and have not ended.
  Actions end_leaving() const;

  bool empty() const { return users_.empty(); }
  bool knows(std::uint32_t uid) const { return users_.contains(uid); }
  bool runs(std::uint32_t uid) const;  ///< its gateway takes connections

 private:
  enum class Gateway : std::uint8_t { starting, running, leaving };

  struct User {
    Gateway gateway = Gateway::starting;
    std::set<Connection> sessions;
    std::set<Connection> admins;  ///< connections of administrators
    std::deque<Connection> waiting;
    std::set<Connection> waited;  ///< connections that have waited for the running gateway
    std::uint32_t idle_sweeps = 0;
    ServerSet servers;  ///< of the gateway; while it is leaving: of the next one
  };

  Actions new_user(std::uint32_t uid, Connection connection, const ServerSet& servers);
  Actions known_user(std::uint32_t uid, User& user, Connection connection,
                     const ServerSet& servers) const;
  static Actions permit(std::uint32_t uid, User& user, const ServerSet& servers);
  bool may_wait_again(const User& user, Connection connection) const;
  static void let_go(User& user);
  Actions let_all_go(FailureCode waiting);

  Bounds bounds_;
  Admission admission_;
  bool stopping_ = false;
  std::map<std::uint32_t, User> users_;
};

}  // namespace cellblock::daemon
