#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "policy/base/server_set.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/catalogue/catalogues.h"
#include "supervisor/gateway/cell/server_cell.h"
#include "supervisor/gateway/checks/call_access.h"
#include "supervisor/gateway/checks/pin_gate.h"
#include "supervisor/gateway/checks/request_gate.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/message/sealer.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/upstream/upstream.h"
#include "supervisor/os/clock.h"

/// What a session speaks MCP with, and what such a route needs of the session.
namespace cellblock::gateway {

/// What machines between a host and its servers need of the adaptor below the session. One object
/// for all server routes of a session.
class McpServices {
 public:
  using Told = std::function<void(const Catalogue* catalogue, const Failure& failure, Time now)>;

  virtual void record(const AuditPlace& place, const AuditNote& note) = 0;
  virtual AuditState audit_state() const = 0;
  /// See UpstreamEffects::when_recorded. The resulting effects are carried out.
  virtual void when_recorded(WhenRecorded then) = 0;

  /// A cell to use(), new or shared. It lives until it has let go of its user, or the user has left
  /// it; and then for as long as its end takes.
  virtual ServerCell& make_cell(const CellPlan& plan) = 0;
  /// A cell of it may be needed soon.
  virtual void expect_cell(std::uint32_t server) = 0;
  virtual std::unique_ptr<Alarm> make_alarm(Alarm::Rings rings) = 0;

  /// What is known of servers now.
  virtual Catalogues& catalogues() = 0;
  /// See Catalogues. The resulting effects are carried out.
  virtual Catalogues::Waiter want_catalogue(std::uint32_t server, Told told) = 0;

 protected:
  ~McpServices() = default;
};

/// What a server route brings about above itself.
class ServerRouteEffects {
 public:
  enum class After : std::uint8_t {
    usable,  ///< the next message that needs a cell starts one
    over,    ///< the cell held a session of the host's that cannot be resumed
  };

  virtual void to_host(Slices message) = 0;
  /// A cell's program runs.
  virtual void route_running(Time now) = 0;
  /// A cell did not start or has ended; what was in flight has been answered.
  virtual void route_lost(const Failure& failure, After after, Time now) = 0;
  /// There may be fewer calls in flight than before.
  virtual void route_answered(Time now) = 0;

 protected:
  ~ServerRouteEffects() = default;
};

class KeptResults;
class KeptTotal;

/// What all machines of a gateway share. Outlives them.
struct SharedParts {
  const Config& config;
  UpstreamIds& ids;
  MessageScanner& scanner;
  Sealer& sealer;
  UserPolicy& policy;
  PinBook* pins = nullptr;          ///< null: nothing is pinned
  KeptTotal* kept_total = nullptr;  ///< null: nothing of results is kept
  KeptResults* kept = nullptr;      ///< the session's, of those; which sets it
};

/// What its session is attached to. Lists that a host of all servers asks for do not become part of
/// the catalogues: what it is shown is made from them.
enum class RouteOf : std::uint8_t { one_server, all_servers };

/// The server and the options of one server route.
struct ServerRouteParts {
  SharedParts shared;
  const SessionAccess& access;  ///< outlives the server route
  CellPlan plan;
  std::uint64_t session = 0;
  StartWhen start = StartWhen::now;
  RouteOf of = RouteOf::one_server;
  ReadingTool reading_tool = ReadingTool::not_listed;

  const Server& server() const { return shared.config.servers[plan.server]; }
  GateParts gate(std::uint64_t cell) const {
    return {.server = server(),
            .policy = shared.policy,
            .server_index = plan.server,
            .session = session,
            .cell = cell,
            .kept = shared.kept,
            .reading_tool = reading_tool,
            .bounds_results = plan.program == wire::CellProgram::server,
            .pins = pin_gate()};
  }
  const Rights& rights() const {
    return plan.program == wire::CellProgram::probe ? probe_rights() : access.rights(plan.server);
  }
  PinGate pin_gate() const {
    if (shared.pins == nullptr || plan.program == wire::CellProgram::probe) return {};
    return {*shared.pins, plan.server, server(),
            plan.has_workspace ? Directory::handed_in : Directory::none};
  }
};

/// What a session's host speaks MCP with: one server (server_route.h), or all of them as one
/// (aggregate_route.h).
class Route {
 public:
  virtual ~Route() = default;

  virtual void from_host(std::string_view line, const Message& message, Time now) = 0;

  /// Everything in flight is answered with this.
  virtual void fail_all(const Failure& failure, Time now) = 0;
  /// Every call in flight is cancelled at its server; no answer is sent.
  virtual void cancel_all(std::string_view reason, Time now) = 0;
  /// The cells of that server end and what is in flight there fails, while the rest goes on. False:
  /// there is no rest.
  virtual bool stop_server(std::uint32_t server, const Failure& failure, Time now) = 0;
  /// As stop_server, but the next request starts another cell. False: the other cell would not know
  /// the session.
  virtual bool renew_server(std::uint32_t server, const Failure& failure, Time now) = 0;
  /// The cells give way to new ones as soon as they are quiet (era_route.h).
  virtual void replace_server(std::uint32_t server, Time now) = 0;
  /// The cells are no longer needed here. More than once is as good as once.
  virtual void leave() = 0;

  /// The rules have changed: others hold for what is said from now on.
  virtual void reconfigure(const ServerSet& changed, Time now) = 0;

  /// What is shown of a list of that server's has become another.
  virtual void list_changed(std::uint32_t server, mcp::ListKind kind, Time now) = 0;
  /// What cellblock itself adds to the list of tools has become another.
  virtual void own_tools_changed(Time now) = 0;

  /// Requests that wait for an answer. Streams do not count: they are answered when a peer ends
  /// them.
  virtual std::size_t in_flight() const = 0;
  /// Whether a call or stream with the host's id (raw JSON) is in flight.
  virtual bool is_in_flight(std::string_view caller_id) const = 0;
  /// The most recent cell of the one server; 0: none, or the route has many servers.
  virtual std::uint64_t cell() const = 0;
  /// The counts of that server's cells.
  virtual Traffic traffic(std::uint32_t server) const = 0;
};

}  // namespace cellblock::gateway
