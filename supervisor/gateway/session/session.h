#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/server_set.h"
#include "policy/config/config.h"
#include "policy/encoding/sha256.h"
#include "policy/failures/failure.h"
#include "policy/failures/resumable_session.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/rates/call_slots.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/message/host_peer.h"
#include "supervisor/gateway/route/route.h"
#include "supervisor/gateway/route/server_route.h"
#include "supervisor/gateway/session/attachment.h"
#include "supervisor/gateway/session/session_handoff.h"

/// One host connection: attach, cellblock's own requests, and every way in which it can end. MCP
/// goes to its route: the server that it attached to (server_route.h), or all of them
/// (aggregate_route.h). Pure: lines, events of the route and times in, effects out.
namespace cellblock::gateway {

enum class HostEnd : std::uint8_t {
  end_of_input,  ///< it says no more, but may still read
  gone,
};

enum class HostFlow : std::uint8_t { flowing, held };

class SessionEffects : public McpServices {
 public:
  /// To where MCP goes.
  virtual void to_host(Slices message) = 0;
  /// A line of cellblock's own, to the socket. With handed stdio that is not where MCP goes.
  virtual void to_control(std::string_view line) = 0;
  /// Takes over what came with the attach request, as far as it is what the offer says. A
  /// workspace is kept for all cells that are made from then on.
  virtual DescriptorsTaken take_descriptors(const DescriptorOffer& offer) = 0;
  /// No cell is made with it any more.
  virtual void drop_workspace() = 0;
  /// A request of the host. It must be answered once, by this gateway or, after a crash, by the
  /// next.
  virtual void host_asked(std::string_view id, CallShape shape) = 0;
  /// Held: no host line may come in until it flows again.
  virtual void set_host_flow(HostFlow flow) = 0;
  /// The host said this before what comes next.
  virtual void prefill_host(std::string_view bytes) = 0;
  /// What it has said and was not handed in; nullopt: that is too long to be told.
  virtual std::optional<std::string> stop_reading_host() = 0;
  /// To control, when the host has got everything, or `otherwise` if it does not take it.
  virtual void tell_when_delivered(std::string line, std::string otherwise) = 0;
  /// No more lines to or from the host; what is queued is still delivered.
  virtual void close_host() = 0;

  /// The one deadline of the session; nullopt: none. A new one replaces it.
  virtual void set_deadline(std::optional<Milliseconds> from_now) = 0;

  using ControlAnswered = std::function<void(const std::string& result, Time now)>;
  /// Requests about all of the user's cells: raw JSON for the result, at once or later, unless the
  /// session is gone by then.
  virtual void answer_control(const ControlRequest& request, ControlAnswered answered) = 0;

 protected:
  ~SessionEffects() = default;
};

class Session final : private ServerRouteEffects, private CallWaiter {
 public:
  Session(Peer peer, const SharedParts& shared, SessionEffects& effects);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { shared_.policy.places.forget(peer_.session); }

  void host_line(std::string_view line, Time now);
  void host_line_too_long(std::size_t seen);
  void host_ended(HostEnd how, Time now);
  /// Ends the session and tells the host why it is no longer waited for.
  void give_host_up(HostPatience::Verdict why, Time now);

  void deadline(Time now);
  enum class StopReason : std::uint8_t { stopped, shutting_down };
  void stop(StopReason reason, Time now);
  /// The gateway is to end: what is asked from now on is refused, what was asked has so long to be
  /// answered, and then the session ends.
  void drain(Milliseconds longest, Time now);
  /// `cellblock stop`: of one server. A session with no other ends.
  void stop_server(std::uint32_t server, Time now);
  /// `cellblock restart`: as that, but a session that another cell can be told of goes on.
  void renew_server(std::uint32_t server, Time now);
  /// The declaration of the server has changed.
  void replace_server(std::uint32_t server, Time now);
  /// First of all, of each session: what there was points into the old rules.
  void renew_rules() { static_cast<void>(renew_access()); }
  /// The rules have changed: others hold from now on. Without the server it is attached to, or the
  /// role that it has taken, it ends.
  void reconfigure(const ServerSet& changed, Time now);
  /// A decision has changed what this user sees of a list of that server.
  void list_changed(std::uint32_t server, mcp::ListKind kind, Time now);

  /// At the end of a turn: a result was cut, and the host has a list of tools without the one that
  /// reads on.
  void tell_own_tools(Time now);

  /// Nothing more will happen here; its cells may still be on their way out.
  bool is_over() const { return state_ == State::closing; }

  /// The session waits only for its calls in flight.
  bool is_draining() const { return state_ == State::draining || state_ == State::finishing; }

  /// The host has attached, or has sent MCP. Requests to cellblock itself do not count.
  bool speaks_with_servers() const { return route_ != nullptr && !is_over(); }

  const Peer& peer() const { return peer_; }
  /// Whether the session may go on while the cells of one server do not take what it says.
  bool has_many_servers() const { return route_ != nullptr && server_ == nullptr; }
  /// An answer to this request of the host's, or it may be so.
  bool owes(std::string_view id) const;
  /// What another gateway has to know to go on with it, as raw JSON; nullopt: it cannot.
  std::optional<std::string> memory_text() const;
  /// Changes whenever memory_text() may have changed.
  std::uint64_t memory_version() const;

  Traffic traffic(std::uint32_t server) const;
  std::uint64_t malformed_lines() const { return malformed_; }
  const std::vector<Label>& labels() const { return labels_; }

 private:
  enum class State : std::uint8_t {
    unattached,
    attaching,  ///< waits for the launcher; the host is held
    attached,
    finishing,  ///< the host's input has ended, calls are in flight
    draining,   ///< the gateway is to end, calls are in flight
    failed,     ///< there is no cell; requests are answered with the cause
    closing,    ///< the host's side is closed
  };

  // ServerRouteEffects
  void to_host(Slices message) override;
  void route_running(Time now) override;
  void route_lost(const Failure& failure, After after, Time now) override;
  void route_answered(Time now) override;

  std::size_t line_limit() const;
  std::size_t host_bound() const;
  void refuse_overlong(Slices message, std::size_t size);
  void tell_refusals(Time now);
  void note_request(std::string_view line, const Message& message);
  void malformed(std::string_view line, const Refused& refused);
  void mcp_from_host(std::string_view line, const Message& message, Time now);
  bool refused_mcp(std::string_view line, const Message& message, Time now);
  void mcp_while_draining(std::string_view line, const Message& message, Time now);

  std::optional<Failure> take_up(const ControlRequest& request);
  bool waits_to_be_taken_up(std::string_view line, const Message& message, Time now);
  void resend(std::string text, Time now);
  bool is_for_memory(Slices message);
  void settle_resumption(Time now);
  void taken_up(Time now);
  void answer_kept_with_failure();
  bool kept_for_next(std::string_view line, const Message& message);
  std::optional<std::string> resume_text();
  bool bounds_results() const;
  ReadingTool reading_tool() const {
    return bounds_results() ? ReadingTool::listed : ReadingTool::not_listed;
  }
  struct ResultRead;
  bool answered_from_kept(std::string_view line, const Message& message, Time now);
  Sha256 digest_in(std::string_view line, const Message& message) const;
  std::expected<CallSlot, Failure> place_for_read(std::string_view line, Time now);
  void refuse_read(std::string_view line, const Message& message, const Failure& failure);
  void read_recorded(const std::shared_ptr<ResultRead>& read, AuditState log, Time now);
  void end_reads(std::string_view reason, Time now);
  std::string answer_to_read(const ResultRead& read, AuditState log, Time now);
  /// cellblock answers these calls itself, so they do not wait for a place.
  void place_is_free() override {}
  bool is_waited_for() const;
  void speak_with_all();
  using MakeRoute = std::function<std::unique_ptr<Route>(ServerRouteEffects& above)>;
  std::unique_ptr<Route> listed_route(ToolListing listing, const MakeRoute& make);
  void answer_with_failure(std::string_view line, const Message& message);

  void control(std::string_view line, const Message& message, Time now);
  void answer_control(std::string_view id, const ControlRequest& request);
  void attach(std::string_view id, const ControlRequest& request, Time now);
  Identified who() const { return {peer_.uid, peer_.gid, peer_.groups}; }
  bool take_role(const std::string& role);
  std::optional<Failure> refuse_about(const std::string& server) const;
  void refuse_admin(std::string_view id, MessageKind kind);
  std::optional<Failure> refuse_to_attach(const ControlRequest& request, Time now) const;
  std::optional<Failure> refuse_aggregate(Time now) const;
  void note_labels();
  void join_context(Time now);
  void attach_to(const Server& server, StartWhen start, Time now);
  CellPlan plan_of(const Server& server) const;
  void attached(std::uint64_t cell);
  void attach_failed(const Failure& failure, Time now);

  std::optional<Failure> renew_access();
  bool has_revoked_token() const;
  void refuse_revoked(std::string_view line, const Message& message, Time now);
  void end_with(std::string_view reason, const Failure& failure, Time now);
  void finish();
  void end_if_answered(Time now);
  void fail(const Failure& failure, Time now);
  void leave(Time now);
  void tell_end(std::string_view reason, const Failure* failure);
  void close(std::string_view reason, const Failure* failure, Time now);
  void reply_to_host(std::string_view text);
  AuditPlace place() const;
  void note(wire::AuditKind kind, wire::AuditOutcome outcome, std::string_view reason);

  const Peer peer_;
  const std::unique_ptr<KeptResults> kept_;  ///< null: nothing of results is kept
  const SharedParts shared_;
  const Config& config_;
  SessionEffects& effects_;
  SessionAccess access_;
  std::string role_;                  ///< that was taken; empty: none
  std::optional<ToolListing> tools_;  ///< that the host has chosen

  State state_ = State::unattached;
  Attachment attachment_;
  std::vector<Label> labels_;
  const Server* server_ = nullptr;              ///< null: all, or not attached
  std::unique_ptr<Route> route_;                ///< null: not attached
  std::unique_ptr<SessionHandoff> resumption_;  ///< null: it cannot go on at another gateway
  bool is_resumed_ = false;
  std::vector<std::string> refusals_;  ///< for it, of requests that the host never saw
  bool host_has_asked_ = false;
  std::vector<std::shared_ptr<ResultRead>> reads_;  ///< of kept results: they wait for records
  std::size_t control_owed_ = 0;  ///< requests of cellblock's own that are not answered yet
  std::optional<Failure> failure_;
  std::uint64_t malformed_ = 0;
};

}  // namespace cellblock::gateway
