#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config.h"
#include "policy/failure.h"
#include "policy/jsonrpc.h"
#include "policy/server_set.h"
#include "supervisor/gateway/aggregate/aggregate_calls.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/aggregate_lists.h"
#include "supervisor/gateway/aggregate/aggregate_streams.h"
#include "supervisor/gateway/aggregate/assortment.h"
#include "supervisor/gateway/aggregate/list_refresh.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/modern_request.h"
#include "supervisor/gateway/aggregate/own_ids.h"
#include "supervisor/gateway/aggregate/supply.h"
#include "supervisor/gateway/aggregate/waiting.h"
#include "supervisor/gateway/catalogue/catalogue.h"
#include "supervisor/gateway/conversation/sealer.h"

namespace cellblock::gateway {

/// The inside of an Aggregate (aggregate.h): whose a message is, what waits, what is due.
class AggregateMachine {
 public:
  AggregateMachine(const Config& config, const ServerSet& permitted, std::uint64_t session,
                   Sealer& sealer, AggregateEffects& effects)
      : members_(config, permitted),
        assortment_(members_),
        effects_(effects),
        lists_(members_, assortment_, session, sealer),
        calls_(members_, assortment_, ids_, effects),
        refresh_(members_, assortment_, ids_, effects),
        streams_(members_, assortment_, ids_, effects) {}

  void from_host(std::string_view line, const Message& message, Time now);
  void from_leg(std::uint32_t server, std::string_view line, const Message& message, Time now);
  void leg_started(std::uint32_t server, Time now);
  void leg_failed(std::uint32_t server, const Failure& failure);
  void catalogue_ready(std::uint32_t server, const Catalogue& catalogue, Time now);
  void catalogue_failed(std::uint32_t server, const Failure& failure, Time now);
  void deadline(Time now);
  void fail_all(const Failure& failure);
  void cancel_all(std::string_view reason);
  std::size_t in_flight() const { return calls_.size() + waiting_.size(); }
  void set_deadline(Time now);

 private:
  // The host's requests
  void request(std::string_view line, const Message& message, Time now);
  std::optional<std::string> refuse(std::string_view line, const Message& message) const;
  void handle(std::string_view line, const Message& message, Time now);
  bool answered(std::string_view line, const Message& message, Knowledge knowledge, Time now);
  void answer_list(ListKind kind, std::string_view line, const Message& message, Time now);
  void wait(std::string_view line, const Message& message, Time now);
  void notification_from_host(std::string_view line, const Message& message);

  // What the servers offer
  void want_all(Time now);
  Knowledge knowledge() const;
  std::vector<Unavailable> unavailable() const;
  void catalogue_settled(Time now);

  // What they say
  void notification_from_leg(std::uint32_t server, std::string_view line, const Message& message,
                             Time now);
  void lists_may_have_changed(Time now);
  void note_unseen();
  void tell_changes();

  const Members members_;
  Assortment assortment_;
  AggregateEffects& effects_;
  OwnIds ids_;
  Supply supply_;
  Waiting waiting_;
  AggregateLists lists_;
  AggregateCalls calls_;
  ListRefresh refresh_;
  AggregateStreams streams_;
  std::string meta_ = bare_meta();  ///< of the host's newest request
  /// As the host has seen them last.
  std::array<std::optional<std::size_t>, list_kind_count> seen_;
  std::optional<Time> tell_due_;
  std::optional<Time> deadline_;
};

}  // namespace cellblock::gateway
