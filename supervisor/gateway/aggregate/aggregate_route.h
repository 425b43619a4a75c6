#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "supervisor/gateway/aggregate/aggregate_era_route.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/route/route.h"

/// What a session speaks with that has selected no server: all that its user may use, as one. Pure.
namespace cellblock::gateway {

class AggregateRoute final : public Route {
 public:
  AggregateRoute(const SharedParts& shared, const SessionAccess& access, std::uint64_t session,
                 McpServices& services, ServerRouteEffects& above);

  void from_host(std::string_view line, const Message& message, Time now) override;
  void fail_all(const Failure& failure, Time now) override;
  void cancel_all(std::string_view reason, Time now) override;
  bool stop_server(std::uint32_t server, const Failure& failure, Time now) override;
  bool renew_server(std::uint32_t server, const Failure& failure, Time now) override {
    return stop_server(server, failure, now);
  }
  void replace_server(std::uint32_t server, Time now) override;
  void leave() override;
  void reconfigure(const ServerSet& changed, Time now) override;
  void list_changed(std::uint32_t server, mcp::ListKind kind, Time now) override;
  void own_tools_changed(Time now) override;
  std::size_t in_flight() const override;
  bool is_in_flight(std::string_view caller_id) const override;
  std::uint64_t cell() const override { return 0; }
  Traffic traffic(std::uint32_t server) const override;

 private:
  AggregateEraRoute* side_for(std::string_view line, const Message& message);
  AggregateEraRoute& side_of(Era host);

  const SharedParts shared_;
  const SessionAccess& access_;
  const std::uint64_t session_;
  McpServices& services_;
  ServerRouteEffects& above_;
  std::vector<std::unique_ptr<AggregateEraRoute>> sides_;  ///< one of each era at the most
};

}  // namespace cellblock::gateway
