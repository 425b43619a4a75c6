#pragma once

#include <memory>
#include <utility>

#include "supervisor/gateway/route/upstream_route.h"

namespace cellblock::gateway {

/// Hands on what it does not look at.
class PassingRoute : public UpstreamRoute {
 public:
  /// Once, before anything is said.
  void put_before(std::unique_ptr<UpstreamRoute> route) { route_ = std::move(route); }

  bool stop_server(std::uint32_t server, const Failure& failure, Time now) override {
    return route_->stop_server(server, failure, now);
  }
  bool renew_server(std::uint32_t server, const Failure& failure, Time now) override {
    return route_->renew_server(server, failure, now);
  }
  void replace_server(std::uint32_t server, Time now) override {
    route_->replace_server(server, now);
  }
  void leave() override { route_->leave(); }
  void reconfigure(const ServerSet& changed, Time now) override {
    route_->reconfigure(changed, now);
  }
  void list_changed(std::uint32_t server, mcp::ListKind kind, Time now) override {
    route_->list_changed(server, kind, now);
  }
  std::uint64_t cell() const override { return route_->cell(); }
  Traffic traffic(std::uint32_t server) const override { return route_->traffic(server); }

 protected:
  UpstreamRoute& route() { return *route_; }
  const UpstreamRoute& route() const { return *route_; }

 private:
  std::unique_ptr<UpstreamRoute> route_;
};

}  // namespace cellblock::gateway
