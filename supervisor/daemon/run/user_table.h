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

/// Who is connected and which gateway serves whom, decided without I/O: events in, actions out.
/// Every list in it is bounded by Bounds. One thread.
namespace cellblock::daemon {

/// Names one accepted connection; chosen by the caller, unique while the connection counts.
using Connection = std::uint32_t;

struct StartGateway {
  std::uint32_t uid = 0;
  ServerSet servers;  ///< that it may start
  bool operator==(const StartGateway&) const = default;
};

/// Its user may use more servers than were known when the gateway was started: this connection of
/// his has other groups.
struct Permit {
  std::uint32_t uid = 0;
  ServerSet servers;
  bool operator==(const Permit&) const = default;
};

/// The rules have changed: what his gateway may start is this, and no more.
struct PermitOnly {
  std::uint32_t uid = 0;
  ServerSet servers;
  bool operator==(const PermitOnly&) const = default;
};

/// The connection leaves the supervisor for that user's gateway.
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

/// It does not end by itself: the launcher kills it.
struct EndGateway {
  std::uint32_t uid = 0;
  bool operator==(const EndGateway&) const = default;
};

/// The gateway's channel to the audit writer is dead; it needs one to the new writer.
struct RenewAuditChannel {
  std::uint32_t uid = 0;
  bool operator==(const RenewAuditChannel&) const = default;
};

using Action = std::variant<StartGateway, Permit, PermitOnly, HandOver, Refuse, StopIdleGateway,
                            EndGateway, RenewAuditChannel>;
using Actions = std::vector<Action>;

struct Bounds {
  std::uint32_t connections_per_user = 64;  ///< handed over and waiting together
  std::uint32_t waiting_per_user = 16;      ///< for a gateway that is not there yet
  std::uint32_t admins_per_user = 8;        ///< connections of administrators, beside his own
  std::uint32_t users = 256;                ///< gateways at one time
  /// Sweeps without a session after which a gateway is let go, and with it what its agents have
  /// read: the first may come at once, so ten minutes are eleven.
  std::uint32_t idle_sweeps = 11;
};

enum class Admission : std::uint8_t {
  open,
  disabled,  ///< `enabled = false`: everybody is told so, nothing is started
};

class UserTable {
 public:
  UserTable(Bounds bounds, Admission admission) : bounds_(bounds), admission_(admission) {}

  /// `servers`: those that this connection may use.
  Actions connected(std::uint32_t uid, Connection connection, const ServerSet& servers);
  /// An administrator's, to that user's gateway.
  Actions admin_connected(std::uint32_t uid, Connection connection);
  /// The session ended, or it could not be handed over. An error: that gateway never had it.
  Result<void> session_closed(std::uint32_t uid, Connection connection);

  // Errors: the launcher said something that cannot be true now.
  Result<Actions> gateway_started(std::uint32_t uid);
  Result<Actions> gateway_ended(std::uint32_t uid);

  /// It could not be handed over, since the gateway has ended and nothing has told so yet: a
  /// session waits for the next gateway, once.
  Actions not_handed_over(std::uint32_t uid, Connection connection);

  /// This gateway broke the protocol: it is ended, and its sessions with it.
  Actions expel(std::uint32_t uid);
  Actions audit_restored() const;
  /// Called at a steady pace; lets go of gateways that nobody used for `idle_sweeps` calls, and
  /// ends those that did not go within as many.
  Actions sweep();
  /// Nobody new from here; gateways are let go as soon as they can be.
  Actions stop();
  /// The rules have changed: for each user, the servers that his gateway may start by them.
  Actions permit_only(const std::function<ServerSet(std::uint32_t uid)>& servers_of);
  /// Disabled: everybody is told so from here, and gateways are let go.
  Actions admit(Admission admission);
  /// Those that were let go and have not gone, for whoever does not wait any longer.
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
    std::set<Connection> waited;  ///< for the gateway that runs
    std::uint32_t idle_sweeps = 0;
    ServerSet servers;  ///< of its gateway; while that one is leaving: of the next
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
