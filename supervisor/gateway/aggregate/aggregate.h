#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "policy/config.h"
#include "policy/failure.h"
#include "policy/jsonrpc.h"
#include "policy/server_set.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/catalogue/catalogue.h"
#include "supervisor/gateway/conversation/sealer.h"

/// Everything at once: one MCP server of the modern era made from all servers that a user may use.
/// Towards each of them it is an MCP client of that era; what the server itself speaks is its leg's
/// business. Pure: messages, catalogues and times in, effects out. Whether a call is allowed is
/// decided again below each leg (conversation.h), by the same function.
namespace cellblock::gateway {

class AggregateMachine;

class Aggregate {
 public:
  static constexpr std::size_t max_calls = max_aggregate_calls;  ///< of the host, in flight
  static constexpr std::size_t max_streams =
      max_aggregate_streams;  ///< subscriptions/listen, at one time

  /// `permitted`: the servers it is made from. `session` is what cursors are sealed to. All
  /// references outlive it.
  Aggregate(const Config& config, const ServerSet& permitted, std::uint64_t session, Sealer& sealer,
            AggregateEffects& effects);
  ~Aggregate();
  Aggregate(const Aggregate&) = delete;
  Aggregate& operator=(const Aggregate&) = delete;

  /// `line` needs no padding and is gone when the call returns; so in from_leg.
  void from_host(std::string_view line, const Message& message, Time now);
  void from_leg(std::uint32_t server, std::string_view line, const Message& message, Time now);

  /// A cell of that leg runs and may be spoken to: the first one, or the next one after its end.
  void leg_started(std::uint32_t server, Time now);
  /// The leg's cell did not start or has ended. Calls in flight that the leg has not answered
  /// itself are answered with this. The leg may be used again.
  void leg_failed(std::uint32_t server, const Failure& failure, Time now);

  /// What a server offers: because it was wanted, or since it became known in some other way.
  void catalogue_ready(std::uint32_t server, const Catalogue& catalogue, Time now);
  void catalogue_failed(std::uint32_t server, const Failure& failure, Time now);

  void deadline(Time now);

  /// Every request of the host in flight is answered with this, streams too.
  void fail_all(const Failure& failure, Time now);
  /// The host has gone: what is in flight is cancelled at the servers, nobody is answered.
  void cancel_all(std::string_view reason, Time now);

  /// Requests of the host without an answer yet; streams are not counted.
  std::size_t in_flight() const;

 private:
  std::unique_ptr<AggregateMachine> machine_;
};

}  // namespace cellblock::gateway
