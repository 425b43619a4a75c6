#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/merged_lists.h"
#include "supervisor/gateway/aggregate/request_route.h"
#include "supervisor/gateway/message/calls_in_flight.h"

/// The host's calls that a server answers, while they are in flight.
namespace cellblock::gateway {

/// A call of the host that is in flight at a server route.
struct RoutedCall {
  std::uint64_t own_id = 0;
  std::uint32_t server = 0;
  std::string caller_id;       ///< the host's id, raw JSON
  std::string progress_token;  ///< the host's, raw JSON; empty if it wants no progress
  CallKind kind = CallKind::other;
};

class RoutedCalls {
 public:
  void open(RoutedCall call) { calls_.push_back(std::move(call)); }
  /// The call with our id (raw JSON), which is also its progress token. Valid until the next
  /// change.
  const RoutedCall* find(std::uint32_t server, std::string_view own_id) const;
  const RoutedCall* find_by_caller_id(std::string_view caller_id) const;

  std::optional<RoutedCall> close(std::uint32_t server, std::string_view own_id);
  std::optional<RoutedCall> close_by_caller_id(std::string_view caller_id);
  std::vector<RoutedCall> take_of(std::uint32_t server);
  std::vector<RoutedCall> take_all();
  std::size_t size() const { return calls_.size(); }

 private:
  std::optional<RoutedCall> take(const RoutedCall* call);

  std::vector<RoutedCall> calls_;  // a scan over a few dozen, as in CallTable
};

class AggregateCalls {
 public:
  AggregateCalls(const Members& members, MergedLists& merged, OwnIds& ids,
                 AggregateEffects& effects)
      : members_(members),
        merged_(merged),
        router_(members, merged),
        ids_(ids),
        effects_(effects) {}

  enum class Taken : std::uint8_t { yes, not_yet, no };
  /// not_yet: when more is known; no: not a method of a server.
  Taken request(std::string_view line, const Message& message, Knowledge knowledge);

  bool is_in_flight(std::string_view caller_id) const {
    return calls_.find_by_caller_id(caller_id) != nullptr;
  }
  /// False: no such call.
  bool cancel(std::string_view caller_id, std::string_view reason);

  /// False: not the answer to one of these.
  bool answer(std::uint32_t server, std::string_view line, const Message& message);
  void progress(std::uint32_t server, std::string_view line, const Message& message);

  void route_failed(std::uint32_t server, const Failure& failure);
  void fail_all(const Failure& failure);
  void cancel_all(std::string_view reason);
  std::size_t size() const { return calls_.size(); }

 private:
  void send(std::string_view line, const Message& message, ToServer route, std::uint64_t own_id);
  void refuse(std::string_view line, const ToNobody& nobody);
  void fail(const RoutedCall& call, const Failure& failure);

  const Members& members_;
  MergedLists& merged_;
  RequestRouter router_;
  OwnIds& ids_;
  AggregateEffects& effects_;
  RoutedCalls calls_;
};

}  // namespace cellblock::gateway
