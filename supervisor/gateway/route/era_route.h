#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/cell/cell_user.h"
#include "supervisor/gateway/cell/server_cell.h"
#include "supervisor/gateway/message/relay.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/route/first_list.h"
#include "supervisor/gateway/route/held_messages.h"
#include "supervisor/gateway/route/retries.h"
#include "supervisor/gateway/route/route.h"
#include "supervisor/gateway/route/session_replay.h"
#include "supervisor/gateway/translate/bridge.h"
#include "supervisor/gateway/upstream/upstream.h"
#include "supervisor/os/clock.h"

/// The way to one server for what a host says in one era: starts a cell when it is needed, decides
/// which era that is to speak, and puts a bridge between where it is not the host's. A cell serves
/// one era route of a server route, since programs have been seen to take the era of their first
/// message for good, and a second `initialize` for the end of the first session. Pure.
namespace cellblock::gateway {

class EraRoute;

/// What an era route asks of the server route that has it.
class EraRouteEffects {
 public:
  /// A whole message, newline included, of the host's era.
  virtual void to_host(Slices message) = 0;
  virtual void era_route_running(Time now) = 0;
  virtual void era_route_lost(const EraRoute& era_route, const Failure& failure, Time now) = 0;
  virtual void era_route_answered(Time now) = 0;

 protected:
  ~EraRouteEffects() = default;
};

class EraRoute final : private CellUser, private UpstreamEffects, private BridgeEffects {
 public:
  EraRoute(const ServerRouteParts& parts, McpServices& services, EraRouteEffects& server_route);
  EraRoute(const EraRoute&) = delete;
  EraRoute& operator=(const EraRoute&) = delete;

  /// The era of the host's messages on this era route: once, before from_host.
  void claim(Era host) { host_era_ = host; }
  std::optional<Era> host_era() const { return host_era_; }

  /// Starts the cell before any message arrives.
  void start(Time now);
  void from_host(std::string_view line, const Message& message, Time now);

  void fail_all(const Failure& failure, Time now);
  void cancel_all(std::string_view reason, Time now);
  void leave();
  /// The cell is given up, and what is in flight in it fails; the next request starts another one.
  void renew(const Failure& failure, Time now);
  /// Replaces the cell as soon as no call is in flight in it; further requests go to the next cell.
  /// After `replace_patience` the calls still in flight fail.
  void replace(Time now);
  static constexpr Milliseconds replace_patience{30'000};
  /// The host's view of this list has changed by a decision, not by the server. The host is told
  /// where the server could have told it.
  void list_changed(mcp::ListKind kind, Time now);
  /// Whether the host would hear of it: it is modern, and has a stream for that list. What a legacy
  /// host does with what it is told is not known.
  bool hears(mcp::ListKind kind) const;

  std::size_t in_flight() const;
  /// Whether a call with the host's id (raw JSON) is held here or in flight.
  bool is_in_flight(std::string_view caller_id) const;
  bool has_cell() const { return cell_ != nullptr; }
  /// The cell knows the host's session, and this gateway could not tell it to another cell. While
  /// the era is not known, a session may have begun.
  bool session_is_in_cell() const;
  /// The cell's program runs.
  bool is_running() const { return running_; }
  std::uint64_t cell() const { return cell_ != nullptr ? cell_->id() : last_cell_; }
  Traffic traffic() const;

 private:
  struct Relayed {
    enum class To : std::uint8_t { server, bridge };
    To to{};
    std::string text;
  };

  // CellUser
  void cell_running(Time now) override;
  void from_cell(std::string_view line, const Message& message, Time now) override;
  bool answer_lost(std::string_view own_id, const Failure& failure, Time now) override;
  void cell_gone(const Failure& failure, Time now) override;
  std::uint64_t session() const override { return parts_.session; }
  bool is_busy(Time now) const override;
  bool is_awaited(Time now) const override;
  bool is_amid_list(Time now) const override { return upstream_ && upstream_->is_amid_list(now); }
  void let_go(Time now) override;
  bool owns(std::string_view own_id) const override;

  // UpstreamEffects, and of BridgeEffects what has the same name
  void to_host(Slices message) override;
  void to_cell(Slices message) override;
  void reply_to_cell(Slices message) override;
  void record(const AuditNote& note) override;
  AuditState audit_state() const override { return services_.audit_state(); }
  void when_recorded(WhenRecorded then) override;
  void wake_in(Milliseconds from_now) override;
  std::string network_advice(Time since) const override;

  // BridgeEffects
  void to_host(std::string_view text) override;
  void to_server(std::string_view text) override;
  void set_deadline(std::optional<Milliseconds> from_now) override;

  bool refused_without_cell(std::string_view line, const Message& message);
  void hold(std::string_view line, const Message& message);
  bool dropped_held(const Message& message, std::string_view line, Time now);
  CallStates call_states() const;
  std::vector<HeldMessage> withdraw_for_retry(const Failure& failure, Time now);
  void withdraw(std::string_view id, const Failure& failure, Time now);
  void retry_soon();
  void advance(Time now);
  bool may_start(Time now);
  std::optional<Era> known_era() const;
  void ask_for_era();
  void start_cell(Time now);
  void open(Time now);
  void span();
  std::unique_ptr<Bridge> make_bridge();
  void forward(std::string_view line, const Message& message, Time now);
  void drain(Time now);
  void deliver(Relayed relayed, Time now);
  void fail_unreadable(const Refused& refused, Time now);
  void lose(const Failure& failure, Time now);
  void fail_held(const Failure& failure);

  void list_first(std::string_view line, const Message& message);
  void ask_for_first_list();
  bool waits_for_list(std::string_view line, const Message& message);
  void let_bridged_go(Time now);
  void first_list_answered(std::string_view line, const Message& message, Time now);
  void go_without_list(Time now);

  void deliver_to_host(Slices message);
  void answered(Time now);
  void start_replay(Time now);
  void resend(std::string text, Time now);
  void settle_replay(Time now);
  void finish_replay(Time now);
  bool is_quiet() const;
  void take_next_cell(Time now);
  bool is_listened_to() const;
  void give_up_cell(const Failure& failure, Time now);

  void note_announced(std::string_view line, const Message& message);
  void inject_from_cell(std::string text, Time now);
  void learn(std::string_view method);
  void learn_answer(std::string_view line, const Message& message);
  void watch_initialize(std::string_view line, const Message& message);
  bool refuses_initialize(std::string_view line, const Message& message);
  bool refuses_declared_era(std::string_view line, const Message& message);
  void fail_declared_era(std::string_view error, Time now);
  void start_again_as_modern(Time now);

  const ServerRouteParts parts_;
  const Server& server_;
  McpServices& services_;
  EraRouteEffects& server_route_;

  std::optional<Era> host_era_;
  std::optional<Era> cell_era_;
  Catalogues::Waiter waits_ = 0;  ///< for the catalogues to say the era
  HeldMessages held_;
  ServerCell* cell_ = nullptr;
  std::uint64_t last_cell_ = 0;
  bool running_ = false;
  bool open_ = false;
  std::unique_ptr<Alarm> call_alarm_;  ///< before the upstream, whose end may still ask for it
  std::optional<Upstream> upstream_;
  Traffic past_;  ///< of cells before this one

  std::unique_ptr<Bridge> bridge_;
  std::unique_ptr<Alarm> alarm_;  ///< the bridge's
  Relay<Relayed> relay_;          ///< between bridge and upstream

  /// Expires with the era route: callbacks of the audit log check it first.
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);

  SessionReplay replay_;  ///< of a legacy host's session
  bool is_replacing_ = false;
  std::unique_ptr<Alarm> replace_alarm_;

  Retries retries_;
  std::unique_ptr<Alarm> retry_alarm_;

  FirstList first_list_;
  HeldMessages bridged_;  ///< what the bridge says to the server while that is asked for its list
  std::unique_ptr<Alarm> first_list_alarm_;

  std::optional<HeldMessage> initialize_;  ///< while its answer may say that there is none
  bool legacy_refused_ = false;
  bool legacy_agreed_ = false;
  /// What a legacy server announced for mcp::list_changes: that it tells of changes.
  std::array<bool, mcp::list_changes.size()> announced_{};
  bool declared_era_agreed_ = false;
};

}  // namespace cellblock::gateway
