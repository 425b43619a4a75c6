#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/failure.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/translate/bridge.h"
#include "supervisor/os/clock.h"

/// A legacy host's subscriptions as one stream (subscriptions/listen) at a modern server. A stream
/// cannot be changed: a new one is opened, and the old one ended when the new is acknowledged; only
/// the newer one's notifications count from then on, so that nothing comes twice or not at all.
namespace cellblock::gateway {

class LegacyStream {
 public:
  static constexpr std::size_t max_resources = 512;
  static constexpr std::size_t max_waiting = 64;  ///< subscriptions of the host without an answer
  static constexpr Milliseconds first_pause{1'000};
  static constexpr Milliseconds longest_pause{64'000};

  LegacyStream(Outbox& out, BridgeIds& ids) : out_(out), ids_(ids) {}

  /// From now on each stream asks for the lists that the server offers to watch, and requests carry
  /// these capabilities.
  void begin(const Json& server_capabilities, Json client_capabilities);

  void subscribe(std::string_view host_id, const Json& params);
  void unsubscribe(std::string_view host_id, const Json& params);
  bool has(std::string_view host_id) const;
  /// Cancels a subscription that has not been answered; false: there is none with this id.
  bool cancel(std::string_view host_id);

  /// A notification that carries a stream's id, already without it. Nullopt: not to be heard of.
  bool wants(std::uint64_t stream, std::string_view method, const Json& params) const;
  bool acknowledged(std::uint64_t stream, const Json& params);
  /// The server's answer to it, or its cancellation: it is over. `error`: null where it was none.
  bool ended(std::uint64_t stream, const Json& error, Time now);

  /// A new cell may be there: what was lost is opened again.
  void reopen_if_lost();
  void fail_all(const Failure& failure);
  void cancel_all(std::string_view reason);

  std::optional<Time> next_due() const { return retry_; }
  void due(Time now);
  /// Whether a legacy host is told of list changes; asked again when the stream is opened anew.
  Listening listening() const { return wanted_.empty() ? Listening::nothing : Listening::more; }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  static constexpr std::size_t list_count = 3;
  struct Open {
    std::uint64_t id = 0;  ///< 0: there is none
    std::vector<std::string> resources;
  };
  struct Waiting {
    std::string host_id;
    std::string uri;
  };

  bool wants_anything() const;
  void refresh();
  void open();
  void end(Open& stream, std::string_view reason);
  void settle(const std::vector<std::string>& honoured);
  void refuse_waiting(const Json& error);
  void lost(Time now);
  void forget(const std::string& uri);

  Outbox& out_;
  BridgeIds& ids_;
  std::array<bool, list_count> lists_{};
  bool can_subscribe_ = false;
  Json client_capabilities_ = Json::object();
  std::vector<std::string> wanted_;
  std::vector<Waiting> waiting_;
  Open active_;
  Open opening_;
  bool was_lost_ = false;
  bool is_refused_ = false;  ///< the server has no streams
  std::optional<Time> retry_;
  Milliseconds pause_ = first_pause;
};

}  // namespace cellblock::gateway
