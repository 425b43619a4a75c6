#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/base/server_set.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/aggregate/aggregate_calls.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/aggregate_lists.h"
#include "supervisor/gateway/aggregate/aggregate_streams.h"
#include "supervisor/gateway/aggregate/catalogue_load_state.h"
#include "supervisor/gateway/aggregate/list_refresh.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/merged_lists.h"
#include "supervisor/gateway/aggregate/request_route.h"
#include "supervisor/gateway/checks/catalogue.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/sealer.h"
#include "supervisor/os/clock.h"

/// Everything at once: one MCP server of the modern era made from all servers that a user may use.
/// Towards each of them it is an MCP client of that era; what the server itself speaks is its
/// server route's business. Pure: messages, catalogues and times in, effects out. Whether a call is
/// allowed is decided again below each server route (upstream.h), by the same function.
namespace cellblock::gateway {

/// A request that waits for catalogues, and until when.
struct WaitingRequest {
  std::string line;
  Message message;  ///< its spans are of `line`
  Time until;

  std::string_view id() const { return message.id.in(line); }
};

class Waiting {
 public:
  static constexpr std::size_t max_bytes = 16U << 20;  ///< of all of them, unless it is only one

  void add(WaitingRequest request) { requests_.push_back(std::move(request)); }
  bool has_room_for(std::size_t bytes) const {
    for (const WaitingRequest& request : requests_) bytes += request.line.size();
    return requests_.empty() || bytes <= max_bytes;
  }
  bool has(std::string_view id) const {
    return std::ranges::any_of(requests_, [&](const auto& request) { return request.id() == id; });
  }
  /// False: no such request.
  bool remove(std::string_view id) {
    return std::erase_if(requests_, [&](const auto& request) { return request.id() == id; }) > 0;
  }

  std::vector<WaitingRequest> take_all() { return std::exchange(requests_, {}); }
  std::vector<WaitingRequest> take_due(Time now) {
    const auto due = std::ranges::stable_partition(
        requests_, [&](const auto& request) { return request.until > now; });
    std::vector<WaitingRequest> taken(std::make_move_iterator(due.begin()),
                                      std::make_move_iterator(due.end()));
    requests_.erase(due.begin(), due.end());
    return taken;
  }
  std::optional<Time> next_due() const {
    if (requests_.empty()) return std::nullopt;
    return std::ranges::min(requests_, {}, &WaitingRequest::until).until;
  }
  std::size_t size() const { return requests_.size(); }

 private:
  std::vector<WaitingRequest> requests_;
};

class Aggregate {
 public:
  static constexpr std::size_t max_calls = 256;   ///< of the host, in flight
  static constexpr std::size_t max_streams = 16;  ///< subscriptions/listen, at one time

  /// Whether cellblock_read_result is listed to a host that has a stream for changed lists of
  /// tools, or has none; empty: there is no such tool.
  using ToolShown = std::function<ReadingTool(bool has_stream)>;

  /// `access`: what the host's user may do with each server. `session` is what cursors are sealed
  /// to. All references outlive it.
  Aggregate(const Config& config, const SessionAccess& access, std::uint64_t session,
            Sealer& sealer, AggregateEffects& effects, ToolShown tool_shown = {});
  Aggregate(const Aggregate&) = delete;
  Aggregate& operator=(const Aggregate&) = delete;

  /// `line` needs no padding and is gone when the call returns; so in from_leg.
  void from_host(std::string_view line, const Message& message, Time now);
  void from_leg(std::uint32_t server, std::string_view line, const Message& message, Time now);

  /// A cell of that server route runs and may be spoken to: the first one, or the next one after
  /// its end.
  void route_started(std::uint32_t server, Time now);
  /// The server route's cell did not start or has ended. Calls in flight that the server route has
  /// not answered itself are answered with this. The server route may be used again.
  void route_failed(std::uint32_t server, const Failure& failure, Time now);

  /// What a server offers: because it was wanted, or since it became known in some other way.
  void catalogue_ready(std::uint32_t server, const Catalogue& catalogue, Time now);
  void catalogue_failed(std::uint32_t server, const Failure& failure, Time now);

  void deadline(Time now);

  /// The rules have changed: what these servers offer is gone through again.
  void reconfigure(const ServerSet& changed, Time now);

  /// What is added to the list of tools has become another.
  void own_tools_changed() { streams_.tell_changed(ListKind::tools); }

  /// Every request of the host in flight is answered with this, streams too.
  void fail_all(const Failure& failure, Time now);
  /// The host has closed its connection: calls in flight are cancelled at their servers, and no
  /// answer is sent.
  void cancel_all(std::string_view reason, Time now);

  /// Requests of the host without an answer yet; streams are not counted.
  std::size_t in_flight() const { return calls_.size() + waiting_.size(); }
  /// Whether a call or a stream with this id (raw JSON, the host's) is in flight.
  bool is_in_flight(std::string_view caller_id) const {
    return calls_.is_in_flight(caller_id) || waiting_.has(caller_id) || streams_.is_open(caller_id);
  }

 private:
  // The host's requests
  void request(std::string_view line, const Message& message, Time now);
  std::optional<std::string> refuse(std::string_view line, const Message& message) const;
  void handle(std::string_view line, const Message& message, Time now);
  bool answered(std::string_view line, const Message& message, Knowledge knowledge, Time now);
  void answer_list(ListKind kind, std::string_view line, const Message& message, Time now);
  AggregateLists::ToolShown shown_to_host(ToolShown tool_shown) const;
  void wait(std::string_view line, const Message& message, Time now);
  void notification_from_host(std::string_view line, const Message& message);

  // What the servers offer
  void want_all(Time now);
  void forget(std::uint32_t server);
  void want(std::uint32_t server, Time now);
  Knowledge knowledge() const;
  std::vector<Unavailable> unavailable() const;
  void catalogue_settled(Time now);

  // What they say
  void answer_from_leg(std::uint32_t server, std::string_view line, const Message& message,
                       Time now);
  void notification_from_leg(std::uint32_t server, std::string_view line, const Message& message,
                             Time now);
  void lists_may_have_changed(Time now);
  void note_unseen();
  void tell_changes();

  void set_deadline(Time now);

  Members members_;
  MergedLists merged_;
  AggregateEffects& effects_;
  OwnIds ids_;
  CatalogueLoadState supply_;
  Waiting waiting_;
  AggregateLists lists_;
  AggregateCalls calls_;
  ListRefresh refresh_;
  AggregateStreams streams_;
  std::string meta_ = bare_meta();  ///< of the host's newest request
  /// Length of each list as the host last received it.
  std::array<std::optional<std::size_t>, list_kind_count> seen_;
  std::optional<Time> tell_due_;
  std::optional<Time> deadline_;
};

}  // namespace cellblock::gateway
