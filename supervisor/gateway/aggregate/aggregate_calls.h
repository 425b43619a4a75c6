#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/merged_lists.h"
#include "supervisor/gateway/aggregate/own_ids.h"
#include "supervisor/gateway/aggregate/request_route.h"
#include "supervisor/gateway/aggregate/routed_calls.h"

/// The host's requests that a server answers: there and back.
namespace cellblock::gateway {

class AggregateCalls {
 public:
  AggregateCalls(const Members& members, MergedLists& assortment, OwnIds& ids,
                 AggregateEffects& effects)
      : members_(members),
        assortment_(assortment),
        router_(members, assortment),
        ids_(ids),
        effects_(effects) {}

  enum class Taken : std::uint8_t { yes, not_yet, no };
  /// not_yet: when more is known; no: not a method of a server.
  Taken request(std::string_view line, const Message& message, Knowledge knowledge);

  bool is_in_flight(std::string_view theirs) const { return calls_.find_theirs(theirs) != nullptr; }
  /// False: no such call.
  bool cancel(std::string_view theirs, std::string_view reason);

  /// False: not the answer to one of these.
  bool answer(std::uint32_t server, std::string_view line, const Message& message);
  void progress(std::uint32_t server, std::string_view line, const Message& message);

  void leg_failed(std::uint32_t server, const Failure& failure);
  void fail_all(const Failure& failure);
  void cancel_all(std::string_view reason);
  std::size_t size() const { return calls_.size(); }

 private:
  void send(std::string_view line, const Message& message, ToServer route, std::uint64_t ours);
  void refuse(std::string_view line, const ToNobody& nobody);
  void fail(const RoutedCall& call, const Failure& failure);

  const Members& members_;
  MergedLists& assortment_;
  RequestRouter router_;
  OwnIds& ids_;
  AggregateEffects& effects_;
  RoutedCalls calls_;
};

}  // namespace cellblock::gateway
