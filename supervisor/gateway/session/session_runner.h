#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/base/server_set.h"
#include "supervisor/gateway/cell/cell_runner.h"
#include "supervisor/gateway/cell/gateway_services.h"
#include "supervisor/gateway/io/held_bytes.h"
#include "supervisor/gateway/message/host_peer.h"
#include "supervisor/gateway/session/host_link.h"
#include "supervisor/gateway/session/session.h"
#include "supervisor/gateway/session/status_report.h"

/// One session with its host's descriptors and the cells that are its alone: carries out what the
/// machine (session.h) decides.
namespace cellblock::gateway {

class SessionRunner final : private SessionEffects, private CellKeeper {
 public:
  SessionRunner(GatewayServices& services, Peer peer, Fd connection);

  void stop(Session::StopReason reason);
  void drain(Milliseconds longest);

  /// `cellblock stop`.
  void stop_server(std::uint32_t server);

  /// `cellblock restart`.
  void renew_server(std::uint32_t server);

  /// The cells of this server that this session has are stopped once their calls have been
  /// answered, or after EraRoute::replace_patience; what the host asks from now on is for others.
  void replace_cells(std::uint32_t server);

  /// See Session.
  void renew_rules() { session_.renew_rules(); }
  void reconfigure(const ServerSet& changed);
  void list_changed(std::uint32_t server, mcp::ListKind kind);

  const Session& session() const { return session_; }
  /// The cells of this session that run that server's programs: a row each.
  std::vector<CellRow> rows(std::uint32_t server, Time now) const;
  /// How many of them are not over yet.
  std::size_t cells_of(std::uint32_t server) const;
  /// Carries out what a cell brought about that is not its alone.
  void settle();

 private:
  // SessionEffects
  void to_host(Slices message) override;
  void to_control(std::string_view line) override { host_.to_control(line); }
  DescriptorsTaken take_descriptors(const DescriptorOffer& offer) override;
  void drop_workspace() override { workspace_.reset(); }
  void host_asked(std::string_view id, CallShape shape) override {
    if (journal_) journal_->asked(id, shape);
  }
  void set_host_flow(HostFlow flow) override { host_.set_flow(flow); }
  void prefill_host(std::string_view bytes) override { host_.prefill(bytes); }
  std::optional<std::string> stop_reading_host() override { return host_.stop_reading(); }
  void tell_when_delivered(std::string line, std::string otherwise) override {
    host_.tell_when_delivered(std::move(line), std::move(otherwise));
  }
  void close_host() override { host_.close(); }
  ServerCell& make_cell(const CellPlan& plan) override;
  void expect_cell(std::uint32_t server) override { services_.expect_cell(server); }
  std::unique_ptr<Alarm> make_alarm(Alarm::Rings rings) override;
  Catalogues& catalogues() override { return services_.catalogues(); }
  Catalogues::Waiter want_catalogue(std::uint32_t server, Told told) override;
  void set_deadline(std::optional<Milliseconds> from_now) override;
  void record(const AuditPlace& place, const AuditNote& said) override;
  std::string name_in_record(const AuditPlace& place, const AuditNote& note);
  AuditState audit_state() const override { return services_.audit_state(); }
  void when_recorded(WhenRecorded then) override;
  void answer_control(const ControlRequest& request, ControlAnswered answered) override;

  // CellKeeper
  void cell_turn_done() override { settle(); }

  Time now() const { return services_.loop().now(); }
  HostLink::Receiver host_receiver();
  void settle_later();
  Fd workspace_for(const CellPlan& plan);
  std::size_t fullest_queue() const;
  void settle_cells();
  void watch_host();
  void check_host();
  void check_held();
  void balance();
  void retire();
  void note_turn();

  GatewayServices& services_;
  Fd workspace_;                                    ///< not valid: none
  std::vector<std::unique_ptr<CellRunner>> cells_;  ///< outlive the session's use of them
  ServerSet shared_;                                ///< whose cells are not its alone
  Session session_;
  HostLink host_;
  std::optional<SessionJournal> journal_;  ///< none: no gateway resumes the session after a crash
  HeldBytes::Part held_;
  Timer deadline_;
  HostPatience patience_;
  Timer patience_due_;
  std::optional<Time> patience_set_;  ///< what that one is set to
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);  ///< as EraRoute::here_
  bool settling_comes_ = false;
  bool host_reported_ = false;
  bool finished_ = false;
};

}  // namespace cellblock::gateway
