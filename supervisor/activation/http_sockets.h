#pragma once

#include <cstdint>
#include <string_view>

#include "policy/config/config.h"
#include "supervisor/activation/bound_sockets.h"

/// Binds the sockets of [listen.http] and [metrics], while the daemon still has its groups.
namespace cellblock::daemon {

Result<MetricsSocket> bind_metrics(const Config& config);

/// A TCP socket that listens at "127.0.0.1" or "::1". `table` is for complaints: "[listen.http]".
Result<Fd> listen_on_loopback(std::string_view table, std::string_view address, std::uint16_t port);

/// Without [listen.http] both are empty.
Result<HttpSockets> bind_http(const Config& config);

}  // namespace cellblock::daemon
