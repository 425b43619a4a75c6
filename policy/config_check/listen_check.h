#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/config_text.h"

/// The endpoints besides cellblock's own socket: [listen.http] and [metrics].
namespace cellblock {

// Unix sockets of both.

/// What a socket's mode may be; `fallback` where nothing good is written.
std::uint32_t check_socket_mode(const Scope& scope, const Maybe<std::string>& text,
                                std::uint32_t fallback);

/// Complains about a path that sockaddr_un has no room for.
void check_socket_length(const Scope& scope, std::string_view key, Place at,
                         const std::string& path);

/// What [listen.http] is checked against.
struct HttpSurroundings {
  RunMode mode{};
  const Identity& identity;
  const Listen& listen;
};

/// Nothing where nothing is declared.
std::optional<HttpListen> check_http(Complaints& complaints, const ConfigText& text,
                                     const HttpSurroundings& around, const HostFacts& facts,
                                     std::vector<BrokenPart>& broken);

/// What [metrics] is checked against.
struct MetricsSurroundings {
  RunMode mode{};
  const Listen& listen;
  const std::optional<HttpListen>& http;
};

/// Nothing where nothing is declared.
std::optional<MetricsListen> check_metrics(Complaints& complaints, const ConfigText& text,
                                           const MetricsSurroundings& around);

}  // namespace cellblock
