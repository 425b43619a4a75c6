#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "policy/base/result.h"
#include "policy/base/server_set.h"
#include "policy/config/config.h"
#include "supervisor/daemon/helpers/helpers.h"
#include "supervisor/daemon/users/gateway_link.h"
#include "supervisor/handover/launcher_process.h"

namespace cellblock::daemon {

/// The sockets to all gateways: starts a gateway with its channels to the audit writer and to
/// cellblock-metrics, and sends it what changes. One thread.
class GatewayLinks {
 public:
  /// The references outlive it.
  struct Parts {
    const Config& config;
    LauncherProcess& launcher;
    Helpers& helpers;
  };

  GatewayLinks(boost::asio::io_context& loop, const Parts& parts);

  /// Asks the launcher for a gateway that may start `servers`. After an error call ended().
  Result<void> start(std::uint32_t uid, const ServerSet& servers, GatewayLink::Events events);
  /// The gateway has ended.
  void ended(std::uint32_t uid);
  /// Tells the gateway to end. Its page of metrics stays until it has ended.
  void close(std::uint32_t uid) { gateways_.erase(uid); }

  /// Null: that gateway was closed, or has ended.
  const GatewayLink* find(std::uint32_t uid) const;
  /// Gives the gateway a channel to the audit writer that runs now.
  Result<void> renew_audit_channel(std::uint32_t uid);
  /// Returns the gateways that do not take the new configuration.
  std::vector<std::uint32_t> reconfigure(int sealed) const;

  std::size_t size() const { return gateways_.size(); }

 private:
  boost::asio::io_context& loop_;
  const Config& config_;
  LauncherProcess& launcher_;
  Helpers& helpers_;
  std::map<std::uint32_t, std::unique_ptr<GatewayLink>> gateways_;
};

}  // namespace cellblock::daemon
