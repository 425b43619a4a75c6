#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "policy/base/server_set.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/lists.h"
#include "supervisor/gateway/upstream/upstream.h"
#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// What a session's host speaks MCP with: one server (server_route.h), or all of them as one
/// (aggregate_route.h).
class UpstreamRoute {
 public:
  virtual ~UpstreamRoute() = default;

  virtual void from_host(std::string_view line, const Message& message, Time now) = 0;

  /// Everything in flight is answered with this.
  virtual void fail_all(const Failure& failure, Time now) = 0;
  /// Everything in flight is cancelled at the servers; nobody waits for the answers.
  virtual void cancel_all(std::string_view reason, Time now) = 0;
  /// The cells of that server end and what is in flight there fails, while the rest goes on. False:
  /// there is no rest.
  virtual bool stop_server(std::uint32_t server, const Failure& failure, Time now) = 0;
  /// As stop_server, but what is said next starts another cell. False: then the session would not
  /// be known there.
  virtual bool renew_server(std::uint32_t server, const Failure& failure, Time now) = 0;
  /// Its cells give way to others as soon as they are quiet (era_route.h).
  virtual void replace_server(std::uint32_t server, Time now) = 0;
  /// The cells are no longer needed here. More than once is as good as once.
  virtual void leave() = 0;

  /// The rules have changed: others hold for what is said from now on.
  virtual void reconfigure(const ServerSet& changed, Time now) = 0;

  /// What is shown of a list of that server's has become another.
  virtual void list_changed(std::uint32_t server, mcp::ListKind kind, Time now) = 0;

  /// Requests that wait for an answer. Streams do not: theirs comes when somebody ends them.
  virtual std::size_t in_flight() const = 0;
  /// By the host's id, in raw JSON; streams too.
  virtual bool is_in_flight(std::string_view theirs) const = 0;
  /// Of one server: the cell that was there last. 0: there was none, or it is many servers.
  virtual std::uint64_t cell() const = 0;
  /// Of the cells of that server.
  virtual Traffic traffic(std::uint32_t server) const = 0;
};

}  // namespace cellblock::gateway
