#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/aggregate/aggregate.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/relay.h"
#include "supervisor/gateway/route/server_route.h"
#include "supervisor/os/clock.h"

/// All servers as one, for what a host says in one era: the aggregate, a server route for each
/// server that it speaks to, and, before it, the bridge of a legacy host. Pure.
namespace cellblock::gateway {

class AggregateEraRoute final : private AggregateEffects {
 public:
  AggregateEraRoute(Era host, const SharedParts& shared, const SessionAccess& access,
                    std::uint64_t session, McpServices& services, ServerRouteEffects& above);
  ~AggregateEraRoute();
  AggregateEraRoute(const AggregateEraRoute&) = delete;
  AggregateEraRoute& operator=(const AggregateEraRoute&) = delete;

  Era host_era() const { return host_; }
  /// A line that was scanned; it waits where the side is busy.
  void from_host(std::string_view line, Time now);
  void fail_all(const Failure& failure, Time now);
  void cancel_all(std::string_view reason, Time now);
  /// What is in flight at that server fails, and its cell is no longer needed.
  void stop_server(std::uint32_t server, const Failure& failure, Time now);
  void replace_server(std::uint32_t server, Time now);
  void leave();
  /// The rules have changed, and with them perhaps which servers there are.
  void reconfigure(const ServerSet& changed, Time now);
  void list_changed(std::uint32_t server, mcp::ListKind kind, Time now);
  void own_tools_changed(Time now);

  std::size_t in_flight() const;
  bool is_in_flight(std::string_view caller_id) const;
  /// The counts of one server, as Route::traffic().
  Traffic traffic(std::uint32_t server) const;

 private:
  class Member;
  class BridgeDoor;
  struct Relayed {
    enum class What : std::uint8_t {
      from_host,
      to_bridge,
      to_aggregate,
      from_leg,
      route_started,
      route_failed,
    };
    What what{};
    std::uint32_t server = 0;
    std::string text;
    Failure failure;
  };

  // AggregateEffects
  void to_host(Slices message) override;
  void to_leg(std::uint32_t server, Slices message) override;
  std::optional<Broken> broken(std::uint32_t server) const override;
  void want_catalogue(std::uint32_t server) override;
  void record(std::optional<std::uint32_t> server, const AuditNote& note) override;
  void set_deadline(std::optional<Milliseconds> from_now) override { alarm_->set(from_now); }

  void begin(Time now);
  void told(std::uint32_t server, const Catalogue* catalogue, const Failure& failure, Time now);
  Member& member(std::uint32_t server);
  bool is_usable(std::uint32_t server) const;
  void drain(Time now);
  void deliver(Relayed relayed, Time now);
  void deliver_text(Relayed relayed, Time now);
  void fail_unreadable(const Relayed& relayed, const Refused& refused, Time now);
  void fail_leg(std::uint32_t server, const Refused& refused);

  const Era host_;
  const SharedParts shared_;
  const SessionAccess& access_;
  const std::uint64_t session_;
  McpServices& services_;
  ServerRouteEffects& above_;
  std::unique_ptr<Alarm> alarm_;  ///< the aggregate's
  Aggregate aggregate_;
  std::unique_ptr<BridgeDoor> bridge_;                        ///< null: the host is modern
  std::map<std::uint32_t, std::unique_ptr<Member>> members_;  ///< by server
  std::map<std::uint32_t, Catalogues::Waiter> waits_;         ///< by server
  Relay<Relayed> relay_;                                      ///< between the three
  bool has_begun_ = false;
  Time now_;
};

}  // namespace cellblock::gateway
